import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import { scheduledWorld } from '../../../local/partner-sandbox/scheduled-world.ts';

const since = Date.parse('2026-11-01T00:00:00Z');
const options = {
  seed: 1,
  since,
  everySeconds: 120,
  records: 40,
  timeZone: 'America/New_York',
  until: '2026-10-31',
};
const cycleMs = 5 * 120_000;

function begin(seed = 1, everySeconds = options.everySeconds) {
  let now = since;
  const clock = { ...systemClock, now: () => Temporal.Instant.fromEpochMilliseconds(now) };
  const { world, life } = scheduledWorld({ ...options, seed, everySeconds }, clock);
  return {
    world,
    changesUntil: (at: number) => {
      now = at;
      return [...life.changesUntil(at)];
    },
  };
}

it('the timetable gives the same world in each process at the same moment, after any earlier requests', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 5 }),
      fc.array(fc.nat({ max: 12 * cycleMs }), { maxLength: 12 }),
      (seed, moments) => {
        const [often, once] = [begin(seed), begin(seed)];
        const end = since + 12 * cycleMs;
        const seen = [...moments.map((after) => since + after), end].flatMap(often.changesUntil);
        expect(seen).toEqual(once.changesUntil(end));
        expect([...often.world.assessments()]).toEqual([...once.world.assessments()]);
      },
    ),
    { numRuns: 30 },
  );
});

it('the timetable completes, edits, removes and restores each record that is not backdated, in this order', () => {
  const changes = begin().changesUntil(since + 12 * cycleMs);
  const [first] = changes;
  expect(changes.filter(({ id }) => id === first?.id).map(({ kind }) => kind)).toEqual([
    'completed',
    'edited',
    'removed',
    'restored',
  ]);
});

it('the timetable shows each change in its place', () => {
  const { world, changesUntil } = begin();
  const before = world.count;
  for (let at = since; at < since + 12 * cycleMs; at += 120_000) {
    const [known] = changesUntil(at - 1);
    expect(known).toBeUndefined();
    const [change] = changesUntil(at);
    if (change === undefined) continue;
    const { kind, id } = change;
    const isThere = [...world.assessments()].some((one) => one.id === id);
    expect(isThere, `${kind} ${id}`).toBe(kind !== 'removed');
    const today = Temporal.Instant.fromEpochMilliseconds(at)
      .toZonedDateTimeISO(options.timeZone)
      .toPlainDate()
      .toString();
    if (kind === 'backdated') expect(world.get(id)?.certified_on.localeCompare(today)).toBe(-1);
    if (kind === 'completed') expect(world.get(id)?.certified_on).toBe(today);
    expect(change.organizationId).toBe(
      kind === 'edited' ? world.get(id)?.organization_id : undefined,
    );
  }
  // There are two more in each cycle. Four of them are absent for four cycles.
  expect(world.count).toBe(before + 24 - 4);
});

// The notifier takes more than 25 withdrawals in a rolling day for a partner at fault.
it.each([
  ['on AWS, after its first day', 120, 720],
  ['of npm start', 6, 40],
  ['of npm start at ticks of a second', 2, 40],
])('the demo %s has removals and restorations, and never too many in a day', (_, seconds, from) => {
  const dayMs = 86_400_000;
  const firstMs = since + from * seconds * 1_000;
  const changes = begin(1, seconds).changesUntil(firstMs + 2.5 * dayMs);
  const seen = changes.filter(({ at }) => at >= firstMs);
  const removals = seen.filter(({ kind }) => kind === 'removed').map(({ at }) => at);
  const daily = removals.map((end) => removals.filter((at) => at > end - dayMs && at <= end));
  expect(Math.max(...daily.map(({ length }) => length))).toBeLessThanOrEqual(24);
  const lastDay = seen.filter(({ at }) => at > firstMs + 1.5 * dayMs).map(({ kind }) => kind);
  expect(lastDay.filter((kind) => kind === 'removed').length).toBeGreaterThanOrEqual(11);
  expect(lastDay.filter((kind) => kind === 'restored').length).toBeGreaterThanOrEqual(11);
});

it('the demo of npm start has five kinds in five changes for the first minutes', () => {
  const changes = begin(1, 6).changesUntil(since + 95 * 6_000);
  const later = changes.filter(({ at }) => at >= since + 40 * 6_000);
  for (const [index] of later.slice(0, 50).entries())
    expect(new Set(later.slice(index, index + 5).map(({ kind }) => kind)).size).toBe(5);
});
