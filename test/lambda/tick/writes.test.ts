import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { TickParts } from '../../../lambda/tick/parts.ts';
import { Integration } from '../../scaffold/integration.ts';
import { ledgerReads, pagewise } from '../../scaffold/ports.ts';
import { answering, numbers, on, titles } from './scenarios.ts';

/*
 * The table of a tick's writes (docs/decisions/0038). A tick dies directly before each one and directly after it. Some ticks later, everything is
 * as if it had not died; an event may have been sent once more.
 */

interface Call {
  readonly name: string;
  readonly asked: readonly unknown[];
}
type Meant = (call: Call, earlier: readonly Call[]) => boolean;

class Death extends Error {}

/** A tick dies at the first call that is meant, and carries out nothing more. */
function fateOf(isMeant: Meant, mustFollow: Meant, isAfter: boolean) {
  /** `underWay`: calls that have begun and not ended. `isLate`: a call came that had to follow. */
  const fate = { isDead: false, underWay: 0, isLate: false };
  let earlier: Call[] = [];
  const die = (): never => {
    fate.isDead = true;
    throw new Death('the process is gone');
  };
  const call = async (one: Call, perform: () => unknown): Promise<unknown> => {
    const isIt = !fate.isDead && isMeant(one, earlier);
    if (isIt) fate.isLate = earlier.some((call) => mustFollow(call, []));
    if (fate.isDead || (isIt && !isAfter)) return die();
    earlier.push(one);
    fate.underWay += 1;
    try {
      const answer = await perform();
      return isIt ? die() : answer;
    } finally {
      fate.underWay -= 1;
    }
  };
  const dying = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name) => {
        const real: unknown = Reflect.get(target, name);
        if (typeof real !== 'function') return real;
        if (pagewise.has(String(name))) return real.bind(target);
        return (...asked: unknown[]) =>
          call({ name: String(name), asked }, () => Reflect.apply(real, target, asked));
      },
    });
  const parts = ({ ledger, partner, announcer, ...others }: TickParts): TickParts => {
    earlier = [];
    return {
      ...others,
      ...{ ledger: dying(ledger), partner: dying(partner), announcer: dying(announcer) },
    };
  };
  return { fate, parts };
}

const partOf = (whole: unknown, ...path: string[]): unknown =>
  path.reduce((part, key) => Reflect.get(Object(part), key), whole);
/** @param value of the field as JSON; without one, the field may be removed */
const saves =
  (field: string, value = /^/): Meant =>
  ({ name, asked: [changes] }) =>
    name === 'saveState' &&
    Object.hasOwn(Object(changes), field) &&
    Object.hasOwn(Object(changes), 'heartbeat') === (field === 'heartbeat') &&
    value.test(JSON.stringify(partOf(changes, field)) ?? 'removed');
const calls =
  (name: string, last?: unknown): Meant =>
  (call) =>
    call.name === name && (last === undefined || call.asked.at(-1) === last);
const reaches =
  (isIt: (before: string) => boolean): Meant =>
  (call) =>
    saves('baseline')(call, []) &&
    isIt(String(partOf(call.asked[0], 'baseline', 'before') ?? 'nothing'));
const condition =
  (wanted: string): Meant =>
  (call) =>
    saves('conditions')(call, []) &&
    [partOf(call.asked[0], 'conditions')].some((all) => all instanceof Map && all.has(wanted));
const notice =
  (title: RegExp): Meant =>
  ({ name, asked: [told] }) =>
    name === 'notify' && title.test(String(partOf(told, 'subject')));
/** A map by day: some of its entries. */
const ofDays =
  (method: string, isIt: (day: string, entry: unknown) => boolean): Meant =>
  ({ name, asked: [days] }) =>
    name === method && days instanceof Map && [...days].some(([day, entry]) => isIt(day, entry));
const isAsking = ofDays(
  'saveDays',
  (_, day) => Number(partOf(day, 'askedAt')) > Number(partOf(day, 'readAt')),
);
const commits = calls('commit');
const writes: Meant = ({ name }) => !ledgerReads.has(name) && !partnerCalls.has(name);
const partnerCalls = new Set(['pulse', 'tail', 'count', 'oldestDay', 'prove', 'get']);

type Story = (story: Integration) => Promise<void>;

const empty: Story = async (story) => {
  story.world = [
    ...on('2026-11-21', numbers(1, 30)),
    ...on('2026-06-01', numbers(101, 130)),
    ...on('2019-01-01', numbers(201, 230)),
    ...on('2018-02-01', numbers(241, 260)),
    ...on('2017-02-01', numbers(261, 280)),
  ];
};
const settled: Story = async (story) => {
  await empty(story);
  await story.baseline();
};
const news: Story = async (story) => {
  await settled(story);
  story.add(...on('2026-11-21', [901]), ...on('2017-05-05', [902]), ...on('2026-11-22', [903]));
};
const flood: Story = async (story) => {
  story.settings = { holdAbove: 20 };
  await settled(story);
  story.add(...on('2026-11-20', numbers(301, 360)));
};
const removal: Story = async (story) => {
  await settled(story);
  story.host.remove(101);
  await story.minutesUntil(async () => ((await story.ledger.state()).missing?.lookAt ?? 0) > 0, 5);
  await story.minutesUntil(
    async () =>
      ((await story.ledger.state()).missing?.lookAt ?? 0) <= story.clock.now().epochMilliseconds,
    15,
  );
};
const oddField: Story = async (story) => {
  await news(story);
  story.host.spoil(901, { certified_on: null });
};
const refusedBefore: Story = async (story) => {
  await news(story);
  story.host.access.rotateSecret();
  await story.minutes(2);
  story.credentials = story.host.access.credentials;
};
const hurried: Story = async (story) => {
  await news(story);
  story.host.requestsPerMinute = 2;
};
/** A tick has time for so many questions that it locates the day and cannot read it. */
const slow: Story = async (story) => {
  await settled(story);
  story.add(...on('2019-01-01', [904]), ...on('2017-02-01', [905]));
  story.requestSeconds = 11;
};

/** Several ranges are read at once, and two are still under way when the position is written. */
const wide: Story = async (story) => {
  story.settings = { baseline: { atOnce: 4 } };
  for (let n = 0; n < 12; n += 1)
    story.host.addMany(1_000 * n + 1, 60, `${2026 - n}-03-0${1 + (n % 9)}`);
  const { prove } = story.partner;
  let begun = 0;
  answering(story, {
    prove: async (...asked) => {
      begun += 1;
      if (begun > 4) for (let turns = 0; turns < 50; turns += 1) await setImmediate();
      return prove(...asked);
    },
  });
};

const isNever: Meant = () => false;
/** The calls of a later write must not come before it in its tick. */
const rows: readonly (readonly [row: string, story: Story, isMeant: Meant, mustFollow?: Meant])[] =
  [
    ['a: the lease', news, calls('takeLease'), writes],
    ['b: a baseline begins', empty, reaches((day) => day === 'nothing'), calls('prove')],
    [
      'c: the start day is read',
      empty,
      reaches((day) => day === '2026-11-21'),
      ({ name, asked: [range] }) => name === 'prove' && partOf(range, 'to') !== undefined,
    ],
    ['d: a range is read', empty, reaches((day) => day < '2026-11-21')],
    ['d: one of several ranges is read', wide, reaches((day) => day < '2022')],
    [
      'e: a new day',
      news,
      ({ name, asked: [days] }) => name === 'touch' && [days].flat().includes('2017-05-05'),
      ({ name, asked: [change] }) => name === 'commit' && partOf(change, 'id') === 902,
    ],
    ['f: the memory of the gate', flood, saves('gate', /"created":60/), commits],
    ['g: the notice of a flood', flood, notice(/held/), commits],
    ['g: that ops know of it', flood, condition('held'), commits],
    ['h: the memory of what is missing', removal, saves('missing', /"withdrawn":\[[^\]]/), commits],
    ['i: a commit', news, commits, calls('publish')],
    ['i: the commit of a withdrawal', removal, commits, calls('publish')],
    ['i: the commit of a held event', flood, commits, calls('publish')],
    ['i: silent records', empty, calls('recordSilently'), saves('baseline', /"before":"2026/)],
    ['j: an event is published', news, calls('publish'), calls('settle')],
    ['j: it is settled', news, calls('settle', 'digest'), calls('tellPeople')],
    ['k: the calendar', news, ofDays('saveDays', (day) => day === '2017-05-05')],
    ['l: the counts of the page', news, ofDays('addToDays', () => true), saves('heartbeat')],
    [
      'm: located days that are not read',
      slow,
      // The read that was cut off has written its days, too.
      (call, earlier) => isAsking(call, []) && earlier.some((one) => isAsking(one, [])),
      saves('heartbeat'),
    ],
    ['n: the digest', news, calls('tellPeople'), calls('settle', 'nothing')],
    ['n: its events are settled', news, calls('settle', 'nothing'), saves('heartbeat')],
    ['o: the notice of a condition', oddField, notice(/record/), condition('quarantined')],
    ['o: that ops know of it', oddField, condition('quarantined'), saves('heartbeat')],
    ['p: the notice of the baseline', empty, notice(/baseline/), saves('baseline', /completed/)],
    ['q: no more back-off', refusedBefore, saves('backOff', /removed/), commits],
    ['r: the pace', hurried, saves('pace', /"refusal"/)],
    ['s: the end', news, saves('heartbeat'), saves('pace')],
  ];

/** Everything that subscribers, people and ops know, and the ledger. */
async function factsOf(story: Integration) {
  const { expected, missing, baseline, years } = await story.ledger.state();
  const days = [...(await story.ledger.calendar(years))].map(
    ([day, { count, missing = 0 }]) => `${day}: ${count}, ${missing} missing`,
  );
  return {
    heard: new Set(story.heard.map((event) => `${event.type} ${event.id}`)),
    held: new Set(story.memory.held.map(({ event }) => event.id)),
    mailed: new Set(story.mails.flat()),
    told: new Set(titles(story)),
    state: { expected, missing: missing?.total ?? 0, status: baseline.status },
    days: new Set(days.filter((day) => !day.endsWith(': 0, 0 missing'))),
  };
}

async function live(begin: Story, isMeant: Meant, mustFollow = isNever, isAfter = false) {
  const story = new Integration();
  Object.defineProperty(story, 'name', { value: 'district' });
  await begin(story);
  const { fate, parts } = fateOf(isMeant, mustFollow, isAfter);
  story.mutate = parts;
  for (let ticks = 0; ticks < 15 && !fate.isDead; ticks += 1) await story.minutes(1);
  const atEnd = { ...fate };
  story.mutate = (others) => others;
  story.requestSeconds = 0;
  story.host.requestsPerMinute = Number.POSITIVE_INFINITY;
  // A withdrawal that was counted and not committed takes two looks again.
  await story.minutes(begin === removal ? 30 : 4);
  const soon = await factsOf(story);
  // By then the index shows everything that is left.
  await story.minutes(12);
  const { dirtySince } = await story.ledger.state();
  const sent = Map.groupBy(story.heard, ({ id }) => id).values();
  const most = Math.max(0, ...[...sent].map(({ length }) => length));
  return { ...atEnd, soon, owing: dirtySince, isSentAgain: most > 2 };
}

const ordinary = new Map<Story, ReturnType<typeof live>>();

for (const [row, begin, isMeant, mustFollow] of rows)
  describe(`a tick that dies at the write of ${row}`, () => {
    it.each(['before', 'after'])('costs nothing but repeats: directly %s it', async (when) => {
      const known = ordinary.get(begin) ?? live(begin, isNever);
      ordinary.set(begin, known);
      const { soon, ...died } = await live(begin, isMeant, mustFollow, when === 'after');
      const ended = { underWay: 0, isLate: false, owing: undefined, isSentAgain: false };
      expect(died).toEqual({ isDead: true, ...ended });
      expect(await known).toEqual({ isDead: false, ...ended, soon });
    });
  });
