import type { TickSettings } from '../../lambda/settings.ts';
import { MemoryLedger } from '../scaffold/memory-ledger.ts';
import { type BrokenParts, intact } from '../simulation/mutants.ts';
import { judge } from '../simulation/verdict.ts';
import {
  type Branch,
  type Choices,
  type Option,
  Replay,
  stepsOf,
  Tree,
  trailOf,
  uneventful,
} from './choices.ts';
import { Machine } from './machine.ts';
import { type Budget, type Memory, nothing, spent, unseen } from './seen.ts';
import { momentIn, type Situation, settings, stateOf, type Told } from './situation.ts';
import { days, entriesOf, moments, movesOf, worldOf } from './world.ts';

const start = '2026-11-20T08:00:00Z';
const startDay = '2026-11-20';

const minute = 60;

/**
 * Seconds from one tick to the next: the schedule's, or those until an audit or a second look is
 * due if that is later.
 */
function pausesOf({ ledger, nowMs, budget }: Situation): ReadonlyMap<string, number> {
  const { dueAt, missing } = ledger.remembered;
  const untilDue = Math.ceil((Math.min(dueAt, missing?.lookAt ?? dueAt) - nowMs) / 1_000);
  const isLater = budget.waits > 0 && untilDue > minute;
  return new Map([['tick', minute], ...(isLater ? ([['wait', untilDue]] as const) : [])]);
}

/** Minutes between ticks after the last event: the first tick may meet the lease of a dead one. */
const soon = [1, 1, 1];
/** Second looks at missing certifications. */
const looks = [11, 1, 11, 1];
/** Audits of the recent and of all days, and second looks at their finds. */
const audits = [61, 1, 11, 1, 1_500, 1, 1, 11, 1, 1_500, 1, 1, 11, 1];
/** Further ticks without audits. */
const quiet = [1, 1, 1, 1];
const quietTick = ['state', 'list', 'saveState'];
const never = 9e12;
const unaudited = { ...settings, audit: { ...settings.audit, recentMs: never } };

/** The work from the end of a tick: moves of the partner, and then calm, or another tick with its events. */
export interface Task {
  /** The events of the ticks before. */
  readonly trail: string;
  /** The branches to continue; absent: from the beginning. */
  readonly branches?: readonly Branch[];
  /** The number of further ticks with events. */
  readonly ticks: number;
  /** The number of executions after which the remaining branches are returned. */
  readonly executions: number;
}

export interface Explored {
  readonly executions: number;
  readonly states: number;
  /** The number of events in the longest execution. */
  readonly depth: number;
  readonly findings: readonly Finding[];
  /** New situations after the tick. */
  readonly next: readonly string[];
  readonly branches: readonly Branch[];
}

export interface Finding {
  readonly trail: string;
  readonly findings: readonly string[];
}

export interface Beginning {
  /** The ledger is empty; or the baseline is complete, and all is quiet. */
  readonly isNew: boolean;
  /** The day of each existing certification: 0 is today, 1 is long ago. */
  readonly born: readonly number[];
  readonly rowsOfPage: number;
  readonly budget: Budget;
}

/** @param broken the parts with the ledger; nothing goes wrong before the execution begins */
export async function begin(
  { isNew, born, rowsOfPage, budget }: Beginning,
  { ledgerRules }: Pick<BrokenParts, 'ledgerRules'> = intact,
): Promise<Situation> {
  const bornOn = born.map((nth) => days[nth] ?? days[0]);
  const fresh: Situation = {
    world: worldOf(bornOn, rowsOfPage),
    ledger: new MemoryLedger(ledgerRules),
    told: nothingTold,
    nowMs: Date.parse(start),
    budget: nothing,
  };
  if (isNew) return { ...fresh, budget };
  const quiet = await inPeace(fresh, intact, [...soon, ...looks, ...audits, 1, 1]);
  return { ...quiet.situation, budget };
}

const nothingTold: Told = {
  ...{ events: new Map(), mailed: new Set(), notices: new Set(), committed: new Map() },
  mayRepeat: false,
};

interface Lived {
  readonly situation: Situation;
  readonly findings: readonly string[];
  /** The end: a tick; calm, after which there is no other tick; or a known situation. */
  readonly end: 'tick' | 'calm' | 'known';
}

/** The choices of an execution, its broken parts, and the known states. */
interface Course {
  readonly choices: Choices;
  readonly broken: BrokenParts;
  readonly seen: Memory;
}

/** Moves, and then a tick or calm. */
async function live(from: Situation, ticks: number, course: Course): Promise<Lived> {
  for (let situation = from; ; ) {
    const now = situation;
    const moves = movesNow(now);
    const pauses = ticks > 0 ? pausesOf(now) : new Map<string, number>();
    const options: Option[] = [
      { name: '' },
      ...[...pauses.keys()].map((name) => ({ name })),
      ...[...moves].map(([name, moved]) => ({ name, next: () => betweenTicks(moved, ticks) })),
    ];
    const chosen = course.choices.choose(options, () => betweenTicks(now, ticks));
    if (chosen === undefined) return { situation, findings: [], end: 'known' };
    const moved = moves.get(chosen);
    if (moved === undefined) {
      const budget = chosen === 'wait' ? spent(now.budget, 'waits') : now.budget;
      return goOn({ ...now, budget }, ticks, pauses.get(chosen), course);
    }
    situation = moved;
  }
}

/** @param pause seconds before a tick; undefined: nothing happens any more */
async function goOn(
  situation: Situation,
  ticks: number,
  pause: number | undefined,
  { choices, broken, seen }: Course,
): Promise<Lived> {
  if (pause === undefined)
    return { situation, findings: await verdictOn(situation, broken, seen), end: 'calm' };
  const machine = new Machine(situation, broken, `${ticks} left`);
  const end = (await machine.run(choices, pause)) ? 'tick' : 'known';
  return { situation: machine.situation, findings: machine.findings, end };
}

const betweenTicks = (situation: Situation, ticks: number) => stateOf(situation, `before ${ticks}`);

function movesNow(situation: Situation): ReadonlyMap<string, Situation> {
  const { world, nowMs, ledger } = situation;
  if (situation.budget.moves === 0) return new Map();
  const budget = spent(situation.budget, 'moves');
  const moves = movesOf(world, { nowMs, moment: momentIn(ledger) }, budget.moves === 0);
  return new Map([...moves].map(([name, moved]) => [name, { ...situation, world: moved, budget }]));
}

/**
 * The events of each tick up to a situation, in order. A tick without events counts, an empty trail
 * does not.
 */
const ticksOf = (trail: string) => trail.split(between).filter((one) => one !== '');
const between = ' / ';

/** The situation of a trail. */
export async function replay(begun: Situation, trail: string, broken: BrokenParts): Promise<Lived> {
  let reached: Lived = { situation: begun, findings: [], end: 'tick' };
  for (const one of ticksOf(trail)) {
    const choices = new Replay(stepsOf(one));
    const done = await live(reached.situation, 1, { choices, broken, seen: unseen });
    reached = { ...done, findings: [...reached.findings, ...done.findings] };
  }
  return reached;
}

/** All findings of one execution, and of the long calm after it. */
export async function findingsOf(
  beginning: Beginning,
  trail: string,
  broken: BrokenParts,
): Promise<readonly string[]> {
  const { situation, findings, end } = await replay(await begin(beginning, broken), trail, broken);
  return end === 'calm' ? findings : [...findings, ...(await verdictOn(situation, broken))];
}

/** All executions from a situation until the end of one more tick. */
export async function explore(
  begun: Situation,
  { trail, branches, ticks, executions }: Task,
  seen: Memory,
  broken: BrokenParts = intact,
): Promise<Explored> {
  const { situation } = await replay(begun, trail, broken);
  const findings: Finding[] = [];
  const tree = new Tree(seen, branches);
  const next: string[] = [];
  let depth = 0;
  while (tree.executions < executions && tree.next()) {
    const done = await live(situation, ticks, { choices: tree, broken, seen });
    const further = [...ticksOf(trail), ...ticksOf(trailOf(tree.steps))].join(between);
    depth = Math.max(depth, stepsOf(further).length);
    if (done.findings.length > 0) findings.push({ trail: further, findings: done.findings });
    if (done.end === 'tick' && seen.isNew(stateOf(done.situation, `after ${ticks}`)))
      next.push(further);
  }
  const { executions: done, states, branches: left } = tree;
  return { executions: done, states, depth, findings, next, branches: left };
}

interface Peace {
  readonly situation: Situation;
  /** The calls of the last tick. */
  readonly calls: readonly string[];
  readonly findings: readonly string[];
  readonly isKnown: boolean;
}

/** Ticks without trouble, up to the first that is known from another execution. */
async function inPeace(
  from: Situation,
  broken: BrokenParts,
  minutesBetween: readonly number[],
  ticks: TickSettings = settings,
  seen: Memory = unseen,
): Promise<Peace> {
  let situation = { ...from, budget: nothing };
  let calls: readonly string[] = [];
  const findings: string[] = [];
  for (const [nth, minutes] of minutesBetween.entries()) {
    // Calm has no budget, by which repeats are excused elsewhere.
    const excuse = situation.told.mayRepeat ? 'after trouble' : '';
    const isKnown = !seen.isNew(stateOf(situation, `calm ${nth} ${excuse}`));
    if (isKnown) return { situation, calls, findings, isKnown };
    const machine = new Machine(situation, broken, 'calm', ticks);
    await machine.run(uneventful, minutes * 60);
    findings.push(...machine.findings);
    ({ situation, calls } = machine);
  }
  return { situation, calls, findings, isKnown: false };
}

/** The broken promises after a long calm, unless known from another execution. */
export async function verdictOn(
  from: Situation,
  broken: BrokenParts,
  seen: Memory = unseen,
): Promise<readonly string[]> {
  const findings: string[] = [];
  let situation = from;
  for (const [minutes, judged] of phases) {
    const rest = await inPeace(situation, broken, minutes, settings, seen);
    findings.push(...rest.findings);
    if (rest.isKnown) return findings;
    ({ situation } = rest);
    findings.push(...(await judged(situation)));
  }
  await situation.ledger.saveState({ auditsFrom: never });
  const end = await inPeace(situation, broken, quiet, unaudited);
  const isQuiet = end.calls.join() === quietTick.join();
  const others = new Set(end.calls.filter((call) => !quietTick.includes(call)));
  return [
    ...findings,
    ...end.findings,
    ...(isQuiet ? [] : [`not quiet in the end: ${[...others].join(', ')}`]),
  ];
}

/** The conditions that must hold after some ticks without events: the minutes between these. */
const phases: readonly (readonly [
  minutes: readonly number[],
  judged: (situation: Situation) => readonly string[] | Promise<readonly string[]>,
])[] = [
  [soon, (situation) => leftToAudits(situation, 'less')],
  [looks, (situation) => leftToAudits(situation, 'less or more')],
  [audits, async (situation) => [...(await judged(situation)), ...lastTold(situation)]],
];

/** A differing total is reason enough for a search. Audits are for changes that hide each other. */
function leftToAudits({ world, ledger }: Situation, wrong: 'less' | 'less or more'): string[] {
  const { expected } = ledger.remembered;
  const total = world.rows.length;
  const isWrong = wrong === 'less' ? expected < total : expected !== total;
  return isWrong ? [`${total} are there, and ${expected} expected before any audit`] : [];
}

/** Compares the last event of each certification with the world. */
function lastTold({ world, told }: Situation): string[] {
  const bySubject = Map.groupBy(told.events.values(), ({ subject }) => subject);
  return [...bySubject].flatMap(([subject, events]) => {
    const last = events.toSorted((a, b) => Number(a.sequence) - Number(b.sequence)).at(-1);
    const row = world.rows.find(({ id }) => id === Number(subject));
    const isTold =
      last?.type === 'certification.withdrawn' ? undefined : last?.data.assessment.certified_on;
    return isTold === row?.day ? [] : [`subscribers heard last that ${subject} is ${isTold}`];
  });
}

function judged({ world, ledger, told }: Situation): Promise<string[]> {
  const numbered = <Value>(values: Readonly<Record<number, Value>>) =>
    new Map(Object.entries(values).map(([id, value]) => [Number(id), value]));
  const [births, disturbedAt] = [numbered(world.births), numbered(world.disturbedAt)];
  const { beforeBaseline: startedAt, inBaseline: completedAt } = moments;
  const notices = [...told.notices].map((subject) => ({ subject, text: '' }));
  return judge({
    world: { entries: entriesOf(world), births, disturbedAt },
    ledger,
    audience: { told: new Map(told.events), mailed: new Set(told.mailed), notices },
    witness: { startedAt, completedAt, startDay },
    settings,
    isAudited: true,
    contradictedUntil: 0,
    timeline: { nowMs: Date.parse(startDay) },
    isSlow: false,
    isCutOff: () => false,
  });
}
