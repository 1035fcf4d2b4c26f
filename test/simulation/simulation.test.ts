import { describe, expect, it } from 'vitest';
import { Coverages } from './coverage.ts';
import { livedBy } from './crew.ts';
import { breakParts, mutants } from './mutants.ts';
import { live, type Order } from './order.ts';
import { aspects, calmest, restarting, rough } from './plan.ts';
import { asOption, shrink } from './shrink.ts';
import { type LifeOptions, simulate } from './simulate.ts';
import { Timeline } from './timeline.ts';

/** Findings of the lives that ended with a broken promise, by seed. */
async function broken(seeds: number, options: LifeOptions, coverages = new Coverages()) {
  const found = new Map<number, readonly string[]>();
  for (let seed = 1; seed <= seeds; seed++) {
    const { findings, coverage } = await simulate(seed, options);
    coverages.add(coverage);
    if (findings.length > 0) found.set(seed, findings);
  }
  return found;
}

/** Events that must occur in a good share of the lives, or these prove nothing about them. */
const often =
  `born, backdated, dated tomorrow, edited, moved, removed, restored, archived, odd field,
  as documented again, malformed, mended, between two requests, unstable ties,
  time zone other than UTC, killed, failed, overlapping ticks, busy, lost answer, slow call,
  late arrival, cut short, stale index by day, refused by SNS, held, too many missing,
  total accepted, failed request, stumble, secret rotated, unproven read, at rest: created,
  at rest: withdrawn, at rest: restored, at rest: undone`.split(/,\s+/);

describe('a simulated life', () => {
  it('keeps each promise, with events between any two requests', async () => {
    const coverages = new Coverages();
    expect(await broken(30, {}, coverages)).toEqual(new Map());
    expect(often.filter((what) => coverages.livesWith(what) < 2)).toEqual([]);
  });

  it('keeps them when ticks overlap and leases are lost all the time', async () => {
    expect(await broken(12, { plan: rough })).toEqual(new Map());
  });

  it('keeps them when ops restart the baseline time and again', async () => {
    const coverages = new Coverages();
    expect(await broken(16, { plan: restarting }, coverages)).toEqual(new Map());
    expect(coverages.livesWith('baseline restarted')).toBeGreaterThan(1);
  });

  it('is the same for the same seed', async () => {
    const traced = async () => {
      const lines: string[] = [];
      await simulate(3, { trace: (line) => lines.push(line) });
      return lines;
    };
    const lines = await traced();
    expect(lines).not.toEqual([]);
    expect(await traced()).toEqual(lines);
  });

  it('is the same in a worker', async () => {
    const plan = { ...calmest, born: 5, happenings: 3, churn: 0.3, kill: 0.02, stories: 1 };
    const orders = [1, 2, 3].map((seed): Order => ({ seed, plan, isShrunk: false }));
    const lived: unknown[] = [];
    for await (const life of livedBy(2, orders)) lived.push(life);
    expect(lived).toEqual(await Promise.all(orders.map(live)));
  });

  it('fails as its worker fails', async () => {
    const orders: Order[] = [{ seed: 1, plan: calmest, mutant: 'nobody', isShrunk: false }];
    const lived = livedBy(2, orders);
    await expect(lived.next()).rejects.toThrow('no such mutant');
  });

  it('is shrunk to the aspects that break the promise, with a command that repeats it', async () => {
    const broken = () => breakParts(mutants['outbox'] ?? { breaks: '' });
    const busy = { ...calmest, ticks: 4, happenings: 3, churn: 0.3, refusals: 0.2, oddness: 0.3 };
    const moved = { ...busy, unstableTies: 1, partnerMs: 100 };
    const { plan, findings } = await simulate(1, { broken: broken(), plan: moved });
    const [finding = ''] = findings;
    const shrunk = await shrink(1, { broken: broken() }, plan, finding);
    const left = aspects.filter((aspect) => shrunk.plan[aspect] !== calmest[aspect]);
    expect(left.length).toBeLessThan(6);
    expect(shrunk.story.join('\n')).toContain('born');
    const changes = asOption(1, shrunk.plan).matchAll(/(\w+)=([^,]+)/g);
    const again = Object.fromEntries([...changes].map(([, name, value]) => [name, Number(value)]));
    const { findings: same } = await simulate(1, { broken: broken(), plan: again });
    expect(same).toEqual(shrunk.findings);
  });
});

it('an error of a timer reaches the code that lets time pass', async () => {
  const timeline = new Timeline('2026-11-20T12:00:00Z');
  const broken = new Error('broken');
  timeline.after(10, () => {
    throw broken;
  });
  await expect(timeline.pass({ seconds: 1 })).rejects.toBe(broken);
});
