import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../lambda/clock.ts';
import { createPartnerClient } from '../../lambda/partner/index.ts';
import { partnerReader } from '../../lambda/partner/reader.ts';
import {
  type PartnerSandbox,
  type SandboxOptions,
  startPartnerSandbox,
} from '../../local/partner-sandbox/index.ts';
import { Integration } from '../scaffold/integration.ts';

const running: PartnerSandbox[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((sandbox) => sandbox.close()));
});

/** An integration whose ticks ask the sandbox, by the same clock; only what guards a socket goes by real time. */
async function integrationAt(options: SandboxOptions) {
  const story = new Integration();
  const { clock } = story;
  const sandbox = await startPartnerSandbox({ clock, timeZone: 'UTC', ...options });
  running.push(sandbox);
  const seen = {
    now: () => clock.now(),
    sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms, signal),
    after: systemClock.after,
  };
  const client = createPartnerClient({
    baseUrl: sandbox.url,
    credentials: async () => sandbox.credentials,
    clock: seen,
    requestsPerMinute: 6_000,
  });
  Object.assign(story.partner, partnerReader(client, clock));
  const subjects = () => story.notices.map(({ subject }) => subject.replace(`${story.name}: `, ''));
  const isRead = async () => (await story.ledger.state()).baseline.status === 'completed';
  return { story, sandbox, subjects, isRead };
}

const tooFew = 'the partner allows too few requests';

it('reads the baseline of a host that allows 12 requests a minute, at that pace', async () => {
  const { story, subjects, isRead } = await integrationAt({
    records: 3_000,
    requestsPerMinute: 12,
  });
  let minutes = 0;
  for (; !(await isRead()); minutes++)
    expect(await story.minute()).toMatchObject({ outcome: 'baseline', failed: 0 });
  // The last tick is not a whole minute: 3,000 in pages of a hundred take two and a half.
  expect(minutes - 1).toBeLessThanOrEqual(1.5 * 2.5);
  expect(story.memory.items.size).toBe(3_000);
  expect(subjects()).toEqual([tooFew, 'baseline completed']);
});

it('finds a backdated record at a host that allows 5 requests a minute', async () => {
  const { story, sandbox } = await integrationAt({ records: 3_000 });
  await story.baseline();
  sandbox.set({ requestsPerMinute: 5 });
  await story.minutes(2);
  const { id } = sandbox.world.add({ certified_on: '2024-02-29' });
  for (let minute = 0; story.heard.length === 0 && minute < 10; minute++)
    expect(await story.minute()).toMatchObject({ outcome: 'completed', failed: 0 });
  expect(story.ids()).toEqual([`${story.name}/${id}/1`]);
});

it('reads past rows that are too large, and tells of them', async () => {
  const { story, sandbox, subjects } = await integrationAt({ records: 300, hugeRows: 0.005 });
  const before = sandbox.world.count;
  await story.baseline();
  const unread = before - story.memory.items.size;
  expect(unread).toBeGreaterThan(0);
  expect(unread).toBeLessThan(6);
  sandbox.set({ hugeRows: 0 });
  story.clock.advance({ hours: 24 });
  await story.minutes(10);
  expect(story.heard).toHaveLength(unread);
  expect(subjects()).toContain('no record is malformed any more');
});
