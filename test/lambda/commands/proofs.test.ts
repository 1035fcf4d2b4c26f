import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import { proofOverview, proofsOf } from '../../../lambda/commands/proofs.ts';
import type { DayEntry } from '../../../lambda/decisions/calendar.ts';

const entryOf = (readAt: number, isProven = true): DayEntry => ({
  count: 1,
  readAt,
  ...(isProven && { proof: { kind: 'single-page', at: readAt, count: 1 } }),
});
const presentAt = (now: string, timeZone = 'UTC') => ({
  now: Temporal.Instant.from(now),
  timeZone,
});

it('each day is proven, open or unproven by its own entry, or by its neighbours on both sides', () => {
  const [noon, seven, eight] = ['16T12', '21T07', '21T08'].map((at) => `2026-11-${at}:00:00Z`);
  const ms = (at = '') => Date.parse(at);
  const calendar = new Map<string, DayEntry>([
    ['2026-11-10', entryOf(ms(seven))],
    ['2026-11-12', { count: -1, readAt: 0, digest: 'old' }],
    ['2026-11-14', { ...entryOf(1, false), unprovenSince: ms(noon) }],
    ['2026-11-16', entryOf(ms(noon))],
    ['2026-11-20', { ...entryOf(ms(seven)), count: 5, digest: 'new', askedAt: ms(eight) }],
    ['2026-11-21', entryOf(ms(seven))],
  ]);
  const [at16, at21] = [noon, seven].map((at) => ({ kind: 'single-page', at }));
  const neighbour = (day: number) => ({ cause: 'neighbour', neighbour: `2026-11-${day}` });
  const [proven, unproven] = [{ state: 'proven' }, { state: 'unproven' }];
  const expected: Record<number, object> = {
    9: { ...proven, count: 0, proof: at21, readWith: '2026-11-10' },
    10: { ...proven, count: 1, proof: at21 },
    11: { ...unproven, count: 0, readWith: '2026-11-12', ...neighbour(12) },
    12: { ...unproven, count: 0, cause: 'never-read' },
    13: { ...unproven, count: 0, readWith: '2026-11-14', ...neighbour(12) },
    14: { ...unproven, count: 1, unprovenSince: noon, cause: 'without-proof' },
    15: { ...unproven, count: 0, readWith: '2026-11-16', ...neighbour(14) },
    16: { ...unproven, count: 1, proof: at16, cause: 'before-its-end' },
    17: { ...unproven, count: 0, cause: 'before-its-end' },
    20: { ...proven, count: 1, since: 4, proof: at21, digest: 'new', askedAt: eight },
    21: { state: 'open', count: 1, proof: at21 },
    22: { state: 'not-yet', count: 0 },
  };
  for (const [number, told] of Object.entries(expected)) {
    const day = `2026-11-${number.padStart(2, '0')}`;
    const proofs = proofsOf(calendar, { from: day, to: day }, presentAt(eight ?? ''));
    expect(proofs).toEqual([{ day, ...told }]);
  }
  const { oldestProof } = proofOverview(calendar, presentAt(eight ?? ''));
  expect(oldestProof).toEqual({ day: '2026-11-16', at: noon });
});

it.each(['Pacific/Kiritimati', 'Etc/GMT+12', 'America/New_York'])(
  'unproven days are counted as on the certificate, for any times of reads: %s',
  (timeZone) => {
    const begin = Date.parse('2026-03-01T00:00:00Z');
    const present = presentAt('2026-03-30T11:30:00Z', timeZone);
    const hours = (most: number) => fc.integer({ min: 0, max: most });
    const read = fc.record({ day: hours(25), at: fc.option(hours(710)) });
    fc.assert(
      fc.property(fc.array(read, { minLength: 1 }), (reads) => {
        const calendar = new Map(
          reads.map(({ day, at }) => [
            `2026-03-${String(day + 1).padStart(2, '0')}`,
            entryOf(begin + (at ?? 0) * 3_600_000, at !== null),
          ]),
        );
        const to = present.now.toZonedDateTimeISO(timeZone).toPlainDate().toString();
        const from = [...calendar.keys()].sort()[0] ?? to;
        const certified = proofsOf(calendar, { from, to }, present)
          .filter(({ state }) => state === 'unproven')
          .map(({ day }) => day);
        const { unproven } = proofOverview(calendar, present);
        expect(unproven).toEqual({ days: certified.length, first: certified.slice(0, 20) });
      }),
    );
  },
);

it('unproven days are counted at once, even with a certification of the year 1', () => {
  const at = Date.parse('2026-02-09T00:00:00Z');
  const ofYearOne = (isProven: boolean) => {
    const known = { '0001-01-01': entryOf(at, isProven), '2026-02-01': entryOf(at) };
    return proofOverview(new Map(Object.entries(known)), presentAt('2026-02-10T08:00:00Z'));
  };
  const begun = performance.now();
  expect(ofYearOne(true).unproven).toEqual({ days: 1, first: ['2026-02-09'] });
  const { unproven } = ofYearOne(false);
  expect(unproven.days).toBe(739_647 + 1);
  expect(unproven.first.slice(0, 2)).toEqual(['0001-01-01', '0001-01-02']);
  expect(performance.now() - begun).toBeLessThan(1_000);
});
