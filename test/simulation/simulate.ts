import type { Certification } from '../../lambda/decisions/compare.ts';
import { expectedAmidAudits, expectedAtRest } from './calm.ts';
import type { Note } from './coverage.ts';
import { isTooMuchMissing, Life, numberMissing, type Ticked } from './life.ts';
import { type BrokenParts, intact } from './mutants.ts';
import type { Invocation } from './passage.ts';
import { type Plan, planOf } from './plan.ts';
import { judge } from './verdict.ts';

export interface LifeOptions {
  /** Replaces the seed's decisions. */
  readonly plan?: Partial<Plan>;
  /** A mutant's broken parts. */
  readonly broken?: BrokenParts;
  /** Called with each call, and with each tick's end. */
  readonly trace?: (line: string) => void;
  /** Called with each event. */
  readonly tell?: Note;
}

/** Findings of a life (none when each promise was kept), and the number of each event in it. */
export interface Outcome {
  readonly plan: Plan;
  readonly findings: readonly string[];
  readonly coverage: ReadonlyMap<string, number>;
}

/** After so many looks, each soon after the one before, no small number may be missing. */
const looksToRest = 12;
/** After an unproven read or a failed lookup, the next look is an hour later. */
const soonSeconds = 1_800;
/** Ids without an answer that a tick asks for; at a slow host, one. Each is asked for every hour. */
const idsOfATick = 2;
/** Ticks, a minute apart, after which all must be quiet again. */
const ticksToRest = 40;
/**
 * Days after which all removed records of the smallest world are withdrawn. A slow host is asked
 * for one of them by its id in a pass.
 */
const daysToGo = 20;

/**
 * One life of an integration. First, the world changes between any two requests, and ticks fail,
 * overlap, take long, lose their lease and are killed at any await. Then comes rest, and the
 * promises are checked against the truth. Then, without audits, come differences that a count
 * shows. The same seed is the same life.
 */
export function simulate(seed: number, options: LifeOptions = {}): Promise<Outcome> {
  return (options.broken ?? intact).during(() => lived(seed, options));
}

async function lived(seed: number, options: LifeOptions): Promise<Outcome> {
  const plan = planOf(seed, options.plan);
  const life = new Life(seed, plan, options.broken);
  const { trace, tell } = options;
  if (trace) life.passage.trace = (line) => trace(`${life.timeline.now()} ${line}`);
  if (tell) life.coverage.tell = (what, to) => tell(`${life.timeline.now()} ${what}`, to);
  await trouble(life);
  life.calm();
  await untilQuiet(life);
  life.world.mend();
  for (let day = 0; day < 3; day++) await dayAtRest(life, day);
  // The changes of the last day are audited, too.
  await life.timeline.pass({ hours: 25 });
  await untilQuiet(life);
  // In a small world, two may be withdrawn in a day.
  for (
    let rest = 0;
    rest < daysToGo * life.ticksForOne && (await numberMissing(life)) > 0;
    rest++
  ) {
    // Certifications that their ids had shown are asked for with the audits: at a slow host, one or
    // two in each.
    await life.timeline.pass({ hours: plan.pace === 0 ? 25 : 5 });
    await untilQuiet(life);
  }
  await provenInTheEnd(life);
  await judgeAtRest(life);
  if (life.findings.length === 0 && plan.stories > 0) {
    await life.auditsOff();
    await expectedAtRest(life, () => untilQuiet(life));
    await judgeAtRest(life);
  }
  return { plan, findings: life.findings, coverage: life.coverage.times };
}

/** The pace may cut off a read, whose rest proves nothing: a later audit does. */
async function provenInTheEnd(life: Life): Promise<void> {
  const { ledger, timeline, plan } = life;
  const isUnproven = () => [...ledger.days.values()].some(({ proof }) => proof === undefined);
  for (let audits = 0; audits < 3 && plan.pace > 0 && isUnproven(); audits++) {
    await timeline.pass({ hours: 1 });
    await untilQuiet(life);
  }
}

async function judgeAtRest(life: Life): Promise<void> {
  await digestsSent(life);
  await refusalsOver(life);
  life.findings.push(...(await judge(life)));
}

async function dayAtRest(life: Life, day: number): Promise<void> {
  life.turn(`day ${day}`);
  // Only the audits of the first day show how much an unfinished baseline had seen.
  await lookedAt(life);
  if (day === 0 && life.plan.idsFail > 0) {
    await life.timeline.pass({ hours: 1, seconds: 60 });
    await untilQuiet(life);
  }
  if (day === 0) await life.bury();
  if (day === 1 && life.ops.chance(life.plan.leavers)) {
    life.world.exodus(0.7);
    await untilQuiet(life);
    await lookedAt(life);
  }
  await life.timeline.pass({ hours: 25 });
  if (day === 2) await expectedAmidAudits(life);
  await untilQuiet(life);
}

async function trouble(life: Life): Promise<void> {
  const { plan, world, host, timeline } = life;
  for (let n = 0; n < plan.born; n++) world.create();
  life.trouble();
  for (let n = 0; n < plan.ticks; n++) {
    life.turn(`tick ${n}`);
    const { random } = life;
    happen(life);
    await intervene(life);
    host.forgetAbsences();
    const many = random.chance(plan.overlaps) ? plan.crowd : 1;
    if (many > 1) life.note('overlapping ticks');
    const ticks = Array.from({ length: many }, (_, late) => tickIn(life, late));
    await timeline.until(Promise.all(ticks));
    const hours = random.chance(plan.gaps) ? random.below(30) : undefined;
    await timeline.pass(hours === undefined ? { seconds: 60 } : { hours });
  }
  life.isPaused = false;
  host.assign(0);
}

/** Events at the partner, between two ticks. */
function happen({ plan, world, random }: Life): void {
  for (let m = random.below(plan.happenings + 1); m > 0; m--) world.happen();
  const share = 0.3 + 0.5 * random.next();
  if (random.chance(plan.exodus)) world.exodus(share);
  else if (random.chance(plan.homecoming)) world.homecoming();
}

/** Commands of ops, between two ticks. */
async function intervene(life: Life): Promise<void> {
  const { plan, random, ops, timeline, host } = life;
  host.assign(plan.unassigned);
  if (random.chance(plan.rotations)) life.rotateSecret();
  life.isPaused = random.chance(plan.pauses);
  if (random.chance(plan.restarts)) await timeline.until(life.restartBaseline());
  if (ops.chance(plan.accepts) && (await isTooMuchMissing(life)))
    await timeline.until(life.acceptTotal());
}

/** Too many are missing for a withdrawal. Then ops look, and find a mistake, or a changed scope. */
async function lookedAt(life: Life): Promise<void> {
  const { ops, timeline, world, ledger, findings, plan } = life;
  if (!(await isTooMuchMissing(life))) return;
  if (!ops.chance(plan.acceptsAtRest)) return world.homecoming();
  // Certifications found later exceed the accepted number.
  for (let times = 0; times < 4 && (await isTooMuchMissing(life)); times++) {
    await timeline.until(life.acceptTotal());
    await untilQuiet(life);
  }
  // A lagging index may have hidden some. The audits find these.
  await timeline.pass({ hours: 25 });
  await untilQuiet(life);
  if (await isTooMuchMissing(life)) return world.homecoming();
  // A later look withdraws the missing ones: in the end none may be missing.
  const isPresent = ({ presence }: Certification) => presence === 'present';
  const isMissing = (day: string) => (ledger.days.get(day)?.missing ?? 0) > 0;
  for (const [id, { certification }] of ledger.items)
    if (isPresent(certification) && !world.entries.has(id) && !isMissing(certification.day))
      findings.push(`${id} was not withdrawn although the total was accepted`);
}

/** @param late for a tick that begins within another */
async function tickIn(life: Life, late: number): Promise<Ticked> {
  await life.timeline.sleep(late * life.random.below(30_000));
  return life.tick();
}

/** The quiet hours are over, and so is the time that a digest collects. */
async function digestsSent(life: Life): Promise<void> {
  const halves = life.plan.quietHours > 0 ? 2 : life.plan.digestEvery > 0 ? 1 : 0;
  for (let half = 0; half < halves; half++) {
    await life.timeline.pass({ hours: 13 });
    await untilQuiet(life);
  }
}

/**
 * The notice that audits use up a slow host's pace lasts until an hour after the last refusal:
 * docs/operations.md#alarms-and-notices.
 */
async function refusalsOver(life: Life): Promise<void> {
  const { conditions } = await life.ledger.state();
  if (life.plan.pace === 0 || !conditions.has('rate-limited')) return;
  // The refusal counts to the end of its minute.
  await life.timeline.pass({ seconds: 3_660 });
  await untilQuiet(life);
}

/** Runs ticks until all is quiet, no second look is due soon, and no condition is about to end. */
async function untilQuiet(life: Life): Promise<void> {
  const { timeline, ledger } = life;
  // A slow host is asked for three ids in a tick, and a read without room then waits. Each
  // certification may have gone.
  const most = (life.plan.pace === 0 ? 1 : 4) * looksToRest + ledger.items.size;
  for (let looks = 0; looks < most; looks++) {
    await untilOneIsQuiet(life);
    const { missing, conditions } = await ledger.state();
    const { lookAt = Number.POSITIVE_INFINITY, tooManySince } = missing ?? {};
    const over = [...conditions.values()].map(
      ({ goneAt = Number.POSITIVE_INFINITY }) => goneAt + life.settings.withdrawAfterMs,
    );
    const seconds = Math.max(60, Math.ceil((Math.min(lookAt, ...over) - timeline.nowMs) / 1_000));
    // Ids without an answer are asked for every hour.
    if (tooManySince !== undefined || seconds > soonSeconds || life.host.unrest.idsFail) return;
    await timeline.pass({ seconds });
  }
  // An id that replicas have shown in turn ends when its days are proven, and a malformed record keeps
  // them from it: decision 32.
  const { conditions } = await ledger.state();
  if (conditions.has('one-id-twice') && conditions.has('quarantined')) return;
  life.findings.push(`looked ${most} times at what is missing, and not to the end`);
}

/** One request, one read, one write, and no text sent. */
function isQuiet(invocation: Invocation): boolean {
  const { calls, requests, tokens, needlessTokens, reads, writes, publications } = invocation;
  const isOneRequest = calls === 1 && requests === 1 && tokens <= 1 && needlessTokens === 0;
  return isOneRequest && reads === 1 && writes === 1 && publications === 0;
}

const inWords = (ticks: number) => (ticks < 5 ? ticks : ticks < 15 ? '5 to 14' : '15 and more');

/** Runs ticks until one is quiet. */
async function untilOneIsQuiet(life: Life): Promise<void> {
  const { timeline, host, findings, ledger } = life;
  // Each may disappear once: a slow host is asked for at most a dozen ids in a tick.
  let mayGo = ledger.items.size;
  // A tick asks for three ids that have no answer.
  const more = host.unrest.idsFail > 0 ? ledger.items.size : 0;
  for (let n = 1; n <= (ticksToRest + more) * life.ticksForOne; n++) {
    host.forgetAbsences();
    const { report, invocation } = await timeline.until(life.tick());
    await timeline.pass({ seconds: 60 });
    if (report?.outcome === 'backing-off') n -= 1;
    const withdrawn = Math.min(mayGo, report?.withdrawn ?? 0);
    if (withdrawn > 0 || isAwaited(life)) n -= 1;
    mayGo -= withdrawn;
    if (!isQuiet(invocation)) continue;
    life.note(`at rest after ${inWords(n)}`);
    return;
  }
  if (!hasIdsForHours(life)) findings.push(`not at rest after ${ticksToRest} ticks`);
}

/** More ids have no answer than ticks ask for in an hour: when the last had its turn, the first is due. */
function hasIdsForHours({ host, ledger, plan }: Life): boolean {
  const { notes = [] } = ledger.remembered.missing ?? {};
  return host.unrest.idsFail > 0 && notes.length > 60 * (plan.pace === 0 ? idsOfATick : 1);
}

/** A change by a clock that was ahead: until then, a row as before it may be an older answer. */
function isAwaited({ ledger, timeline, settings, plan }: Life): boolean {
  const latest = timeline.nowMs + settings.withdrawAfterMs;
  const ends = [...ledger.items.values()].flatMap(
    ({ certification }) => certification.earlier ?? [],
  );
  return plan.ahead > 0 && ends.some(({ until }) => until > latest);
}
