import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DayEntry } from '../../../lambda/detection/calendar.ts';
import type { Certification } from '../../../lambda/detection/compare.ts';
import {
  asked,
  concludedMissing,
  forgotten,
  isAskedFor,
  looksDue,
  lostOf,
  type Missing,
  mayGo,
  noted,
  nothingMissing,
  sighted,
  type Totals,
  withdrawing,
} from '../../../lambda/detection/missing.ts';

const minute = 60_000;
const hour = 60 * minute;
const withdrawAfter = 10 * minute;
const now = Date.UTC(2026, 10, 21, 12);
const day = '2024-02-29';

const certification = (id: number): Certification => ({
  id,
  day,
  fingerprint: { whole: 'w', fields: {} },
  revision: 1,
  presence: 'present',
  organization_id: 7,
  assessment_name: 'Safety',
});
const totals = (changes: Partial<Totals> = {}): Totals => ({
  known: 1_000,
  missing: 0,
  ...changes,
});
const isSeen =
  (...ids: number[]) =>
  ({ id }: { id: number }) =>
    ids.includes(id);
const proven: DayEntry = {
  count: 5,
  missing: 1,
  readAt: now,
  proof: { kind: 'single-page', at: now, count: 5 },
};

/** The time of the day's next read for its missing certifications. */
const lookDueAt = (entry: DayEntry, notes: Missing['notes'], withdrawAfterMs: number) =>
  looksDue({ ...nothingMissing, notes }, [[day, entry]], withdrawAfterMs)[0]?.at;

describe('the number of withdrawals that are allowed at once', () => {
  it.each([
    [40, 8, true],
    [40, 9, false],
    [6, 2, true],
    [6, 3, false],
    [1, 1, true],
    [1_000, 25, true],
    [1_000, 26, false],
    [10_000, 100, true],
    [10_000, 101, false],
    [1_000_000, 250, true],
    [1_000_000, 251, false],
  ])('of %i known, %i missing may be withdrawn: %s', (known, missing, expected) => {
    expect(mayGo(nothingMissing, { known, missing }, now)).toBe(expected);
  });

  it('includes the withdrawals of the last day', () => {
    const few = withdrawing(nothingMissing, new Set([1, 2, 3]), now);
    expect(mayGo(few, totals({ missing: 22 }), now + hour)).toBe(true);
    expect(mayGo(few, totals({ missing: 23 }), now + hour)).toBe(false);
    expect(mayGo(few, totals({ missing: 25 }), now + 25 * hour)).toBe(true);
  });

  it('is the number that ops accepted and a few more, and accepted ones do not count for the day', () => {
    const accepted: Missing = { ...nothingMissing, accepted: 400 };
    expect(mayGo(accepted, totals({ missing: 425 }), now)).toBe(true);
    expect(mayGo(accepted, totals({ missing: 426 }), now)).toBe(false);
    const rest = withdrawing(accepted, new Set(Array.from({ length: 390 }, (_, id) => id)), now);
    expect(rest).toMatchObject({ accepted: 10, withdrawn: [] });
    const over = withdrawing(rest, new Set(Array.from({ length: 12 }, (_, id) => id)), now);
    expect(over).toMatchObject({ accepted: 0, withdrawn: [{ number: 2 }] });
  });

  it('forgets an acceptance beyond the number of missing ones', () => {
    const accepted: Missing = { ...nothingMissing, accepted: 400 };
    const days = { entries: new Map([[day, proven]]), missing: 3 };
    const kept = concludedMissing(accepted, days, totals({ missing: 3 }), withdrawAfter, now);
    expect(kept?.accepted).toBe(3);
  });

  it('leaves out certifications that their ids still show', () => {
    const shown = asked(noted(nothingMissing, [certification(1)], now), 1, true, now);
    expect(lostOf(shown, totals({ missing: 3 }))).toBe(2);
  });
});

describe('a note of a missing certification', () => {
  const first = noted(nothingMissing, [certification(1), certification(2)], now);

  it('is made at the first look, and not renewed by later ones', () => {
    const again = noted(first, [certification(1), certification(3)], now + minute);
    expect(again.notes.map(({ id, since }) => [id, since])).toEqual([
      [1, now],
      [2, now],
      [3, now + minute],
    ]);
  });

  it('lets a late enough read ask for the certification by its id', () => {
    const [note] = first.notes;
    if (note === undefined) throw new Error('there are two');
    expect(isAskedFor(note, now + withdrawAfter - 1, withdrawAfter)).toBe(false);
    expect(isAskedFor(note, now + withdrawAfter, withdrawAfter)).toBe(true);
    const [asking] = asked(first, 1, false, now + withdrawAfter).notes;
    expect(asking && isAskedFor(asking, now + withdrawAfter + hour - 1, withdrawAfter)).toBe(false);
    expect(asking && isAskedFor(asking, now + withdrawAfter + hour, withdrawAfter)).toBe(true);
  });

  it('is removed by any sighting', () => {
    expect(sighted(first, isSeen(1)).notes.map(({ id }) => id)).toEqual([2]);
    expect(sighted(first, isSeen(9))).toBe(first);
  });

  it('is dropped if too many are missing, unless the id shows the certification', () => {
    const many = forgotten(asked(first, 2, true, now), now + minute);
    expect(many).toMatchObject({ notes: [{ id: 2 }], tooManySince: now + minute });
    expect(forgotten(many, now + hour).tooManySince).toBe(now + minute);
  });

  it('makes room for others once its id shows the certification, and three hundred such notes stay', () => {
    const all = Array.from({ length: 620 }, (_, id) => certification(id));
    let missing = noted(nothingMissing, all, now);
    for (const { id } of missing.notes) missing = asked(missing, id, true, now + id);
    missing = noted(missing, all, now);
    expect(missing.notes).toHaveLength(600);
    for (const { id } of missing.notes) missing = asked(missing, id, true, now + id);
    expect(missing.notes.map(({ id }) => id)).toEqual(
      Array.from({ length: 300 }, (_, n) => 300 + n),
    );
  });

  it('is unchanged after a request without an answer', () => {
    const shown = asked(first, 1, true, now);
    expect(asked(shown, 1, false, now + hour).notes[0]).toMatchObject({
      isShownById: true,
      askedAt: now + hour,
    });
  });

  it('is one of three hundred at most', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(2_000), { maxLength: 700 }), (ids) => {
        const { notes } = noted(first, ids.map(certification), now);
        expect(notes.length).toBeLessThanOrEqual(300);
        expect(new Set(notes.map(({ id }) => id)).size).toBe(notes.length);
      }),
    );
  });
});

describe('the second look at a day', () => {
  const { notes } = noted(nothingMissing, [certification(1)], now);

  it('is due when the certification may be asked for', () => {
    expect(lookDueAt(proven, notes, withdrawAfter)).toBe(now + withdrawAfter);
  });

  it('is due after a first look that noted fewer than are missing', () => {
    expect(lookDueAt(proven, [], withdrawAfter)).toBe(now + withdrawAfter);
    expect(lookDueAt({ ...proven, missing: 0 }, [], withdrawAfter)).toBeUndefined();
  });

  it('waits an hour after an unproven read, and after a failed lookup', () => {
    const { proof: _, ...unproven } = proven;
    expect(lookDueAt(unproven, notes, withdrawAfter)).toBe(now + hour);
    const failed = asked({ ...nothingMissing, notes }, 1, false, now + minute);
    expect(lookDueAt(proven, failed.notes, withdrawAfter)).toBe(now + minute + hour);
  });

  it("is left to the day's audits once the id shows the certification", () => {
    const shown = asked({ ...nothingMissing, notes }, 1, true, now);
    expect(lookDueAt(proven, shown.notes, withdrawAfter)).toBeUndefined();
  });
});

describe("the state's summary of missing certifications", () => {
  const days = (missing: number) => ({ entries: new Map([[day, proven]]), missing });

  it('is absent when nothing is missing', () => {
    expect(concludedMissing(nothingMissing, days(0), totals(), withdrawAfter, now)).toBeUndefined();
  });

  it('has the time of the next look', () => {
    const one = noted(nothingMissing, [certification(1)], now);
    expect(
      concludedMissing(one, days(1), totals({ missing: 1 }), withdrawAfter, now),
    ).toMatchObject({
      total: 1,
      lookAt: now + withdrawAfter,
    });
  });

  it('asks again each hour if too many are missing, first when ops are told', () => {
    const many = totals({ missing: 500 });
    const begun = concludedMissing(nothingMissing, days(500), many, withdrawAfter, now);
    expect(begun).toMatchObject({ tooManySince: now, lookAt: now + withdrawAfter });
    const later = concludedMissing(
      begun ?? nothingMissing,
      days(500),
      many,
      withdrawAfter,
      now + hour,
    );
    expect(later).toMatchObject({ tooManySince: now, lookAt: now + 2 * hour });
  });

  it('keeps the number that ops accepted until nothing is missing', () => {
    const accepted = { ...nothingMissing, accepted: 400 };
    const lost = totals({ missing: 400 });
    expect(concludedMissing(accepted, days(0), lost, withdrawAfter, now)).toMatchObject({
      accepted: 400,
    });
    expect(concludedMissing(accepted, days(0), totals(), withdrawAfter, now)).toBeUndefined();
  });
});
