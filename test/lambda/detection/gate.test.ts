import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Change, type Sighting, withdrawal } from '../../../lambda/detection/compare.ts';
import {
  concludedGate,
  type GateMemory,
  judge,
  nothingFound,
  type Outlook,
} from '../../../lambda/detection/gate.ts';
import { sightingsOf } from '../../scaffold/sightings.ts';
import { assessment } from '../../support/assessments.ts';

const minute = 60_000;
const hour = 60 * minute;
const settings = { holdAbove: 500, roundMs: 24 * hour };
const start = 1_000 * hour;

const [one] = sightingsOf([assessment()], new Map(), 'salt');
if (one === undefined) throw new Error('it is no change');
const sighting = one;

let ids = 0;
function some(
  kind: Sighting['kind'],
  number: number,
  where: 'page' | 'audit' = 'page',
): Sighting[] {
  return Array.from({ length: number }, () => ({
    ...sighting,
    ...{ kind, id: ++ids, found: { in: where } },
  }));
}

/** A gate with its memory and its clock. It says how many changes of each batch it holds. */
class Gate {
  memory: GateMemory = nothingFound;
  now = start;
  outlook: Omit<Outlook, 'rest'> = { known: 1_000, total: 1_000 };
  readonly settings;

  constructor(changed: Partial<typeof settings> = {}) {
    this.settings = { ...settings, ...changed };
  }

  judge(batch: readonly Change[], rest: readonly Change[] = []) {
    const verdict = judge(this.memory, batch, { ...this.outlook, rest }, this.settings, this.now);
    this.memory = verdict.memory;
    return verdict.held;
  }

  /** Commits the changes that are not held. @returns the number of held ones */
  pass(batch: readonly Change[], rest: readonly Change[] = []): number {
    const held = this.judge(batch, rest);
    this.memory = concludedGate(this.memory, batch, []);
    return held.length;
  }
}

describe('the gate', () => {
  it('lets a limit of changes pass within an hour, over any number of batches', () => {
    const gate = new Gate();
    for (let batch = 0; batch < 5; batch++) {
      expect(gate.pass(some('created', 100))).toBe(0);
      gate.now += minute;
    }
    expect(gate.pass(some('created', 1))).toBe(1);
  });

  it('holds until an hour has found less, and counts held changes', () => {
    const gate = new Gate();
    expect(gate.pass(some('created', 501))).toBe(501);
    gate.now += 50 * minute;
    expect(gate.pass(some('created', 1))).toBe(1);
    gate.now += 20 * minute;
    expect(gate.pass(some('created', 499))).toBe(0);
  });

  it('counts each kind separately', () => {
    const gate = new Gate();
    expect(gate.pass(some('created', 501))).toBe(501);
    expect(gate.pass(some('updated', 500))).toBe(0);
    expect(gate.pass(some('restored', 500))).toBe(0);
    expect(gate.pass(some('updated', 1))).toBe(1);
    expect(gate.pass(some('restored', 1))).toBe(1);
  });

  it('neither holds nor counts withdrawals', () => {
    const gate = new Gate();
    const { id, certified_on, organization_id, assessment_name } = sighting.assessment;
    const gone = withdrawal({
      ...{ id, organization_id, assessment_name, fingerprint: sighting.fingerprint },
      ...{ day: certified_on, revision: 1, presence: 'present' },
    });
    gate.outlook = { known: 1_000, total: 3_000 };
    expect(gate.pass(Array(1_000).fill(gone))).toBe(0);
    expect(gate.memory).toEqual(nothingFound);
  });

  it('raises the limit to 1 % of the certifications known before the hour, up to 5,000', () => {
    const large = new Gate();
    large.outlook = { known: 100_000, total: 100_000 };
    expect(large.pass(some('updated', 1_000))).toBe(0);
    // Certifications found within the hour do not raise it.
    large.outlook = { known: 900_000, total: 900_000 };
    expect(large.pass(some('updated', 1))).toBe(1);

    const huge = new Gate();
    huge.outlook = { known: 1_000_000, total: 1_000_000 };
    expect(huge.pass(some('updated', 5_000))).toBe(0);
    expect(huge.pass(some('updated', 1))).toBe(1);
    const generous = new Gate({ holdAbove: 6_000 });
    generous.outlook = huge.outlook;
    expect(generous.pass(some('updated', 6_000))).toBe(0);
  });

  it('counts the changes that the total still announces, before any passes', () => {
    const gate = new Gate();
    gate.outlook = { known: 1_000, total: 1_503 };
    expect(gate.pass(some('created', 1))).toBe(1);
    expect(gate.pass(some('restored', 1))).toBe(1);
    expect(gate.pass(some('updated', 1))).toBe(0);
  });

  it('counts no change twice that the total announced and a read found', () => {
    const gate = new Gate();
    gate.outlook = { known: 1_000, total: 1_400 };
    expect(gate.pass(some('created', 300))).toBe(0);
    // After a crash, neither the calendar nor the state has them yet.
    expect(gate.pass(some('created', 100))).toBe(0);
    gate.outlook = { known: 1_400, total: 1_500 };
    expect(gate.pass(some('created', 100))).toBe(0);
    gate.outlook = { known: 1_500, total: 1_501 };
    expect(gate.pass(some('created', 1))).toBe(1);
  });

  it("subtracts restored certifications from the total's announcement only once", () => {
    const gate = new Gate();
    gate.outlook = { known: 1_000, total: 1_300 };
    expect(gate.pass(some('restored', 300))).toBe(0);
    gate.outlook = { known: 1_300, total: 1_600 };
    expect(gate.pass(some('created', 300))).toBe(0);
  });

  it('counts changes that were found with a batch before that batch passes', () => {
    const gate = new Gate();
    const later = some('updated', 400);
    expect(gate.pass(some('updated', 101), later)).toBe(101);
    expect(gate.pass(later)).toBe(400);
  });

  it('counts a change once that is found again after a crash, and holds changes beyond the limit', () => {
    const gate = new Gate();
    const found = some('created', 300);
    for (let crash = 0; crash < 20; crash++) {
      expect(gate.judge(found)).toEqual([]);
      gate.now += 5 * minute;
    }
    expect(gate.pass(found)).toBe(0);
    expect(gate.pass(some('created', 201))).toBe(201);
  });

  it('counts a late commit at the time of the commit', () => {
    const gate = new Gate();
    const found = some('created', 400);
    gate.judge(found);
    gate.now += 65 * minute;
    expect(gate.pass(found)).toBe(0);
    gate.now += 15 * minute;
    expect(gate.pass(some('created', 101))).toBe(101);
  });

  it('remembers at most 500 changes that may not have been committed', () => {
    const gate = new Gate();
    gate.outlook = { known: 1_000_000, total: 1_000_000 };
    for (let batch = 0; batch < 4; batch++) gate.judge(some('created', 300));
    expect(gate.memory.unsettled).toHaveLength(500);
  });

  it('does not count changes that ops let pass as a drip of edits', () => {
    const gate = new Gate();
    gate.memory = { ...nothingFound, openUntil: gate.now + hour };
    expect(gate.pass(some('updated', 600, 'audit'))).toBe(0);
    gate.now += 3 * hour;
    expect(gate.pass(some('updated', 1, 'audit'))).toBe(0);
  });

  it('uses the count after a baseline, not the one before it', () => {
    const gate = new Gate();
    gate.outlook = { known: 0, total: 0 };
    expect(gate.pass(some('created', 1))).toBe(0);
    gate.outlook = { known: 2_000, total: 2_001 };
    expect(gate.pass(some('created', 1))).toBe(0);
    gate.outlook = { known: 2_001, total: 2_600 };
    expect(gate.pass(some('created', 1))).toBe(1);
  });

  it('holds nothing while ops let everything pass, and counts the changes', () => {
    const gate = new Gate();
    gate.memory = { ...nothingFound, openUntil: gate.now + hour };
    expect(gate.pass(some('created', 2_000))).toBe(0);
    gate.now += 59 * minute;
    expect(gate.pass(some('updated', 2_000, 'audit'))).toBe(0);
    gate.now += minute;
    expect(gate.pass(some('created', 1))).toBe(1);
    expect(gate.pass(some('updated', 1))).toBe(1);
    expect(gate.memory).not.toHaveProperty('openUntil');
  });

  it('goes on counting when its clock goes back, and counts future changes for at most an hour', () => {
    const gate = new Gate();
    gate.pass(some('created', 400));
    gate.now -= 5 * hour;
    expect(gate.pass(some('created', 101))).toBe(101);
    gate.now += 75 * minute;
    expect(gate.pass(some('created', 500))).toBe(0);
  });
});

describe('edits that audits find little by little', () => {
  it('pass up to the limit within a round of the audits', () => {
    const gate = new Gate();
    let out = 0;
    for (let passed = 0; passed < 24 * 4; passed++) {
      out += 30 - gate.pass(some('updated', 30, 'audit'));
      gate.now += 15 * minute;
    }
    expect(out).toBeGreaterThan(400);
    expect(out).toBeLessThanOrEqual(500);
    expect(gate.pass(some('updated', 100))).toBe(0);
    expect(gate.pass(some('created', 100, 'audit'))).toBe(0);
  });

  it('are not counted if they could not be committed', () => {
    const gate = new Gate({ holdAbove: 20 });
    for (let days = 0; days < 3; days++) {
      const found = some('updated', 15, 'audit');
      for (let tries = 0; tries < 5; tries++) {
        expect(gate.judge(found)).toEqual([]);
        gate.memory = concludedGate(gate.memory, [], found);
      }
      gate.now += 2 * hour;
    }
    const found = some('updated', 20, 'audit');
    expect(gate.pass(found)).toBe(0);
    gate.now += 2 * hour;
    expect(gate.pass(some('updated', 1, 'audit'))).toBe(1);
  });

  it('are counted once when they are found again', () => {
    const gate = new Gate({ holdAbove: 20 });
    const found = some('updated', 15, 'audit');
    for (let crashes = 0; crashes < 10; crashes++) expect(gate.judge(found)).toEqual([]);
    expect(gate.pass(some('updated', 5, 'audit'))).toBe(0);
    gate.now += 2 * hour;
    expect(gate.pass(some('updated', 1, 'audit'))).toBe(1);
  });

  it("occupy little of the gate's memory", () => {
    const gate = new Gate();
    for (let passed = 0; passed < 3 * 24 * 4; passed++) {
      gate.pass(some('updated', 1, 'audit'));
      gate.now += 15 * minute;
    }
    expect(gate.memory.edits.length).toBeLessThanOrEqual(6);
    expect(gate.memory.found.length).toBeLessThanOrEqual(7);
  });
});

/** The number of changes of its kind within the hour up to each change. */
const numbersWithinTheHour = (out: readonly { readonly at: number; readonly kind: string }[]) =>
  out.map((last, index) => {
    const before = out.slice(0, index + 1);
    return before.filter(({ at, kind }) => kind === last.kind && last.at - at < hour).length;
  });

describe('in any order of changes', () => {
  const events = fc.array(
    fc.record({
      minutes: fc.nat({ max: 40 }),
      kind: fc.constantFrom('created' as const, 'updated' as const, 'restored' as const),
      number: fc.integer({ min: 1, max: 30 }),
      where: fc.constantFrom('page' as const, 'audit' as const),
      /** So many are committed before the tick dies. The next tick finds the others again. */
      committed: fc.nat({ max: 30 }),
    }),
    { maxLength: 60 },
  );

  it('no more changes of a kind than the limit pass within an hour, including ticks that die', () => {
    fc.assert(
      fc.property(events, (life) => {
        const gate = new Gate({ holdAbove: 50 });
        const out: { at: number; kind: string }[] = [];
        let left: Sighting[] = [];
        for (const { minutes, kind, number, where, committed } of life) {
          gate.now += minutes * minute;
          const batch = [...left, ...some(kind, number, where)];
          const held = new Set<Change>(gate.judge(batch));
          const done = batch.slice(0, committed).filter((one) => !held.has(one));
          left = batch.slice(committed);
          out.push(...done.map((one) => ({ at: gate.now, kind: one.kind })));
        }
        for (const many of numbersWithinTheHour(out)) expect(many).toBeLessThanOrEqual(50);
      }),
    );
  });

  it('changes are held only after more than the limit within the hour, or of edits within a round', () => {
    fc.assert(
      fc.property(events, (life) => {
        const gate = new Gate({ holdAbove: 50 });
        const found: { at: number; kind: string }[] = [];
        for (const { minutes, kind, number, where } of life) {
          gate.now += minutes * minute;
          const batch = some(kind, number, where);
          const held = gate.pass(batch);
          found.push(...batch.map(() => ({ at: gate.now, kind })));
          const windowMs = kind === 'updated' && where === 'audit' ? 30 * hour : 70 * minute;
          const within = found.filter((one) => one.kind === kind && gate.now - one.at < windowMs);
          if (held > 0) expect(within.length).toBeGreaterThan(50);
        }
      }),
    );
  });
});
