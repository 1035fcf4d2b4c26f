import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compare, withdrawal } from '../../../lambda/detection/compare.ts';
import { FloodGuard } from '../../../lambda/tick/flood-guard.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { assessment } from '../../support/assessments.ts';

const holdAbove = 500;
const hour = 3_600_000;
const historyMs = 24 * hour;

const [sighting] = compare([assessment()], new Map(), 'salt');
if (sighting === undefined) throw new Error('it is no change');
const edit = { ...sighting, kind: 'updated' } as const;

/** What each of these finds of audits becomes, a tick each; what is not held is committed. */
function guarded(finds: readonly { readonly edits: number; readonly minutes: number }[]) {
  const clock = new ManualClock();
  const conditions = { flood: async () => true };
  const parts = { clock, settings: { holdAbove, audit: { historyMs } } };
  let memory = new FloodGuard(parts, conditions).memory(true);
  return finds.map(({ edits, minutes }) => {
    clock.advance({ minutes });
    const guard = new FloodGuard(parts, conditions);
    guard.recall(memory);
    const changes = Array(edits).fill(edit);
    const isHeld = guard.flooding(changes)(edit);
    if (!isHeld) guard.passed(changes, { in: 'audit' });
    memory = guard.memory(true);
    return { at: clock.now().epochMilliseconds, edits, isHeld };
  });
}

const some = (edits: number, minutes: number, maxLength: number) =>
  fc.array(
    fc.record({ edits: fc.integer({ min: 1, max: edits }), minutes: fc.nat({ max: minutes }) }),
    { maxLength },
  );
/** A few edits now and then, and a mass edit among them. */
const finds = fc
  .tuple(some(3, 600, 10), some(99, 60, 60), some(3, 600, 20))
  .map((parts) => parts.flat());
/** A mass edit that begins 20 hours after an edit, and takes eight. */
const straddling = [
  { edits: 1, minutes: 0 },
  ...Array.from({ length: 32 }, (_, nth) => ({ edits: 30, minutes: nth === 0 ? 1_200 : 15 })),
];
const sum = (found: readonly { readonly edits: number }[]) =>
  found.reduce((total, { edits }) => total + edits, 0);

describe('withdrawals', () => {
  const { id, certified_on, organization_id, assessment_name } = sighting.assessment;
  const gone = withdrawal({
    ...{ id, organization_id, assessment_name, fingerprint: sighting.fingerprint },
    ...{ day: certified_on, revision: 1, presence: 'present' },
  });
  const guard = () => {
    const parts = { clock: new ManualClock(), settings: { holdAbove, audit: { historyMs } } };
    return new FloodGuard(parts, { flood: async () => true });
  };

  it('are not held: what is many is not withdrawn', () => {
    const guarding = guard();
    guarding.expect(-1_000);
    expect(guarding.flooding(Array(1_000).fill(gone))(gone)).toBe(false);
    expect(guarding.flooding(Array(600).fill(sighting))(gone)).toBe(false);
  });
});

describe('edits that are found over time', () => {
  it('go out up to holdAbove within the time of a whole round, whenever that begins', () => {
    fc.assert(
      fc.property(finds, (life) => {
        const told = guarded(life).filter(({ isHeld }) => !isHeld);
        for (const [index, { at }] of told.entries()) {
          const round = told.slice(0, index + 1).filter((one) => at - one.at < historyMs);
          expect(sum(round)).toBeLessThanOrEqual(holdAbove);
        }
      }),
      { examples: [[straddling]] },
    );
  });

  it('are held only while as many have gone out within a round and a quarter', () => {
    fc.assert(
      fc.property(finds, (life) => {
        const found = guarded(life);
        for (const [index, one] of found.entries()) {
          const told = found
            .slice(0, index)
            .filter(({ at, isHeld }) => !isHeld && one.at - at < 1.25 * historyMs);
          if (one.isHeld) expect(sum(told) + one.edits).toBeGreaterThan(holdAbove);
        }
      }),
    );
  });

  it('leave little behind in the state', () => {
    const clock = new ManualClock();
    const guard = new FloodGuard(
      { clock, settings: { holdAbove, audit: { historyMs } } },
      { flood: async () => true },
    );
    for (let minutes = 0; minutes < 3 * 24 * 60; minutes += 15) {
      clock.advance({ minutes: 15 });
      guard.recall(guard.memory(true));
      guard.passed([edit], { in: 'audit' });
    }
    expect(guard.memory(true).edits.length).toBeLessThanOrEqual(5);
    clock.advance({ hours: 48 });
    guard.recall(guard.memory(true));
    expect(guard.memory(true).edits).toEqual([]);
  });
});
