import { describe, expect, it } from 'vitest';
import type { TickParts } from '../../../lambda/tick/parts.ts';
import { Integration } from '../../scaffold/integration.ts';
import { pagewise } from '../../scaffold/ports.ts';
import { numbers, on, titles } from './scenarios.ts';

/*
 * Each write of a tick, in its order (docs/decisions/0038). A tick dies directly before it and directly after it. After some ticks
 * everything is as if it had not died; only repeats under the same id are allowed.
 */

interface Call {
  readonly name: string;
  readonly asked: readonly unknown[];
}

class Death extends Error {}

type When = 'never' | 'before' | 'after';

/** A tick dies at the first call that is meant. It carries out nothing more. */
function fateOf(isMeant: (call: Call) => boolean, when: When) {
  /** `underWay`: calls that have begun and not ended. */
  const fate = { isDead: false, underWay: 0, met: 0 };
  const die = (): never => {
    fate.isDead = true;
    throw new Death('the process is gone');
  };
  const call = async (one: Call, perform: () => unknown): Promise<unknown> => {
    const isIt = !fate.isDead && isMeant(one);
    if (isIt) fate.met += 1;
    if (fate.isDead || (isIt && when === 'before')) return die();
    fate.underWay += 1;
    try {
      const answer = await perform();
      return isIt && when === 'after' ? die() : answer;
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
  const parts = ({ ledger, partner, announcer, ...others }: TickParts): TickParts => ({
    ...others,
    ...{ ledger: dying(ledger), partner: dying(partner), announcer: dying(announcer) },
  });
  return { fate, parts };
}

/** @param fields that the write changes */
const saves =
  (...fields: string[]) =>
  ({ name, asked: [changes] }: Call) =>
    name === 'saveState' &&
    fields.every((field) => Object.keys(Object(changes)).includes(field)) &&
    (fields.includes('heartbeat') || !Object.keys(Object(changes)).includes('heartbeat'));
const positionOf = ({ asked: [changes] }: Call): unknown =>
  Reflect.get(Object(Reflect.get(Object(changes), 'baseline')), 'before');
const calls = (name: string, last?: unknown) => (call: Call) =>
  call.name === name && (last === undefined || call.asked.at(-1) === last);
const condition = (wanted: string) => (call: Call) =>
  saves('conditions')(call) &&
  Reflect.get(Object(call.asked[0]), 'conditions').has(wanted) === true;
const notice = (title: RegExp) => (call: Call) =>
  call.name === 'notify' && title.test(String(Reflect.get(Object(call.asked[0]), 'subject')));

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

const rows: readonly (readonly [row: string, story: Story, isMeant: (call: Call) => boolean])[] = [
  ['a: the lease', news, calls('takeLease')],
  ['b: a baseline begins', empty, (call) => saves('baseline')(call) && !positionOf(call)],
  ['c: the start day is read', empty, (call) => saves('baseline')(call) && !!positionOf(call)],
  [
    'd: the position of a range',
    empty,
    (call) => saves('baseline')(call) && String(positionOf(call)) < '2026-11-21',
  ],
  ['e: a new day', news, calls('touch')],
  ['f: the memory of the gate', flood, saves('gate')],
  ['g: the notice of a flood', flood, notice(/held/)],
  ['g: that ops know of it', flood, condition('held')],
  ['h: the memory of what is missing', removal, saves('missing')],
  ['i: a commit', news, calls('commit')],
  ['i: the commit of a withdrawal', removal, calls('commit')],
  ['i: the commit of a held event', flood, calls('commit')],
  ['i: silent records', empty, calls('recordSilently')],
  ['j: an event is published', news, calls('publish')],
  ['j: it is settled', news, calls('settle', 'digest')],
  ['k: the calendar', news, calls('saveDays')],
  ['l: the counts of the page', news, calls('addToDays')],
  [
    'm: located days that are not read',
    slow,
    ({ name, asked: [days] }) =>
      name === 'saveDays' &&
      days instanceof Map &&
      [...days.values()].some((entry) => entry.askedAt !== undefined),
  ],
  ['n: the digest', news, calls('tellPeople')],
  ['n: its events are settled', news, calls('settle', 'nothing')],
  ['o: the notice of a condition', oddField, notice(/cannot be read|malformed|record/)],
  ['o: that ops know of it', oddField, condition('quarantined')],
  ['p: the notice of the baseline', empty, notice(/baseline/)],
  ['q: no more back-off', refusedBefore, saves('backOff')],
  ['r: the pace', hurried, saves('pace')],
  ['s: the end', news, saves('heartbeat')],
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

async function live(begin: Story, isMeant: (call: Call) => boolean, when: When) {
  const story = new Integration();
  Object.defineProperty(story, 'name', { value: 'district' });
  await begin(story);
  const { fate, parts } = fateOf(isMeant, when);
  story.mutate = parts;
  for (let ticks = 0; ticks < 15 && !fate.isDead; ticks += 1) await story.minutes(1);
  story.mutate = (others) => others;
  story.requestSeconds = 0;
  story.host.requestsPerMinute = Number.POSITIVE_INFINITY;
  // A withdrawal that was counted and not committed takes two looks again.
  await story.minutes(begin === removal ? 30 : 4);
  const soon = await factsOf(story);
  // By then the index shows everything that is left.
  await story.minutes(12);
  const { dirtySince } = await story.ledger.state();
  return { ...fate, soon, owing: dirtySince };
}

const ordinary = new Map<Story, ReturnType<typeof live>>();

describe.each(rows)('a tick that dies at the write of %s', (_, begin, isMeant) => {
  it.each(['before', 'after'] as const)(
    'directly %s it costs nothing but repeats',
    async (when) => {
      const known = ordinary.get(begin) ?? live(begin, () => false, 'never');
      ordinary.set(begin, known);
      const [died, lived] = [await live(begin, isMeant, when), await known];
      expect([died.isDead, died.underWay, lived.underWay]).toEqual([true, 0, 0]);
      expect(died.soon).toEqual(lived.soon);
      expect([died.owing, lived.owing]).toEqual([undefined, undefined]);
    },
  );
});
