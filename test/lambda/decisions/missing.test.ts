import { describe, expect, it } from 'vitest';
import type { DayEntry } from '../../../lambda/decisions/calendar.ts';
import type { Certification } from '../../../lambda/decisions/compare.ts';
import {
  asked,
  concludedMissing,
  forgotten,
  isAskedFor,
  isUnanswered,
  looksDue,
  lostOf,
  type Missing,
  mayGo,
  noted,
  nothingMissing,
  sighted,
  type Totals,
  unasked,
  withdrawing,
} from '../../../lambda/decisions/missing.ts';

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
const totals = (changes: Partial<Totals> = {}) => ({ known: 1_000, missing: 0, ...changes });
const isSeen = (id: number) => (one: { id: number }) => one.id === id;
const proven: DayEntry = {
  count: 5,
  missing: 1,
  readAt: now,
  proof: { kind: 'single-page', at: now, count: 5 },
};

describe('the number of withdrawals that are allowed at once', () => {
  const few = withdrawing(nothingMissing, new Set([1, 2, 3]), now);
  const accepted: Missing = { ...nothingMissing, accepted: 400 };
  it.each([
    ['a fifth of a small ledger', nothingMissing, 40, 8, 0],
    ['two of a tiny one', nothingMissing, 6, 2, 0],
    ['25 at least', nothingMissing, 1_000, 25, 0],
    ['a hundredth', nothingMissing, 10_000, 100, 0],
    ['250 at most', nothingMissing, 1_000_000, 250, 0],
    ['with the withdrawals of the last day', few, 1_000, 22, 1],
    ['without those of any other day', few, 1_000, 25, 25],
    ['the number that ops accepted and a few more', accepted, 1_000, 425, 0],
  ])('is %s', (_, memory, known, most, hours) => {
    const at = now + hours * hour;
    expect(mayGo(memory, { known, missing: most }, at)).toBe(true);
    expect(mayGo(memory, { known, missing: most + 1 }, at)).toBe(false);
  });

  it('counts withdrawals for the day only beyond those that ops accepted', () => {
    const idsBelow = (count: number) => new Set(Array.from({ length: count }, (_, id) => id));
    const rest = withdrawing(accepted, idsBelow(390), now);
    expect(rest).toMatchObject({ accepted: 10, withdrawn: [] });
    const over = withdrawing(rest, idsBelow(12), now);
    expect(over).toMatchObject({ accepted: 0, withdrawn: [{ number: 2 }] });
  });

  it('leaves out certifications that their ids still show', () => {
    const shown = asked(noted(nothingMissing, [certification(1)], now), 1, 'shown', now);
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
    const askedFor = (missing: Missing, at: number) =>
      missing.notes.slice(0, 1).map((note) => isAskedFor(note, at, withdrawAfter));
    const due = now + withdrawAfter;
    expect([due - 1, due].map((at) => askedFor(first, at))).toEqual([[false], [true]]);
    const again = asked(first, 1, 'none', due);
    const later = due + hour;
    expect([later - 1, later].map((at) => askedFor(again, at))).toEqual([[false], [true]]);
  });

  it('is removed by any sighting', () => {
    expect(sighted(first, isSeen(1)).notes.map(({ id }) => id)).toEqual([2]);
    expect(sighted(first, isSeen(9))).toBe(first);
  });

  it('is dropped if too many are missing, unless the id shows the certification', () => {
    const many = forgotten(asked(first, 2, 'shown', now), now + minute);
    expect(many).toMatchObject({ notes: [{ id: 2 }], tooManySince: now + minute });
    expect(forgotten(many, now + hour).tooManySince).toBe(now + minute);
  });

  it('makes room for others once its id shows the certification, and three hundred such notes stay', () => {
    const all = Array.from({ length: 620 }, (_, id) => certification(id));
    let missing = noted(nothingMissing, all, now);
    expect(missing.notes).toHaveLength(300);
    for (const { id } of missing.notes) missing = asked(missing, id, 'shown', now + id);
    missing = noted(missing, all, now);
    expect(missing.notes).toHaveLength(600);
    for (const { id } of missing.notes) missing = asked(missing, id, 'shown', now + id);
    expect(missing.notes.map(({ id }) => id)).toEqual(
      Array.from({ length: 300 }, (_, n) => 300 + n),
    );
  });

  it('is unchanged after a request without an answer', () => {
    const [note] = asked(asked(first, 1, 'shown', now), 1, 'none', now + hour).notes;
    expect(note).toMatchObject({ isShownById: true, askedAt: now + hour });
  });
});

describe('a certification whose id cannot be asked for', () => {
  const first = noted(nothingMissing, [certification(1), certification(2)], now);
  const once = unasked(asked(first, 1, 'none', now), new Set([2]), now + minute);
  const again = asked(once, 1, 'none', now + 59 * minute);
  const after = (missing: Missing, ms: number) =>
    missing.notes.filter((note) => isUnanswered(note, now + ms)).map(({ id }) => id);

  it.each([
    ['an hour after the first failure', again, hour, [1]],
    ['no sooner', again, hour - 1, []],
    ['with those that had no turn because of it', again, hour + minute, [1, 2]],
    ['not after an answer', asked(again, 1, 'shown', now + hour), 2 * hour, [2]],
    ['not if it could have been withdrawn', asked(again, 1, 'uncommitted', now), 2 * hour, [2]],
  ])('is told: %s', (_, missing, ms, ids) => {
    expect(after(missing, ms)).toEqual(ids);
    expect(missing.notes.map(({ askedAt }) => askedAt === undefined)).toEqual([false, true]);
  });
});

describe('the second look at a day', () => {
  const { notes } = noted(nothingMissing, [certification(1)], now);
  const { proof: _, ...unproven } = proven;
  const askedFor = (isShown: boolean, at: number) =>
    asked({ ...nothingMissing, notes }, 1, isShown ? 'shown' : 'none', at).notes;

  it.each([
    ['when the certification may be asked for', proven, notes, withdrawAfter],
    ['after a first look that noted fewer than are missing', proven, [], withdrawAfter],
    ['never where none is missing', { ...proven, missing: 0 }, [], undefined],
    ['an hour after an unproven read', unproven, notes, hour],
    ['an hour after a failed lookup', proven, askedFor(false, now + minute), minute + hour],
    ['with the audits once the id shows the certification', proven, askedFor(true, now), undefined],
  ])('is due %s', (_, entry, notes, after) => {
    const [due] = looksDue({ ...nothingMissing, notes }, [[day, entry]], withdrawAfter);
    expect(due?.at).toBe(after === undefined ? undefined : now + after);
  });
});

describe("the state's summary of missing certifications", () => {
  const accepted = { ...nothingMissing, accepted: 400 };
  const tooMany = { ...nothingMissing, tooManySince: now };
  const one = noted(nothingMissing, [certification(1)], now);
  const lookAt = now + withdrawAfter;

  it.each([
    ['is absent when nothing is missing', nothingMissing, 0, 0, now, undefined],
    ['has the time of the next look', one, 1, 1, now, { total: 1, lookAt }],
    ['asks when ops are told', nothingMissing, 500, 500, now, { tooManySince: now, lookAt }],
    ['asks again each hour', tooMany, 500, 500, now + hour, { lookAt: now + 2 * hour }],
    ['keeps the number that ops accepted', accepted, 0, 400, now, { accepted: 400 }],
    ['keeps no more of it than are missing', accepted, 3, 3, now, { accepted: 3 }],
    ['forgets it when nothing is missing', accepted, 0, 0, now, undefined],
  ] as const)('%s', (_, memory, ofDays, missing, at, expected) => {
    const days = { entries: new Map([[day, proven]]), missing: ofDays };
    const summary = concludedMissing(memory, days, totals({ missing }), withdrawAfter, at);
    if (expected === undefined) expect(summary).toBeUndefined();
    else expect(summary).toMatchObject(expected);
  });
});
