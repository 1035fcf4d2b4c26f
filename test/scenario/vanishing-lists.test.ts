import { describe, expect, it } from 'vitest';
import { closeSandboxes, integrationAt, type Story } from './sandbox-integration.ts';

closeSandboxes();

const tooMany = 'many certifications are missing at the partner';

/** Share of the hidden records that their ids still show. */
const zombies = [0, 1];

function hide({ world }: Story, ids: readonly number[]): void {
  for (const id of ids) world.remove(id);
}

function show({ world }: Story, ids: readonly number[]): void {
  for (const id of ids) world.restore(id);
}

/** A true change, which subscribers should hear. */
function edit({ world }: Story, id: number): void {
  world.spoil(id, { set: { email: 'changed@example.org' } });
}

/** Requests so far, without each tick's first one and those for tokens. */
function asked({ sandbox: { requests } }: Story): number {
  const isOther = ({ path, query }: (typeof requests)[number]) =>
    path !== '/oauth/token' && query.some(([name]) => name.includes('date') || name === 'offset');
  return requests.filter(isOther).length;
}

const today = '2026-11-21';

describe.each(zombies)(
  'a list with hidden records, of which a share is shown by id: %i',
  (share) => {
    const startAt = async (records: number) => {
      const host = await integrationAt({ records, zombies: share });
      await host.story.baseline();
      return host;
    };

    it('20 of 40 for six ticks: no event is sent', async () => {
      const host = await startAt(40);
      const hidden = host.ids().slice(10, 30);
      hide(host, hidden);
      await host.story.minutes(6);
      show(host, hidden);
      await host.story.minutes(30);
      expect(host.told()).toEqual([]);
    });

    it.each([
      ['half', 2],
      ['all', 1],
    ])('%s of it for an hour: only true changes are announced', async (_, n) => {
      const host = await startAt(300);
      const { story, world } = host;
      const hidden = host.ids().filter((_, index) => index % n === 0);
      hide(host, hidden);
      await story.minutes(20);
      const { id } = world.add({ certified_on: today });
      await story.minutes(40);
      expect(host.told()).toEqual([`created ${id}`]);
      show(host, hidden);
      await story.minutes(2);
      edit(host, id);
      await story.minutes(30);
      expect(host.told()).toEqual([`created ${id}`, `updated ${id}`]);
      expect(story.memory.held).toEqual([]);
    });

    it('150 of 300 for 25 minutes: nothing is held, and only true changes are announced, at once', async () => {
      const host = await startAt(300);
      const { story } = host;
      const hidden = host.ids().slice(150);
      hide(host, hidden);
      await story.minutes(25);
      show(host, hidden);
      const [changed = 0] = hidden.slice(-1);
      edit(host, changed);
      const { id } = host.world.add({ certified_on: today });
      await story.minutes(2);
      expect(host.told()).toEqual([`created ${id}`, `updated ${changed}`].sort());
      expect(story.memory.held).toEqual([]);
    });

    it.each([400, 1_500])(
      'all of %i, and back: at most the requests of one full read',
      async (records) => {
        const host = await startAt(records);
        const { story } = host;
        const fullRead = asked(host);
        const hidden = host.ids();
        hide(host, hidden);
        await story.minutes(20);
        show(host, hidden);
        host.sandbox.resetRequests();
        await story.minutes(10);
        expect(asked(host)).toBeLessThanOrEqual(fullRead);
        expect(await story.ledger.state()).toMatchObject({ expected: records });
        expect(host.told()).toEqual([]);
      },
    );
  },
);

it("at most a day's number is withdrawn when 24 disappear in each of five ticks", async () => {
  const host = await integrationAt({ records: 400 });
  const { story } = host;
  await story.baseline();
  const gone = host.ids().slice(0, 120);
  for (let tick = 0; tick < 5; tick++) {
    hide(host, gone.slice(24 * tick, 24 * tick + 24));
    await story.minutes(1);
  }
  await story.minutes(60);
  const withdrawn = host.told();
  expect(withdrawn.length).toBeLessThanOrEqual(25);
  expect(host.subjects()).toContain(tooMany);
  await story.operate({ command: 'accept-total', total: host.world.count });
  await story.minutes(30);
  expect(host.told()).toEqual(gone.map((id) => `withdrawn ${id}`).sort());
});

it('a record that the list lacks and its id shows is told to ops only', async () => {
  const host = await integrationAt({ records: 300, zombies: 1 });
  const { story } = host;
  await story.baseline();
  const [id = 0] = host.ids().slice(100);
  hide(host, [id]);
  await story.minutes(30);
  expect(host.told()).toEqual([]);
  expect(host.subjects()).toEqual([
    'baseline completed',
    'the list lacks records that their ids show',
  ]);
  expect(story.notices.at(-1)?.text).toContain(String(id));
  host.sandbox.set({ zombies: 0 });
  story.clock.advance({ hours: 25 });
  await story.minutes(10);
  expect(host.told()).toEqual([`withdrawn ${id}`]);
});
