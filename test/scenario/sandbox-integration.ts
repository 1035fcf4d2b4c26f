import { afterEach } from 'vitest';
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

/** Call it at the top of a file: it closes the sandboxes after each test. */
export function closeSandboxes(): void {
  afterEach(async () => {
    await Promise.all(running.splice(0).map((sandbox) => sandbox.close()));
  });
}

export type Story = Awaited<ReturnType<typeof integrationAt>>;

/** An integration whose ticks use the sandbox, with one clock. Only the guards of sockets use real time. */
export async function integrationAt(options: SandboxOptions) {
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
  Object.assign(story.partner, partnerReader(client));
  const { world } = sandbox;
  return {
    story,
    sandbox,
    world,
    /** Subjects of the notices, without the integration's name. */
    subjects: () => story.notices.map(({ subject }) => subject.replace(`${story.name}: `, '')),
    isRead: async () => (await story.ledger.state()).baseline.status === 'completed',
    /** Ids of all assessments at the partner, oldest day first. */
    ids: () => [...world.assessments()].map(({ id }) => id),
    /** Announced changes, as `created 7`, in any order. */
    told: () => story.heard.map(({ type, subject }) => `${type.split('.')[1]} ${subject}`).sort(),
  };
}
