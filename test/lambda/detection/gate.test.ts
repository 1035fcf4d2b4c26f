import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Change, type Sighting, withdrawal } from '../../../lambda/detection/compare.ts';
import {
  concluded,
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

/** A gate that lives through what comes to it, and says how many of each batch it holds. */
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

  /** Whatever is not held is committed. @returns how many are held */
  pass(batch: readonly Change[], rest: readonly Change[] = []): number {
    const held = this.judge(batch, rest);
    this.memory = concluded(this.memory, batch, []);
    return held.length;
  }
}

describe('the gate', () => {
  it('lets a limit of changes go within an hour, whatever number of batches they come in', () => {
    const gate = new Gate();
    for (let batch = 0; batch < 5; batch++) {
      expect(gate.pass(some('created', 100))).toBe(0);
      gate.now += minute;
    }
    expect(gate.pass(some('created', 1))).toBe(1);
  });

  it('holds until an hour has found less, and counts what it holds', () => {
    const gate = new Gate();
    expect(gate.pass(some('created', 501))).toBe(501);
    gate.now += 50 * minute;
    expect(gate.pass(some('created', 1))).toBe(1);
    gate.now += 20 * minute;
    expect(gate.pass(some('created', 499))).toBe(0);
  });

  it('counts each kind by itself', () => {
    const gate = new Gate();
    expect(gate.pass(some('created', 501))).toBe(501);
    expect(gate.pass(some('updated', 500))).toBe(0);
    expect(gate.pass(some('restored', 500))).toBe(0);
    expect(gate.pass(some('updated', 1))).toBe(1);
    expect(gate.pass(some('restored', 1))).toBe(1);
  });

  it('never holds withdrawals, nor counts them', () => {
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

  it('lets 1 % of what was known before the hour go where that is more, up to 5,000', () => {
    const large = new Gate();
    large.outlook = { known: 100_000, total: 100_000 };
    expect(large.pass(some('updated', 1_000))).toBe(0);
    // What has come within the hour does not raise it.
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

  it('counts what is still to come by the total, before anything goes', () => {
    const gate = new Gate();
    gate.outlook = { known: 1_000, total: 1_503 };
    expect(gate.pass(some('created', 1))).toBe(1);
    expect(gate.pass(some('restored', 1))).toBe(1);
    expect(gate.pass(some('updated', 1))).toBe(0);
  });

  it('counts nothing twice that the total has shown and that was found since', () => {
    const gate = new Gate();
    gate.outlook = { known: 1_000, total: 1_400 };
    expect(gate.pass(some('created', 300))).toBe(0);
    // A crash, and neither the calendar nor the state has them yet.
    expect(gate.pass(some('created', 100))).toBe(0);
    gate.outlook = { known: 1_400, total: 1_500 };
    expect(gate.pass(some('created', 100))).toBe(0);
    gate.outlook = { known: 1_500, total: 1_501 };
    expect(gate.pass(some('created', 1))).toBe(1);
  });

  it('takes what has come back of the total for one kind only once', () => {
    const gate = new Gate();
    gate.outlook = { known: 1_000, total: 1_300 };
    expect(gate.pass(some('restored', 300))).toBe(0);
    gate.outlook = { known: 1_300, total: 1_600 };
    expect(gate.pass(some('created', 300))).toBe(0);
  });

  it('counts what was found together with a batch before that goes', () => {
    const gate = new Gate();
    const later = some('updated', 400);
    expect(gate.pass(some('updated', 101), later)).toBe(101);
    expect(gate.pass(later)).toBe(400);
  });

  it('counts once what is found again after a crash, and holds what is beyond the limit', () => {
    const gate = new Gate();
    const found = some('created', 300);
    for (let crash = 0; crash < 20; crash++) {
      expect(gate.judge(found)).toEqual([]);
      gate.now += 5 * minute;
    }
    expect(gate.pass(found)).toBe(0);
    expect(gate.pass(some('created', 201))).toBe(201);
  });

  it('counts what is committed at last as of then', () => {
    const gate = new Gate();
    const found = some('created', 400);
    gate.judge(found);
    gate.now += 65 * minute;
    expect(gate.pass(found)).toBe(0);
    gate.now += 15 * minute;
    expect(gate.pass(some('created', 101))).toBe(101);
  });

  it('remembers no more than 500 of those that may not have been committed', () => {
    const gate = new Gate();
    gate.outlook = { known: 1_000_000, total: 1_000_000 };
    for (let batch = 0; batch < 4; batch++) gate.judge(some('created', 300));
    expect(gate.memory.unsettled).toHaveLength(500);
  });

  it('takes what ops let through for no drip of edits', () => {
    const gate = new Gate();
    gate.memory = { ...nothingFound, openUntil: gate.now + hour };
    expect(gate.pass(some('updated', 600, 'audit'))).toBe(0);
    gate.now += 3 * hour;
    expect(gate.pass(some('updated', 1, 'audit'))).toBe(0);
  });

  it('knows after a baseline what was not known before it', () => {
    const gate = new Gate();
    gate.outlook = { known: 0, total: 0 };
    expect(gate.pass(some('created', 1))).toBe(0);
    gate.outlook = { known: 2_000, total: 2_001 };
    expect(gate.pass(some('created', 1))).toBe(0);
    gate.outlook = { known: 2_001, total: 2_600 };
    expect(gate.pass(some('created', 1))).toBe(1);
  });

  it('holds nothing while ops let everything through, and counts it', () => {
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

  it('goes on counting when its clock goes back, and holds for an hour at most what was ahead', () => {
    const gate = new Gate();
    gate.pass(some('created', 400));
    gate.now -= 5 * hour;
    expect(gate.pass(some('created', 101))).toBe(101);
    gate.now += 75 * minute;
    expect(gate.pass(some('created', 500))).toBe(0);
  });
});

describe('edits that days bring to light little by little', () => {
  it('go out up to the limit within a round of the audits', () => {
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

  it('are not counted when they could not be committed', () => {
    const gate = new Gate({ holdAbove: 20 });
    for (let days = 0; days < 3; days++) {
      const found = some('updated', 15, 'audit');
      for (let tries = 0; tries < 5; tries++) {
        expect(gate.judge(found)).toEqual([]);
        gate.memory = concluded(gate.memory, [], found);
      }
      gate.now += 2 * hour;
    }
    const found = some('updated', 20, 'audit');
    expect(gate.pass(found)).toBe(0);
    gate.now += 2 * hour;
    expect(gate.pass(some('updated', 1, 'audit'))).toBe(1);
  });

  it('count once when they are found again', () => {
    const gate = new Gate({ holdAbove: 20 });
    const found = some('updated', 15, 'audit');
    for (let crashes = 0; crashes < 10; crashes++) expect(gate.judge(found)).toEqual([]);
    expect(gate.pass(some('updated', 5, 'audit'))).toBe(0);
    gate.now += 2 * hour;
    expect(gate.pass(some('updated', 1, 'audit'))).toBe(1);
  });

  it('leave little behind', () => {
    const gate = new Gate();
    for (let passed = 0; passed < 3 * 24 * 4; passed++) {
      gate.pass(some('updated', 1, 'audit'));
      gate.now += 15 * minute;
    }
    expect(gate.memory.edits.length).toBeLessThanOrEqual(6);
    expect(gate.memory.found.length).toBeLessThanOrEqual(7);
  });
});

/** Up to each, of its kind. */
const numbersWithinTheHour = (out: readonly { readonly at: number; readonly kind: string }[]) =>
  out.map((last, index) => {
    const before = out.slice(0, index + 1);
    return before.filter(({ at, kind }) => kind === last.kind && last.at - at < hour).length;
  });

describe('whatever comes', () => {
  const events = fc.array(
    fc.record({
      minutes: fc.nat({ max: 40 }),
      kind: fc.constantFrom('created' as const, 'updated' as const, 'restored' as const),
      number: fc.integer({ min: 1, max: 30 }),
      where: fc.constantFrom('page' as const, 'audit' as const),
      /** So many are committed before the tick dies; the others are found again. */
      committed: fc.nat({ max: 30 }),
    }),
    { maxLength: 60 },
  );

  it('no hour lets more of a kind go than the limit, deaths included', () => {
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

  it('is held only where more than the limit was found within the hour, or edits within a round', () => {
    fc.assert(
      fc.property(events, (life) => {
        const gate = new Gate({ holdAbove: 50 });
        const found: { at: number; kind: string }[] = [];
        for (const { minutes, kind, number, where } of life) {
          gate.now += minutes * minute;
          const batch = some(kind, number, where);
          const held = gate.pass(batch);
          found.push(...batch.map(() => ({ at: gate.now, kind })));
          const span = kind === 'updated' && where === 'audit' ? 30 * hour : 70 * minute;
          const within = found.filter((one) => one.kind === kind && gate.now - one.at < span);
          if (held > 0) expect(within.length).toBeGreaterThan(50);
        }
      }),
    );
  });
});
