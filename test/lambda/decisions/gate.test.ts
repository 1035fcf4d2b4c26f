import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Change, type Sighting, withdrawal } from '../../../lambda/decisions/compare.ts';
import {
  concludedGate,
  foretoldAfter,
  type GateMemory,
  gateAfterRelease,
  isGateDue,
  judge,
  nothingFound,
  type Outlook,
  stillHolding,
} from '../../../lambda/decisions/gate.ts';
import { sightingsOf } from '../../scaffold/sightings.ts';
import { assessment } from '../../support/assessments.ts';
import { forAll } from '../../support/for-all.ts';

const minute = 60_000;
const hour = 60 * minute;
const settings = { holdAbove: 500, roundMs: 24 * hour };
const start = 1_000 * hour;

const [one] = sightingsOf([assessment()], new Map(), 'salt');
if (one === undefined) throw new Error('it is no change');
const sighting = one;

let ids = 0;
function some(kind: Sighting['kind'], number: number, where: 'page' | 'audit' = 'page') {
  return Array.from({ length: number }, (): Sighting => {
    return { ...sighting, kind, id: ++ids, found: { in: where } };
  });
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

  /** Ops let changes go that were held a moment ago. */
  release(changes: readonly Sighting[], text: string): string {
    const released = changes.map((one) => ({ ...one, at: this.now }));
    this.memory = gateAfterRelease(this.memory, released);
    return text;
  }

  /** Commits the changes that are not held. @returns the number of held ones */
  pass(batch: readonly Change[], rest: readonly Change[] = []): number {
    const held = this.judge(batch, rest);
    this.memory = concludedGate(this.memory, batch, []);
    return held.length;
  }
}

describe('the gate', () => {
  const kinds = ['created', 'updated', 'restored'] as const;
  const step =
    /^(?:(?<minutes>-?\d+) min, )?(?:(?<known>\d+) of (?<total>\d+), )?(?<number>\d+) (?<kind>\w+)(?<end> held| released)?$/;

  it.each([
    // The limit of an hour, over any number of batches.
    ['250 created', '59 min, 250 created', '1 created held'],
    // Until an hour has found less. Held changes count.
    ['501 created held', '50 min, 1 created held', '20 min, 499 created'],
    // Each kind by itself.
    ['501 created held', '500 updated', '500 restored', '1 updated held', '1 restored held'],
    // At least 1 % of the certifications known before the hour, up to 5,000.
    ['100000 of 100000, 1000 updated', '900000 of 900000, 1 updated held'],
    ['1000000 of 1000000, 5000 updated', '1 updated held'],
    // With the changes that the total still announces, before any passes.
    ['1000 of 1503, 1 created held', '1 restored held', '1 updated'],
    // None twice that the total announced and a read found, also if a crash keeps it from the state.
    ['1000 of 1400, 300 created', '100 created', '1400 of 1500, 100 created'],
    ['1000 of 1500, 500 created', '1500 of 1501, 1 created held'],
    ['1000 of 1300, 300 restored', '1300 of 1600, 300 created'],
    // With the count after a baseline, not the one before it.
    ['0 of 0, 1 created', '2000 of 2001, 1 created', '2001 of 2600, 1 created held'],
    // Without those that ops have released, in the piece of each, and never below none.
    ['501 created held', '1 created released', '501 created held', '502 created released'],
    ['501 created held', '501 created released', '500 created', '1 created held'],
    ['501 created held', '15 min, 501 created released', '1 created held'],
    ['400 created', '900 created released', '500 created', '1 created held'],
    // Only counted ones are subtracted.
    ['400 created', '400 doubtful held', '400 doubtful released', '101 created held'],
    // Also when its clock goes back. Future changes count for at most an hour.
    ['400 created', '-300 min, 101 created held', '75 min, 500 created'],
  ])('counts as it should: %s, %s, %s', (...steps) => {
    const gate = new Gate();
    const lived = steps.map((text) => {
      const found = step.exec(text)?.groups;
      if (found === undefined) throw new Error(`no step: ${text}`);
      const { minutes = 0, known, total, number, kind, end: ended } = found;
      gate.now += Number(minutes) * minute;
      if (known && total) gate.outlook = { known: Number(known), total: Number(total) };
      const [changed = 'created'] = kinds.filter((one) => one === kind);
      const doubt = kind === 'doubtful' && { found: { in: 'page', reason: 'baseline' } as const };
      const batch = some(changed, Number(number)).map((one) => ({ ...one, ...doubt }));
      if (ended === ' released') return gate.release(batch, text);
      const passed = gate.pass(batch);
      const end = { 0: '', [Number(number)]: ' held' }[passed] ?? ` held ${passed}`;
      return text.replace(/ held$/, '') + end;
    });
    expect(lived).toEqual(steps);
  });

  it('says of which kinds it holds even one more, and until when', () => {
    const gate = new Gate();
    const seen = () => stillHolding(gate.memory, settings.holdAbove, gate.now);
    gate.pass(some('created', 499));
    expect(seen()).toBeUndefined();
    gate.now += 25 * minute;
    gate.pass([...some('created', 1), ...some('updated', 500)]);
    expect(seen()).toEqual({ kinds: ['created', 'updated'], until: start + 90 * minute });
    gate.now += 50 * minute;
    expect(seen()).toEqual({ kinds: ['updated'], until: start + 90 * minute });
    expect(stillHolding({ ...gate.memory, openUntil: gate.now + hour }, 500, gate.now)).toBe(
      undefined,
    );
  });

  it('neither holds nor counts withdrawals', () => {
    const gate = new Gate();
    const { id, certified_on, organization_id, assessment_name } = sighting.assessment;
    const of = { id, organization_id, assessment_name, fingerprint: sighting.fingerprint };
    const gone = withdrawal({ ...of, day: certified_on, revision: 1, presence: 'present' });
    gate.outlook = { known: 1_000, total: 3_000 };
    expect(gate.pass(Array(1_000).fill(gone))).toBe(0);
    expect(gate.memory).toEqual(nothingFound);
  });

  it('counts changes that were found with a batch before that batch passes', () => {
    const gate = new Gate();
    const later = some('updated', 400);
    expect(gate.pass(some('updated', 101), later)).toBe(101);
    expect(gate.pass(later)).toBe(400);
  });

  it('remembers at most 500 changes that may not have been committed', () => {
    const gate = new Gate();
    gate.outlook = { known: 1_000_000, total: 1_000_000 };
    for (let batch = 0; batch < 4; batch++) gate.judge(some('created', 300));
    expect(gate.memory.unsettled).toHaveLength(500);
  });

  it('holds nothing while ops let everything pass, and counts the changes, but not as a drip', () => {
    const gate = new Gate();
    gate.memory = { ...nothingFound, openUntil: gate.now + hour };
    expect(gate.pass(some('created', 2_000))).toBe(0);
    gate.now += 59 * minute;
    expect(gate.pass(some('updated', 2_000, 'audit'))).toBe(0);
    gate.now += minute;
    expect(gate.pass(some('created', 1))).toBe(1);
    expect(gate.pass(some('updated', 1))).toBe(1);
    expect(gate.memory).not.toHaveProperty('openUntil');
    gate.now += 3 * hour;
    expect(gate.pass(some('updated', 1, 'audit'))).toBe(0);
  });
});

describe('changes that are held for the total alone', () => {
  const withdrawAfter = 10 * minute;
  const found = () => {
    const gate = new Gate({ holdAbove: 5 });
    gate.outlook = { known: 100, total: 120 };
    return gate;
  };
  /** A tick's end. @returns how many leave, and in how many minutes the next look is due */
  const end = (gate: Gate, agrees = true, isInterrupted = false) => {
    const seen = { agrees, isInterrupted };
    const { memory, leaving, look } = foretoldAfter(gate.memory, seen, withdrawAfter, gate.now);
    gate.memory = memory;
    const due = typeof look === 'number' ? (look - gate.now) / minute : look;
    return [leaving.length, due];
  };

  it('leave once each total has agreed for long enough, and count once', () => {
    const gate = found();
    expect(gate.pass(some('created', 2))).toBe(2);
    expect(end(gate, false)).toEqual([0, 'agreement']);
    gate.outlook = { known: 102, total: 102 };
    expect(end(gate)).toEqual([0, 10]);
    gate.now += 9 * minute;
    expect(end(gate, true, true)).toEqual([0, 10]);
    gate.now += 9 * minute;
    expect(end(gate)).toEqual([0, 1]);
    expect(end(gate, false)).toEqual([0, 'agreement']);
    expect(end(gate)).toEqual([0, 10]);
    gate.now += 10 * minute;
    expect(end(gate)).toEqual([2, undefined]);
    expect(end(gate)).toEqual([0, undefined]);
    expect(gate.pass(some('created', 4))).toBe(4);
  });

  it.each<[string, (gate: Gate) => void]>([
    ['one is held by count', (gate) => void gate.pass(some('created', 4))],
    [
      'more than the limit are held',
      (gate) => {
        gate.now += 75 * minute;
        gate.pass(some('created', 2));
        gate.now += 75 * minute;
        gate.pass(some('created', 2));
      },
    ],
    [
      'ops release them',
      (gate) => {
        const released = gate.memory.foretold?.events.map((one) => ({ ...one, at: gate.now }));
        gate.memory = gateAfterRelease(gate.memory, released ?? []);
      },
    ],
  ])('do not leave after %s', (_, spoil) => {
    const gate = found();
    gate.pass(some('created', 2));
    spoil(gate);
    end(gate);
    gate.now += 10 * minute;
    expect(end(gate)).toEqual([0, undefined]);
  });

  it.each([
    ['agreement', true, true],
    ['agreement', false, false],
    [start, false, true],
    [start + 1, true, false],
    [undefined, true, false],
  ] as const)('are looked at when they may leave: %s, agreeing %s', (look, agrees, isDue) => {
    expect(isGateDue(look, agrees, start)).toBe(isDue);
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
      for (let tries = 0; tries < 5; tries++) expect(gate.judge(found)).toEqual([]);
      gate.memory = concludedGate(gate.memory, [], found);
      gate.now += 2 * hour;
    }
    const found = some('updated', 20, 'audit');
    expect(gate.pass(found)).toBe(0);
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

describe('in any order of changes', () => {
  const events = fc.array(
    fc.record({
      minutes: fc.nat({ max: 40 }),
      kind: fc.constantFrom('created', 'updated', 'restored'),
      number: fc.integer({ min: 1, max: 30 }),
      where: fc.constantFrom('page', 'audit'),
      /** So many are committed before the tick dies. The next tick finds the others again. */
      committed: fc.nat({ max: 30 }),
    }),
    { maxLength: 60 },
  );

  it('no more changes of a kind than the limit pass within an hour, including ticks that die', () =>
    forAll(events, (life) => {
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
        for (const one of ['created', 'updated', 'restored']) {
          const within = out.filter(({ at, kind }) => kind === one && gate.now - at < hour);
          expect(within.length).toBeLessThanOrEqual(50);
        }
      }
    }));

  it('changes are held only after more than the limit within the hour, or of edits within a round', () =>
    forAll(events, (life) => {
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
    }));
});
