import { TimedOutError, UnavailableError } from '../../../lambda/partner/errors.ts';
import type { PartnerReader } from '../../../lambda/ports/partner-reader.ts';
import type { Integration } from '../../scaffold/integration.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { assessment } from '../../support/assessments.ts';

/**
 * Stories that are told twice: as tests of what a tick does, and to mutants that few lives would
 * catch (test/simulation/mutants.test.ts), which must not see the same in them.
 */
export interface Scenario {
  /** @returns what was seen */
  readonly tell: (integration: Integration) => Promise<unknown>;
  /** What is seen when nothing is broken. */
  readonly seen: unknown;
}

export const on = (certified_on: string, ids: readonly number[]) =>
  ids.map((id) => assessment({ id, certified_on }));
export const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Answers of the partner, replaced from now on. */
function answering({ partner }: Integration, replaced: Partial<PartnerReader>): void {
  Object.assign(partner, replaced);
}

/** Certification and revision of each event, in their order. */
const heard = ({ heard }: Integration) => heard.map(({ id }) => id.split('/').slice(1).join('/'));

const removed = ({ world }: Integration, gone: number) => world.filter(({ id }) => id !== gone);

/** What appears while the baseline goes back to the oldest. */
export const newcomers: Scenario = {
  async tell(story) {
    story.world = [...on('2026-11-21', [1]), ...on('2024-02-29', [2])];
    const oldestDay = story.partner.oldestDay.bind(story.partner);
    answering(story, { oldestDay: () => Promise.reject(new Error('reset')) });
    await story.tick().catch(() => undefined);
    story.add(...on('2026-11-21', [3]), ...on('2025-01-01', [4]));
    await story.tick().catch(() => undefined);
    const atOnce = heard(story);
    answering(story, { oldestDay });
    const { outcome } = await story.tick();
    const { created } = await story.tick();
    return { atOnce, outcome, created, inTheEnd: heard(story) };
  },
  seen: { atOnce: ['3/1'], outcome: 'baseline', created: 0, inTheEnd: ['3/1'] },
};

/** One is missing where it was, and found by its id on a day whose turn to be read comes later. */
export const elsewhere: Scenario = {
  async tell(story) {
    // Of the recent window, and of the oldest day.
    const requests = 2;
    story.settings = { audit: { ...tickSettings().audit, requests } };
    story.world = [
      ...on('2011-11-11', numbers(101, 160)),
      ...on('2024-02-29', numbers(1, 60)),
      ...on('2026-11-10', numbers(201, 310)),
    ];
    await story.tick();
    await story.tick();
    story.clock.advance({ hours: 25 });
    story.add(...on('2024-02-29', [101]));
    const { updated } = await story.tick();
    const days = await story.ledger.calendar([2024, 2011]);
    return { updated, counts: [...days].map(([day, { count }]) => [day, count]).sort() };
  },
  seen: {
    updated: 1,
    counts: [
      ['2011-11-11', 59],
      ['2024-02-29', 61],
    ],
  },
};

/** One has gone while no record at all can be fetched by its id. */
export const proofs: Scenario = {
  async tell(story) {
    story.world = [...on('2024-02-29', numbers(1, 20)), ...on('2011-11-11', [50])];
    await story.tick();
    story.world = removed(story, 7);
    story.host.singleRecordsBroken = true;
    await story.tick();
    const days = await story.ledger.calendar([2024, 2011]);
    return [...days].map(([day, { proof }]) => [day, proof !== undefined]).sort();
  },
  seen: [
    ['2011-11-11', true],
    ['2024-02-29', false],
  ],
};

/** One is there, is missing from what its day's read proves, and cannot be had by its id, like all others. */
export const canary: Scenario = {
  async tell(story) {
    const day = '2024-02-29';
    story.world = [...on(day, numbers(1, 20)), ...on('2011-11-11', [50])];
    await story.tick();
    story.host.hidden.add(7);
    story.host.count = (right, { filter: { start_date = day, end_date = day } = {} }) =>
      String(start_date) <= day && String(end_date) >= day ? right - 1 : right;
    story.host.singleRecordsBroken = true;
    story.requests.length = 0;
    const { withdrawn } = await story.tick();
    return { isAskedFor: story.requests.includes('get 7'), withdrawn, heard: heard(story) };
  },
  seen: { isAskedFor: true, withdrawn: 0, heard: [] },
};

/** Another tick sees a newer edit and commits it, after this one's pulse and before its lease. */
export const stale: Scenario = {
  async tell(story) {
    const edited = (organization_name: string) =>
      story.add(assessment({ id: 1, certified_on: '2026-11-20', organization_name }));
    story.world = on('2026-11-20', [1]);
    await story.tick();
    await story.tick();
    edited('older');
    let hasMet = false;
    const ledger = story.ledgerWith({
      takeLease: async (lease) => {
        if (!hasMet) {
          hasMet = true;
          edited('newer');
          story.clock.advance({ seconds: 1 });
          await story.tick();
        }
        return story.ledger.takeLease(lease, story.clock.now());
      },
    });
    await story.tick({ ledger });
    return story.heard.map(({ data: { assessment } }) =>
      'organization_name' in assessment ? assessment.organization_name : undefined,
    );
  },
  seen: ['newer'],
};

/** One that has gone cannot be confirmed in time, and then another comes in its place. */
export const leftover: Scenario = {
  async tell(story) {
    story.world = [
      ...on('2026-11-20', numbers(1, 100)),
      ...on('2019-03-05', numbers(1_001, 1_020)),
    ];
    for (let ticks = 0; ticks < 3; ticks += 1) await story.tick();
    const get = story.partner.get.bind(story.partner);
    let isLate = true;
    answering(story, {
      get: async (...asked) => {
        if (!isLate) return get(...asked);
        isLate = false;
        story.clock.advance({ seconds: 55 });
        throw new TimedOutError('get', 'deadline');
      },
    });
    story.world = removed(story, 1_005);
    const { withdrawn, cutShort } = await story.tick();
    story.add(...on('2018-01-01', [5_000]));
    story.clock.advance({ minutes: 1 });
    await story.tick();
    return { withdrawn, cutShort, heard: heard(story) };
  },
  seen: { withdrawn: 0, cutShort: true, heard: ['5000/1', '1005/2'] },
};

/** The days that cannot be proven are halved, and a tick has time for four reads. */
export const turns: Scenario = {
  async tell(story) {
    const days = ['2011-11-11', '2024-02-26', '2024-02-27', '2024-02-28', '2024-02-29'];
    story.world = [
      ...days.flatMap((day, index) => on(day, [index + 1])),
      ...on('2026-11-20', numbers(100, 220)),
    ];
    await story.tick();
    await story.tick();
    // Whatever has the last day cannot be proven.
    story.host.spoil(5, { certified_on: 'some day' });
    const prove = story.partner.prove.bind(story.partner);
    answering(story, {
      prove: async (...asked) => {
        if (asked[0].to !== undefined) story.clock.advance({ seconds: 12 });
        return prove(...asked);
      },
    });
    story.add(...on('2011-11-11', [400]), ...on('2024-02-29', [401]));
    for (let ticks = 0; ticks < 4; ticks++) await story.tick();
    return heard(story).sort();
  },
  seen: ['400/1', '401/1'],
};

/** The partner answers to nothing but pulses, so that each read is cut off. */
export const vain: Scenario = {
  async tell(story) {
    story.world = [
      ...on('2024-02-29', numbers(1, 60)),
      ...on('2011-11-11', numbers(101, 160)),
      ...on('2026-11-20', [300]),
    ];
    await story.tick();
    await story.tick();
    const years = [2024, 2011, 2026];
    const before = await story.ledger.calendar(years);
    story.host.onList = ({ sort }) => (sort === 'user_name' ? 'silence' : undefined);
    story.clock.advance({ hours: 25 });
    await story.tick();
    const after = await story.ledger.calendar(years);
    return [...after].filter(([day, entry]) => entry !== before.get(day)).map(([day]) => day);
  },
  seen: [],
};

/** One among the readable is malformed. */
export const rest: Scenario = {
  async tell(story) {
    story.world = on('2026-11-20', [1, 2]);
    await story.tick();
    story.host.add(9, '2026-11-20');
    story.host.spoil(9, { certified_on: 'some day' });
    await story.tick();
    story.requests.length = 0;
    const { unexplained, examined } = await story.tick();
    return { unexplained, examined, requests: [...story.requests] };
  },
  seen: { unexplained: 0, examined: 0, requests: ['pulse'] },
};

/** SNS refuses the first event of one, and the index does not show it to the next tick. */
export const order: Scenario = {
  async tell(story) {
    await story.tick();
    story.world = on('2026-11-20', [1]);
    story.subscribers.refuse = () => true;
    await story.tick();
    story.subscribers.refuse = () => false;
    story.add(assessment({ id: 1, certified_on: '2026-11-20', organization_name: 'Ashgrove' }));
    const lagging = story.ledgerWith({ leftovers: async function* () {} });
    const { updated, undelivered } = await story.tick({ ledger: lagging });
    const atOnce = heard(story);
    await story.tick();
    return { updated, undelivered, atOnce, inTheEnd: heard(story) };
  },
  seen: { updated: 1, undelivered: 1, atOnce: [], inTheEnd: ['1/1', '1/2'] },
};

/** Most of a day has gone, and half of that cannot be asked for until a day later. */
export const part: Scenario = {
  async tell(story) {
    story.world = [...on('2024-02-29', numbers(1, 20)), ...on('2023-01-01', numbers(101, 140))];
    await story.tick();
    await story.tick();
    const get = story.partner.get.bind(story.partner);
    answering(story, {
      get: (id, deadline) =>
        id <= 6 ? Promise.reject(new UnavailableError('get', 'status 500')) : get(id, deadline),
    });
    story.world = story.world.filter(({ id }) => id > 12);
    const first = await story.tick();
    answering(story, { get });
    story.clock.advance({ hours: 25 });
    const second = await story.tick();
    return [first, second].map(({ withdrawn, held, delivered }) => [withdrawn, held, delivered]);
  },
  seen: [
    [6, 6, 0],
    [6, 6, 0],
  ],
};

/** Two ticks die an hour apart, and the index does not show yet what the second has left. */
export const lag: Scenario = {
  async tell(story) {
    story.world = on('2026-11-20', [1]);
    await story.tick();
    const dead = { ...story.subscribers, publish: () => Promise.reject(new Error('killed')) };
    const lagging = story.ledgerWith({ leftovers: async function* () {} });
    story.add(...on('2026-11-20', [2]));
    await story.tick({ announcer: dead }).catch(() => undefined);
    story.clock.advance({ hours: 1 });
    story.add(...on('2026-11-20', [3]));
    await story.tick({ announcer: dead, ledger: lagging }).catch(() => undefined);
    story.clock.advance({ minutes: 1 });
    await story.tick({ ledger: lagging });
    const { dirtySince } = await story.ledger.state();
    story.clock.advance({ minutes: 1 });
    await story.tick();
    return { mayOwe: dirtySince !== undefined, heard: heard(story).sort() };
  },
  seen: { mayOwe: true, heard: ['2/1', '3/1'] },
};

/** Most has gone, ops accept that, all of it is back, and most goes again. */
export const back: Scenario = {
  async tell(story) {
    const world = on('2024-02-29', numbers(1, 60));
    const few = world.slice(0, 10);
    story.world = world;
    await story.tick();
    await story.tick();
    story.world = few;
    const { collapsed } = await story.tick();
    await story.operate({ command: 'accept-total', total: few.length });
    story.world = world;
    await story.tick();
    story.world = few;
    const again = await story.tick();
    return { collapsed, again: again.collapsed, gone: again.withdrawn };
  },
  seen: { collapsed: true, again: true, gone: 0 },
};

/** Another tick has the lease. */
export const lease: Scenario = {
  async tell(story) {
    await story.tick();
    const now = story.clock.now();
    await story.ledger.takeLease({ owner: 'other', until: now.add({ seconds: 65 }) }, now);
    story.world = on('2026-11-20', [1]);
    const { outcome } = await story.tick();
    const atOnce = heard(story);
    story.clock.advance({ seconds: 66 });
    await story.tick();
    return { outcome, atOnce, inTheEnd: heard(story) };
  },
  seen: { outcome: 'busy', atOnce: [], inTheEnd: ['1/1'] },
};

/** By the mutant that does not see what is to be seen. */
export const byMutant = {
  newcomers,
  elsewhere,
  proofs,
  stale,
  leftover,
  turns,
  vain,
  rest,
  order,
  canary,
  part,
  lag,
  since: lag,
  back,
  lease,
} as const satisfies Readonly<Record<string, Scenario>>;
