import { expectedAmidAudits, expectedAtRest } from './calm.ts';
import type { Note } from './coverage.ts';
import { isTooMuchMissing, Life, type Ticked } from './life.ts';
import type { BrokenParts } from './mutants.ts';
import type { Invocation } from './passage.ts';
import { type Plan, planOf } from './plan.ts';
import { judge } from './verdict.ts';

export interface LifeOptions {
  /** Ticks that always overlap, and calls that often outlive the lease. */
  readonly rough?: boolean;
  /** Always so many records that a read takes several pages, and something happens between any two. */
  readonly crowded?: boolean;
  /** Operators have everything read anew, time and again. */
  readonly restarts?: boolean;
  /** Faults of the host in any case. */
  readonly host?: { readonly singleRecordsBroken?: boolean };
  /** Instead of what the seed decides. */
  readonly plan?: Partial<Plan>;
  /** Parts that a mutant has broken. */
  readonly broken?: BrokenParts;
  /** Told of each call, and of how each tick ended. */
  readonly trace?: (line: string) => void;
  /** Told of each thing that happens. */
  readonly tell?: Note;
}

/** Findings of a life (none when every promise was kept), and how often each thing happened in it. */
export interface Outcome {
  readonly plan: Plan;
  readonly findings: readonly string[];
  readonly coverage: ReadonlyMap<string, number>;
}

/** After so many looks, each soon after the one before, nothing that is few may be missing. */
const looksToRest = 12;
/** Where a read proves nothing, and where a lookup fails, the next look is an hour later. */
const soonSeconds = 1_800;
/** Ticks, a minute apart, after which all must be quiet again. */
const ticksToRest = 40;
/** After which everything that has gone from the smallest world is withdrawn; a slow host is asked for one by its id in a pass. */
const daysToGo = 20;

/**
 * One life of an integration: a world in which things happen between any two requests, ticks that
 * fail, overlap, take long, lose their lease and are killed at any await; then rest, and the
 * promises checked against the truth; then, without audits, differences that a count can see. The
 * same seed is the same life.
 */
export async function simulate(seed: number, options: LifeOptions = {}): Promise<Outcome> {
  const plan = planOf(seed, { ...inAnyCase(options), ...options.plan });
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
  // Of a small world, two may go in a day.
  for (let rest = 0; rest < daysToGo * life.ticksForOne && (await isAnyMissing(life)); rest++) {
    // What its id had shown is asked for with the audits: at a slow host, one or two in each.
    await life.timeline.pass({ hours: plan.pace === 0 ? 25 : 5 });
    await untilQuiet(life);
  }
  await digestsSent(life);
  await refusalsOver(life);
  life.findings.push(...(await judge(life)));
  if (life.findings.length === 0 && plan.stories > 0) {
    await life.auditsOff();
    await expectedAtRest(life, () => untilQuiet(life));
    await digestsSent(life);
    await refusalsOver(life);
    life.findings.push(...(await judge(life)));
  }
  return { plan, findings: life.findings, coverage: life.coverage.times };
}

async function dayAtRest(life: Life, day: number): Promise<void> {
  life.turn(`day ${day}`);
  // Only the audits of the first day find out how much of it an unfinished baseline had seen.
  await lookedAt(life);
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

/** The part of the plan that options decide. */
export function inAnyCase({ rough, crowded, restarts, host }: LifeOptions): Partial<Plan> {
  return {
    ...(rough && { freeze: 0.08, overlaps: 1, crowd: 6 }),
    ...(crowded && { born: 240, churn: 0.3, unstableTies: 1 }),
    ...(restarts && { restarts: 0.25 }),
    ...(host?.singleRecordsBroken && { singleRecordsBroken: 1 }),
  };
}

async function isAnyMissing({ ledger }: Life): Promise<boolean> {
  return ((await ledger.state()).missing?.total ?? 0) > 0;
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
    if (many > 1) life.coverage.note('overlapping ticks');
    await timeline.until(
      Promise.all(Array.from({ length: many }, (_, late) => tickIn(life, late))),
    );
    const hours = random.chance(plan.gaps) ? random.below(30) : undefined;
    await timeline.pass(hours === undefined ? { seconds: 60 } : { hours });
  }
  life.isPaused = false;
  host.assign(0);
}

/** At the partner, between two ticks. */
function happen({ plan, world, random }: Life): void {
  for (let m = random.below(plan.happenings + 1); m > 0; m--) world.happen();
  const share = 0.3 + 0.5 * random.next();
  if (random.chance(plan.exodus)) world.exodus(share);
  else if (random.chance(plan.homecoming)) world.homecoming();
}

/** Ops, between two ticks. */
async function intervene(life: Life): Promise<void> {
  const { plan, random, ops, timeline, host } = life;
  host.assign(plan.unassigned);
  if (random.chance(plan.rotations)) life.rotateSecret();
  life.isPaused = random.chance(plan.pauses);
  if (random.chance(plan.restarts)) await timeline.until(life.restartBaseline());
  if (ops.chance(plan.accepts) && (await isTooMuchMissing(life)))
    await timeline.until(life.acceptTotal());
}

/** What is missing is too many to be withdrawn: then somebody has looked, and it was a mistake, or the scope. */
async function lookedAt(life: Life): Promise<void> {
  const { ops, timeline, world, ledger, findings, plan } = life;
  if (!(await isTooMuchMissing(life))) return;
  if (!ops.chance(plan.acceptsAtRest)) return world.homecoming();
  // What was still to be found then is more than they have accepted.
  for (let times = 0; times < 4 && (await isTooMuchMissing(life)); times++) {
    await timeline.until(life.acceptTotal());
    await untilQuiet(life);
  }
  // An index that lagged may have hidden some: the audits find these.
  await timeline.pass({ hours: 25 });
  await untilQuiet(life);
  if (await isTooMuchMissing(life)) return world.homecoming();
  // What is missing by now is withdrawn by a later look: in the end nothing may be missing.
  const isMissing = (day: string) => (ledger.days.get(day)?.missing ?? 0) > 0;
  for (const [id, { certification }] of ledger.items)
    if (
      certification.presence === 'present' &&
      !world.entries.has(id) &&
      !isMissing(certification.day)
    )
      findings.push(`${id} was not withdrawn although the total was accepted`);
}

/** @param late for a tick that begins in the middle of another */
async function tickIn(life: Life, late: number): Promise<Ticked> {
  await life.timeline.sleep(late * life.random.below(30_000));
  return life.tick();
}

/** The night is over for everybody, and so is the time that a digest collects. */
async function digestsSent(life: Life): Promise<void> {
  const halves = life.plan.quietHours > 0 ? 2 : life.plan.digestEvery > 0 ? 1 : 0;
  for (let half = 0; half < halves; half++) {
    await life.timeline.pass({ hours: 13 });
    await untilQuiet(life);
  }
}

/** That audits use up what a slow host allows is told of until an hour after it last refused: docs/operations.md#alarms-and-notices. */
async function refusalsOver(life: Life): Promise<void> {
  const { conditions } = await life.ledger.state();
  if (life.plan.pace === 0 || !conditions.has('rate-limited')) return;
  await life.timeline.pass({ hours: 1 });
  await untilQuiet(life);
}

/** Ticks until all is quiet, nothing is due for a second look soon, and no condition is about to be over. */
async function untilQuiet(life: Life): Promise<void> {
  const { timeline, ledger } = life;
  // A slow host is asked for three by their ids in a tick, and a read that has no more room then waits.
  const most = life.plan.pace === 0 ? looksToRest : 4 * looksToRest;
  for (let looks = 0; looks < most; looks++) {
    await untilOneIsQuiet(life);
    const { missing, conditions } = await ledger.state();
    const { lookAt = Number.POSITIVE_INFINITY, tooManySince } = missing ?? {};
    const over = [...conditions.values()].map(
      ({ goneAt = Number.POSITIVE_INFINITY }) => goneAt + life.settings.withdrawAfterMs,
    );
    const seconds = Math.max(60, Math.ceil((Math.min(lookAt, ...over) - timeline.nowMs) / 1_000));
    if (tooManySince !== undefined || seconds > soonSeconds) return;
    await timeline.pass({ seconds });
  }
  life.findings.push(`looked ${most} times at what is missing, and not to the end`);
}

/** One request, one read, one write, and nobody told anything. */
function isQuiet(invocation: Invocation): boolean {
  const { calls, requests, tokens, needlessTokens, reads, writes, publications } = invocation;
  const isOneRequest = calls === 1 && requests === 1 && tokens <= 1 && needlessTokens === 0;
  return isOneRequest && reads === 1 && writes === 1 && publications === 0;
}

const inWords = (ticks: number) => (ticks < 5 ? ticks : ticks < 15 ? '5 to 14' : '15 and more');

/** Ticks until one is quiet. */
async function untilOneIsQuiet(life: Life): Promise<void> {
  const { timeline, host, findings, ledger } = life;
  // Each may go once: a slow host is asked for no more than a dozen by their ids in a tick.
  let mayGo = ledger.items.size;
  for (let n = 1; n <= ticksToRest * life.ticksForOne; n++) {
    host.forgetAbsences();
    const { report, invocation } = await timeline.until(life.tick());
    await timeline.pass({ seconds: 60 });
    if (report?.outcome === 'backing-off') n -= 1;
    const withdrawn = Math.min(mayGo, report?.withdrawn ?? 0);
    if (withdrawn > 0) n -= 1;
    mayGo -= withdrawn;
    if (!isQuiet(invocation)) continue;
    life.coverage.note(`at rest after ${inWords(n)}`);
    return;
  }
  findings.push(`not at rest after ${ticksToRest} ticks`);
}
