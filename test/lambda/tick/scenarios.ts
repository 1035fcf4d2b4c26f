import type { PartnerReader } from '../../../lambda/ports/partner-reader.ts';
import type { Integration } from '../../scaffold/integration.ts';
import { isOfDays } from '../../scaffold/partner.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { assessment } from '../../support/assessments.ts';

/**
 * Stories with two uses: tests of a tick, and evidence against mutants that few lives would catch
 * (test/simulation/mutants.test.ts). A story of a mutant must have another result.
 */
export interface Scenario {
  /** @returns the result of the story */
  readonly tell: (integration: Integration) => Promise<unknown>;
  /** The result when nothing is broken. */
  readonly seen: unknown;
}

export const on = (certified_on: string, ids: readonly number[]) =>
  ids.map((id) => assessment({ id, certified_on }));
export const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Replaces answers of the partner from now on. */
export function answering({ partner }: Integration, replaced: Partial<PartnerReader>): void {
  Object.assign(partner, replaced);
}

/** Subjects of the notices, without the integration's name. */
export const titles = ({ name, notices }: Integration) =>
  notices.map(({ subject }) => subject.replace(`${name}: `, ''));

/** Certification and revision of each event, in order. */
const heard = ({ heard }: Integration) => heard.map(({ id }) => id.split('/').slice(1).join('/'));

const removed = ({ world }: Integration, gone: number) => world.filter(({ id }) => id !== gone);

/** Certifications appear while the baseline is on its way to the oldest. */
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

/** One certification is missing on its day, and found on a day that is read later. */
export const elsewhere: Scenario = {
  async tell(story) {
    // One request reads the new day, and none reads the old one.
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
    const updated: number[] = [];
    for (let ticks = 0; ticks < 3; ticks++) updated.push((await story.minute()).updated);
    const days = await story.ledger.calendar([2024, 2011]);
    const counts = [...days].map(([day, { count, missing }]) => [day, count, missing]).sort();
    return { updated, counts };
  },
  seen: {
    updated: [1, 0, 0],
    counts: [
      ['2011-11-11', 59, 0],
      ['2024-02-29', 61, 0],
    ],
  },
};

/** Another tick sees a newer edit and commits it, after this tick's pulse and before its lease. */
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

/** Unprovable days are halved, and a tick has time for four reads. */
export const apart: Scenario = {
  async tell(story) {
    const days = ['2011-11-11', '2024-02-26', '2024-02-27', '2024-02-28', '2024-02-29'];
    story.world = [
      ...days.flatMap((day, index) => on(day, [index + 1])),
      ...on('2026-11-20', numbers(100, 220)),
    ];
    await story.tick();
    await story.tick();
    // No range with the last day can be proven.
    story.host.spoil(5, { certified_on: 'some day' });
    const prove = story.partner.prove.bind(story.partner);
    answering(story, {
      prove: async (...asked) => {
        if (asked[0].to !== undefined) story.clock.advance({ seconds: 12 });
        return prove(...asked);
      },
    });
    story.add(...on('2011-11-11', [400]));
    story.clock.advance({ hours: 25 });
    const begun = story.clock.now().epochMilliseconds;
    await story.minutes(40);
    const calendar = await story.ledger.calendar([2011, 2024]);
    const unread = [...calendar].filter(([, { readAt }]) => readAt < begun).map(([day]) => day);
    return { heard: heard(story).sort(), unread };
  },
  seen: { heard: ['400/1'], unread: [] },
};

/** The partner answers only pulses, so each read is cut off. */
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
    return [...after]
      .filter(([day, { count, proof }]) => {
        const { count: counted = 0, proof: proven } = before.get(day) ?? {};
        return count !== counted || proof !== proven;
      })
      .map(([day]) => day);
  },
  seen: [],
};

/** A lagging replica shows a record as it was before its edit. */
export const behind: Scenario = {
  async tell(story) {
    const email = (name: string) => story.host.edit(1, { email: `${name}@example.org` });
    story.host.add(1, '2026-11-21');
    await story.tick();
    for (const name of ['before', 'after', 'before', 'after']) {
      email(name);
      await story.minute();
    }
    return story.heardOf(1);
  },
  seen: ['updated', 'updated'],
};

/** One record among readable ones is malformed. */
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

/** SNS refuses the first event of a certification, and the index does not show it to the next tick. */
export const order: Scenario = {
  async tell(story) {
    await story.emptyBaseline();
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

/** Two ticks die an hour apart, and the index does not show the second one's leftovers yet. */
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

export const withdrawn = ({ heard }: Integration) =>
  heard
    .filter(({ type }) => type === 'certification.withdrawn')
    .map(({ subject }) => Number(subject));

/** A certification is missing, appears on the newest page, and is missing again. */
export const seenBetween: Scenario = {
  async tell(story) {
    const before = on('2026-11-20', numbers(1, 20));
    story.world = before;
    await story.minutes(3);
    story.world = before.slice(1);
    await story.minutes(6);
    story.world = before;
    await story.minute();
    story.world = before.slice(1);
    await story.minutes(8);
    const early = withdrawn(story);
    await story.minutes(8);
    return { early, inTheEnd: withdrawn(story) };
  },
  seen: { early: [], inTheEnd: [1] },
};

/** A certification is missing, and the setting says five minutes. */
export const looked: Scenario = {
  async tell(story) {
    story.settings = { withdrawAfterMs: 5 * 60_000 };
    story.world = on('2024-02-29', numbers(1, 20));
    await story.minutes(2);
    story.world = removed(story, 7);
    const after = await story.minutesUntil(() => withdrawn(story).length > 0, 20);
    return { after, asked: story.requests.filter((request) => request === 'get 7').length };
  },
  seen: { after: 6, asked: 1 },
};

/** Of a hundred certifications, four disappear each hour. */
export const drip: Scenario = {
  async tell(story) {
    story.world = on('2024-02-29', numbers(1, 100));
    await story.minutes(2);
    for (let hour = 0; hour < 8; hour++) {
      story.world = story.world.slice(4);
      await story.minutes(15);
    }
    return { withdrawn: withdrawn(story).length, missing: (await story.minute()).missing };
  },
  seen: { withdrawn: 20, missing: 12 },
};

/** The list lacks a certification, and its id shows it. */
export const believed: Scenario = {
  async tell(story) {
    story.world = on('2024-02-29', numbers(1, 20));
    await story.minutes(2);
    story.host.hidden.add(7);
    story.host.count = (right) => Math.max(0, right - 1);
    await story.minutes(26);
    return { withdrawn: withdrawn(story), notices: story.notices.length };
  },
  seen: { withdrawn: [], notices: 2 },
};

/**
 * A tick has no time to read the days of a removed certification. Then another one appears, so the
 * total is as before.
 */
export const leftover: Scenario = {
  async tell(story) {
    story.world = [
      ...on('2026-11-20', numbers(1, 100)),
      ...on('2019-03-05', numbers(1_001, 1_020)),
    ];
    for (let ticks = 0; ticks < 3; ticks += 1) await story.tick();
    const prove = story.partner.prove.bind(story.partner);
    let isLate = true;
    answering(story, {
      prove: async (...asked) => {
        if (!isLate) return prove(...asked);
        isLate = false;
        story.clock.advance({ seconds: 55 });
        const nothing = { assessments: [], quarantined: [], count: 0, isRead: false };
        return { ...nothing, isCutOff: true, requests: 1 };
      },
    });
    story.world = removed(story, 1_005);
    const { missing } = await story.tick();
    story.add(...on('2018-01-01', [5_000]));
    story.clock.advance({ minutes: 1 });
    const after = await story.tick();
    return { missing, missingThen: after.missing, heard: heard(story) };
  },
  seen: { missing: 0, missingThen: 1, heard: ['5000/1'] },
};

/** Many certifications are missing for an hour. Then all but a few are back, and these for a moment only. */
export const forgottenNotes: Scenario = {
  async tell(story) {
    const before = on('2024-02-29', numbers(1, 100));
    story.world = before;
    await story.minutes(2);
    story.world = before.slice(5);
    await story.minutes(5);
    story.world = before.slice(50);
    await story.minutes(60);
    story.world = before.slice(5);
    await story.minutes(5);
    story.world = before;
    await story.minutes(15);
    return { withdrawn: withdrawn(story), missing: (await story.minute()).missing };
  },
  seen: { withdrawn: [], missing: 0 },
};

/** Ticks that commit so many changes each, and die. */
async function dying(story: Integration, ticks: number, commits: number): Promise<void> {
  for (let minutes = 0; minutes < ticks; minutes++) {
    let left = commits;
    const ledger = story.ledgerWith({
      commit: async (...values) => {
        if (left-- <= 0) throw new Error('killed');
        return story.ledger.commit(...values);
      },
    });
    await story.tick({ ledger }).catch(() => undefined);
    story.clock.advance({ minutes: 1 });
  }
}

/** All ids are replaced one for one, which no total shows, and ticks die of it. */
export const replacedAmidDeaths: Scenario = {
  async tell(story) {
    story.settings = { holdAbove: 50 };
    const days = ['2026-11-18', '2026-11-19', '2026-11-20'];
    story.world = days.flatMap((day, nth) => on(day, numbers(100 * nth, 100 * nth + 59)));
    await story.minutes(3);
    story.world = days.flatMap((day, nth) =>
      on(day, numbers(1_000 + 100 * nth, 1_059 + 100 * nth)),
    );
    await dying(story, 15, 10);
    await story.minutes(20);
    const created = story.heard.filter(({ type }) => type === 'certification.created').length;
    return { areMany: created > 50, all: created + story.memory.held.length };
  },
  seen: { areMany: false, all: 180 },
};

/** Ticks find the same changes one after the other and die of them, which is no flood. */
export const foundAgain: Scenario = {
  async tell(story) {
    story.settings = { holdAbove: 50 };
    story.world = on('2026-11-20', numbers(1, 10));
    await story.minutes(3);
    story.add(...on('2026-11-21', numbers(101, 130)));
    await dying(story, 6, 1);
    await story.minutes(2);
    return { heard: story.heard.length, held: story.memory.held.length };
  },
  seen: { heard: 30, held: 0 },
};

/** The total announces the changes before the first of them is found. */
export const foretold: Scenario = {
  async tell(story) {
    story.settings = { holdAbove: 50 };
    const days = ['2024-02-26', '2024-02-27', '2024-02-28', '2024-02-29'];
    story.world = [
      ...days.flatMap((day, nth) => on(day, [nth + 1])),
      ...on('2026-11-20', numbers(100, 220)),
    ];
    await story.minutes(3);
    story.add(
      ...days.flatMap((day, nth) => on(day, numbers(1_000 + 100 * nth, 1_039 + 100 * nth))),
    );
    await story.minutes(5);
    return { heard: story.heard.length, held: story.memory.held.length };
  },
  seen: { heard: 0, held: 160 },
};

/** A mass edit is undone except for some records, which then change once more. */
export const takenBack: Scenario = {
  async tell(story) {
    story.settings = { holdAbove: 5 };
    const before = on('2026-11-20', numbers(1, 10));
    const renamed = (name: string) =>
      before.map((one) => ({ ...one, organization_name: `${name} Valley` }));
    story.world = before;
    await story.minutes(3);
    story.world = renamed('Cinder');
    await story.minutes(2);
    const held = story.memory.held.length;
    story.world = [...before.slice(0, 8), ...renamed('Ash').slice(8)];
    // At once, this could be the older answer of a replica.
    await story.minutes(12);
    const heldThen = story.memory.held.length;
    story.clock.advance({ minutes: 75 });
    story.world = [...renamed('Birch').slice(0, 3), ...story.world.slice(3)];
    await story.minutes(2);
    return { held, heldThen, heard: heard(story) };
  },
  seen: { held: 10, heldThen: 4, heard: ['1/4', '2/4', '3/4'] },
};

/** The total is 40 more than the sum of all days, and searches for them are repeated. */
export const searchedAgain: Scenario = {
  async tell(story) {
    story.host.addMany(1, 6, '2026-11-20');
    await story.baseline();
    await story.minutes(20);
    story.host.count = (right, query) => (isOfDays(query) ? right : right + 40);
    const minutes: number[] = [];
    for (let minute = 0; minute < 10; minute++) {
      story.host.requests.length = 0;
      await story.minute();
      if (story.host.asked.includes('count')) minutes.push(minute);
    }
    return minutes;
  },
  seen: [0, 1, 2, 4, 8],
};

/** An edit far back is undone at once: until a replica cannot lag that far, the undoing is no update. */
export const takenBackFarBack: Scenario = {
  async tell(story) {
    const email = (email: string) => story.host.edit(2, { email });
    story.world = [...on('2024-02-29', numbers(1, 5)), ...on('2026-11-20', numbers(100, 220))];
    await story.baseline();
    story.clock.advance({ hours: 25 });
    email('after@example.org');
    await story.minutesUntil(() => story.heard.length === 1, 10);
    email('educator-2@example.org');
    // This makes a search read its day.
    story.host.add(6, '2024-02-29');
    await story.minutes(1);
    const atOnce = story.heardOf(2);
    // This is before the next audit of its day.
    await story.minutes(12);
    return { atOnce, later: story.heardOf(2) };
  },
  seen: { atOnce: ['updated'], later: ['updated', 'updated'] },
};

/** Seventeen pages of three seconds each are more than a tick has time for. */
export const hugeDay: Scenario = {
  async tell(story) {
    story.host.answerMs = 3_000;
    story.host.addMany(1, 1_500, '2015-01-01');
    story.host.addMany(2_001, 50, '2026-11-19');
    await story.baseline();
    story.host.add(99_999, '2015-01-01');
    await story.minutes(8);
    return story.heardOf(99_999);
  },
  seen: ['created'],
};

/** Twelve requests a minute: ticks are refused while they learn it, and then no more. */
export const learnedPace: Scenario = {
  async tell(story) {
    story.host.requestsPerMinute = 12;
    for (let day = 1; day <= 28; day++)
      story.host.addMany(1_000 * day, 200, `2026-01-${String(day).padStart(2, '0')}`);
    await story.minutes(9);
    return story.host.refusals;
  },
  // In the first two minutes, and in the third one after them, which tries a higher pace.
  seen: 6,
};

/** An old record changes: neither a page nor a count shows it. */
export const editedLongAgo: Scenario = {
  async tell(story) {
    story.host.addMany(1, 3, '2019-05-06');
    story.host.addMany(101, 150, '2026-11-19');
    await story.baseline();
    story.host.edit(2, { email: 'b@example.org' });
    await story.minutes(60);
    return story.heardOf(2);
  },
  seen: ['updated'],
};

/** Stories by the mutant that fails them. */
export const byMutant = {
  newcomers,
  elsewhere,
  sight: seenBetween,
  looks: looked,
  forgotten: forgottenNotes,
  drip,
  believed,
  leftover,
  stale,
  apart,
  vain,
  rest,
  older: behind,
  order,
  hour: replacedAmidDeaths,
  gate: replacedAmidDeaths,
  again: foundAgain,
  total: foretold,
  undone: takenBack,
  told: takenBack,
  lag,
  since: lag,
  revisit: takenBackFarBack,
  searched: searchedAgain,
  cursor: hugeDay,
  pace: learnedPace,
  audits: editedLongAgo,
} as const satisfies Readonly<Record<string, Scenario>>;
