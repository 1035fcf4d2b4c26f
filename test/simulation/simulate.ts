import { expectedAmidAudits, expectedAtRest } from './calm.ts';
import type { HostSwitches } from './host.ts';
import { Life, type Ticked } from './life.ts';
import type { BrokenParts } from './mutants.ts';
import { judge } from './verdict.ts';

export interface LifeOptions {
  /** Ticks that always overlap, and calls that often outlive the lease. */
  readonly rough?: boolean;
  /** Always so many records that a read takes several pages, and something happens between any two. */
  readonly crowded?: boolean;
  /** Operators have everything read anew, time and again. */
  readonly restarts?: boolean;
  /** What the host does in any case. */
  readonly host?: Partial<HostSwitches>;
  /** What a mutant has broken. */
  readonly broken?: BrokenParts;
  /** Told of each call, and of how each tick ended. */
  readonly trace?: (line: string) => void;
}

/** What a life found wrong (empty when every promise was kept), and what happened in it. */
export interface Outcome {
  readonly findings: readonly string[];
  readonly coverage: ReadonlyMap<string, number>;
}

/** Ticks, a minute apart, after which all must be quiet again. */
const ticksToRest = 40;

/**
 * One life of an integration: a world in which things happen between any two requests, ticks that
 * fail, overlap, take long, lose their lease and are killed at any await; then rest, and the
 * promises checked against the truth; then, without audits, differences that a count can see. The
 * same seed is the same life.
 */
export async function simulate(seed: number, options: LifeOptions = {}): Promise<Outcome> {
  const life = new Life(seed, options.broken);
  const { trace } = options;
  if (trace) life.passage.trace = (line) => trace(`${life.timeline.now()} ${line}`);
  await trouble(life, options);
  life.calm();
  await untilQuiet(life);
  life.world.mend();
  for (let day = 0; day < 4; day++) {
    if (day === 2 && life.operators.chance(0.3)) {
      life.world.exodus(0.7);
      await untilQuiet(life);
    }
    // What an unfinished baseline had seen of it, only the audits of the first day find out.
    await lookedAt(life);
    await life.timeline.pass({ hours: 25 });
    if (day === 3) await expectedAmidAudits(life);
    await untilQuiet(life);
  }
  await digestsSent(life);
  life.findings.push(...(await judge(life)));
  if (life.findings.length === 0) {
    life.auditsOff();
    await expectedAtRest(life, () => untilQuiet(life));
    await digestsSent(life);
    life.findings.push(...(await judge(life)));
  }
  return { findings: life.findings, coverage: life.coverage.times };
}

async function trouble(life: Life, options: LifeOptions): Promise<void> {
  const { rough = false, crowded = false, restarts = false } = options;
  const { random, world, host, passage, timeline, audience, ledger } = life;
  const born = crowded || random.chance(0.3) ? 180 + random.below(120) : random.below(60);
  for (let n = 0; n < born; n++) world.create();
  host.switches = {
    churn: crowded || random.chance(0.8) ? 0.3 : 0,
    faults: random.chance(0.4) ? 0.05 : 0,
    unstableTies: crowded || random.chance(0.7),
    singleRecordsBroken: random.chance(0.15),
    ...options.host,
  };
  const isOutlived = rough || random.chance(0.2);
  life.witness.mayBeOutlived = isOutlived;
  passage.dangers = {
    kill: random.chance(0.6) ? 0.02 : 0,
    loss: random.chance(0.3) ? 0.01 : 0,
    freeze: rough ? 0.08 : isOutlived ? 0.03 : 0,
    delay: random.chance(0.4) ? 0.03 : 0,
  };
  passage.pace = {
    partnerMs: random.pick([20, 100, 400, 1_000, 2_000]) ?? 20,
    awsMs: random.pick([5, 20, 20, 100, 300]) ?? 20,
  };
  ledger.lagMs = random.pick([0, 1_000, 5_000, 240_000]) ?? 0;
  audience.refusals = random.chance(0.4) ? 0.2 : 0;
  const ticks = 4 + random.below(8);
  for (let n = 0; n < ticks; n++) {
    for (let m = random.below(4); m > 0; m--) world.happen();
    if (random.chance(0.04)) world.exodus(0.3 + 0.5 * random.next());
    else if (random.chance(0.06)) world.homecoming();
    life.isPaused = random.chance(0.03);
    if (restarts && random.chance(0.25)) await timeline.until(life.restartBaseline());
    if (life.operators.chance(0.6) && (await hasCollapsed(life)))
      await timeline.until(life.acceptTotal());
    host.forgetAbsences();
    const many = rough ? 6 : random.chance(0.25) ? 2 : 1;
    if (many > 1) life.coverage.note('overlapping ticks');
    await timeline.until(
      Promise.all(Array.from({ length: many }, (_, late) => tickIn(life, late))),
    );
    await timeline.pass({ seconds: random.chance(0.2) ? 3_600 * random.below(30) : 60 });
  }
  life.isPaused = false;
}

async function hasCollapsed({ ledger }: Life): Promise<boolean> {
  return (await ledger.state()).collapsedFrom !== undefined;
}

/** More than half gone is not believed: then somebody has looked, and it was a mistake, or the scope. */
async function lookedAt(life: Life): Promise<void> {
  const { operators, timeline, world, ledger, findings } = life;
  if (!(await hasCollapsed(life))) return;
  if (operators.chance(0.5) || !(await timeline.until(life.acceptTotal()))) {
    world.homecoming();
    return;
  }
  await untilQuiet(life);
  for (const [id, { certification }] of ledger.items)
    if (certification.presence === 'present' && !world.entries.has(id))
      findings.push(`${id} was not withdrawn although the total was accepted`);
}

/** @param late for a tick that begins in the middle of another */
async function tickIn(life: Life, late: number): Promise<Ticked> {
  await life.timeline.sleep(late * life.random.below(30_000));
  return life.tick();
}

/** The night is over for everybody, and so is the time that a digest collects. */
async function digestsSent(life: Life): Promise<void> {
  for (let half = 0; half < 2; half++) {
    await life.timeline.pass({ hours: 13 });
    await untilQuiet(life);
  }
}

/** Ticks until one is quiet: one request, one read, one write, and nobody told anything. */
async function untilQuiet(life: Life): Promise<void> {
  const { timeline, host, findings } = life;
  for (let n = 1; n <= ticksToRest; n++) {
    host.forgetAbsences();
    const { report, invocation } = await timeline.until(life.tick());
    await timeline.pass({ seconds: 60 });
    if (report?.outcome === 'backing-off') n -= 1;
    const { requests, reads, writes, publications } = invocation;
    if (requests !== 1 || reads !== 1 || writes !== 1 || publications !== 0) continue;
    life.coverage.note(`at rest after ${n < 5 ? n : n < 15 ? '5 to 14' : '15 and more'}`);
    return;
  }
  findings.push(`not at rest after ${ticksToRest} ticks`);
}
