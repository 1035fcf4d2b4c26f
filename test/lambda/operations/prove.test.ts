import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import type { DayEntry } from '../../../lambda/detection/calendar.ts';
import { contract } from '../../../lambda/operations/contract.ts';
import { proofOverview, proofsOf } from '../../../lambda/operations/proofs.ts';
import { noLease } from '../../../lambda/ports/state.ts';
import type { Tone } from '../../../ops/render/layout.ts';
import { countedCertificate, proveCsv, proveLines } from '../../../ops/render/prove.ts';
import { type DynamoDbLedgers, ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';

const database = ledgersInDynamoDb();
let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

const on = (certified_on: string, id: number, more = {}) =>
  assessment({ id, certified_on, ...more });
const range = { from: '2026-11-01', to: '2026-11-21' };

async function proven(command: object = {}, seconds?: number) {
  const answer = await story.operate({ command: 'prove', ...range, ...command }, seconds);
  expect(answer).toMatchObject({ ok: true });
  return countedCertificate(contract.prove.result.parse(answer.result));
}

describe('the certificate', () => {
  const begin = async (ledgers?: DynamoDbLedgers) => {
    story = new IntegrationWithPast(ledgers);
    story.world = [on('2026-11-05', 1), on('2026-11-05', 2), on('2026-11-12', 3)];
    await story.settle();
  };
  beforeEach(() => begin());

  it('has each day with its proof, time, count and digest', async () => {
    const { days, proven: all, open, unproven, certifications } = await proven();
    expect(days).toHaveLength(21);
    expect([all, open, unproven, certifications]).toEqual([20, 1, 0, 3]);
    expect(days.find(({ day }) => day === '2026-11-05')).toEqual({
      day: '2026-11-05',
      state: 'proven',
      count: 2,
      proof: { kind: 'single-page', at: '2026-11-21T08:00:00Z' },
      digest: expect.any(String),
    });
    expect(days.find(({ day }) => day === '2026-11-07')).toEqual({
      day: '2026-11-07',
      state: 'proven',
      count: 0,
      proof: { kind: 'single-page', at: '2026-11-21T08:00:00Z' },
      readWith: '2026-11-12',
    });
  });

  it('has the count of the proof, and counts later certifications separately', async () => {
    const ofDay = async () => (await proven()).days.find(({ day }) => day === '2026-11-12');
    const before = await ofDay();
    story.world = [...story.world, on('2026-11-12', 4)];
    story.clock.advance({ minutes: 1 });
    await story.tick();
    expect(await ofDay()).toEqual({ ...before, count: 1, since: 1 });
    expect((await proven()).certifications).toBe(4);
  });

  it('calls today proven so far, and future days not yet', async () => {
    const { days, ...sums } = await proven({ from: '2026-11-20', to: '2026-11-23' });
    expect(sums).toMatchObject({ proven: 1, open: 1, unproven: 0, notYet: 2 });
    expect(days.map(({ day, state, proof }) => [day, state, proof?.at])).toEqual([
      ['2026-11-20', 'proven', '2026-11-21T08:00:00Z'],
      ['2026-11-21', 'open', '2026-11-21T08:00:00Z'],
      ['2026-11-22', 'not-yet', undefined],
      ['2026-11-23', 'not-yet', undefined],
    ]);
    expect(await proven({ from: '2099-01-01', to: '2099-12-31', now: true })).toMatchObject({
      proven: 0,
      unproven: 0,
      notYet: 365,
    });
  });

  it('calls a day complete only by a read that began after it', async () => {
    const states = async () => {
      const { days } = await proven({ from: '2026-11-20', to: '2026-11-23' });
      return days.map(({ state, proof }) => [state, proof !== undefined].join());
    };
    story.clock.advance({ hours: 39, minutes: 59, seconds: 57 });
    // The pulse is answered a second before midnight, and the reads after it at midnight.
    story.requestSeconds = 1;
    await story.tick();
    story.requestSeconds = 0;
    expect(await states()).toEqual(['proven,true', 'proven,true', 'unproven,true', 'open,false']);
    story.clock.advance({ minutes: 15 });
    await story.tick();
    expect(new Set(await states())).toEqual(new Set(['proven,true', 'open,true']));
  });

  it('is refused for days in the wrong order', async () => {
    const wrong = { from: '2026-11-02', to: '2026-11-01' };
    expect(await story.operate({ command: 'prove', ...wrong })).toMatchObject({
      ok: false,
      problem: {
        code: 'command-invalid',
        message: expect.stringContaining('`from` must not be after `to`'),
      },
    });
  });

  it('is refused for more days than a person can read', async () => {
    const endless = { from: '1999-12-31', to: '2029-01-01' };
    expect(await story.operate({ command: 'prove', ...endless })).toMatchObject({
      ok: false,
      problem: {
        code: 'command-invalid',
        message: 'This is not a command: `from` and `to` must be within 30 calendar years.',
      },
    });
  });

  it('has thirty years in one answer', async () => {
    const { days, next } = await proven({ from: '2000-01-01', to: '2029-12-31' });
    expect(days).toHaveLength(30 * 365 + 8);
    expect(next).toBeUndefined();
  });

  it('sends no request and changes nothing', async () => {
    await begin(database);
    const before = await story.items();
    await proven();
    expect(story.requests).toEqual([]);
    expect(await story.items()).toEqual(before);
  });

  it('does not call unproven days proven', async () => {
    story.host.hidden.add(3);
    story.clock.advance({ hours: 25 });
    for (let ticks = 0; ticks < 3; ticks += 1) {
      await story.tick();
      story.clock.advance({ minutes: 1 });
    }
    const { days } = await proven();
    const unproven = days.filter(({ proof }) => proof === undefined).map(({ day }) => day);
    expect(unproven).toContain('2026-11-12');
    expect(unproven).toContain('2026-11-07');
  });
});

describe('proving now', () => {
  beforeEach(async () => {
    story.world = [on('2026-11-05', 1), on('2026-11-05', 2), on('2026-11-12', 3)];
    await story.settle();
    story.clock.advance({ minutes: 30 });
    await story.tick();
    story.clock.advance({ minutes: 1 });
  });

  it('reads all days of the range again, and announces the differences', async () => {
    story.host.edit(1, { email: 'b@example.org' });
    const { days, found, toRead } = await proven({ now: true });
    expect(toRead).toBe(0);
    expect(found).toEqual({ created: 0, updated: 1, withdrawn: 0, restored: 0 });
    for (const { proof } of days) expect(proof?.at).toBe('2026-11-21T08:31:00Z');
    expect(story.heard.map(({ id }) => id)).toEqual([`${story.name}/1/2`]);
  });

  it('leaves the other days as they were', async () => {
    await proven({ now: true, from: '2026-11-10', to: '2026-11-12' });
    const { days } = await proven();
    const at = (day: string) => days.find((one) => one.day === day)?.proof?.at;
    expect(at('2026-11-05')).toBe('2026-11-21T08:30:00Z');
    expect(at('2026-11-12')).toBe('2026-11-21T08:31:00Z');
  });

  it('continues over several calls if one does not suffice', async () => {
    story.world = Array.from({ length: 300 }, (_, index) =>
      on(index < 150 ? '2026-11-05' : '2026-11-12', index + 1),
    );
    story.clock.advance({ minutes: 30 });
    for (let ticks = 0; ticks < 3; ticks += 1) await story.tick();
    story.requestSeconds = 20;
    let calls = 0;
    let last = await proven({ now: true });
    for (; last.next !== undefined; calls += 1) last = await proven(last.next);
    expect(calls).toBeGreaterThan(0);
    expect(last.toRead).toBe(0);
    expect(last.days).toHaveLength(21);
    expect(last.unproven).toBe(0);
  });

  it('is done by scheduled ticks if nobody sends the next call', async () => {
    story.requestSeconds = 20;
    const askedAt = story.clock.now().toString();
    const { next } = await proven({ now: true });
    expect(next).toBeDefined();
    const asked = async () => (await proven()).days.filter(({ askedAt }) => askedAt !== undefined);
    expect((await asked()).at(0)).toMatchObject({ askedAt });
    story.requestSeconds = 0;
    for (let ticks = 0; ticks < 3; ticks += 1) {
      story.clock.advance({ minutes: 1 });
      await story.tick();
    }
    expect(await proven(next)).toMatchObject({ toRead: 0, unproven: 0 });
    expect(await asked()).toEqual([]);
  });

  it('reads again also if no tick has come since midnight', async () => {
    story.clock.advance({ hours: 24 });
    story.world = [...story.world, on('2026-11-22', 4)];
    const today = { from: '2026-11-22', to: '2026-11-22', now: true };
    const { days, found } = await proven(today);
    expect(found).toMatchObject({ created: 1 });
    expect(days).toMatchObject([{ state: 'open', proof: { at: '2026-11-22T08:31:00Z' } }]);
  });

  it('reads the days after the last entry again for a future range', async () => {
    story.requests.length = 0;
    const { found } = await proven({ from: '2027-01-01', to: '2027-01-02', now: true });
    expect(story.requests).toContain('prove 2026-11-21..undefined');
    expect(found).toMatchObject({ created: 0 });
  });

  it('reads a day without an entry together with the next entry, and no day after it', async () => {
    story.requests.length = 0;
    await proven({ from: '2026-11-07', to: '2026-11-08', now: true });
    expect(story.requests).toEqual(['pulse', 'prove 2026-11-06..2026-11-12']);
  });

  it('reports finds only if it has read', async () => {
    story.requestSeconds = 20;
    const { next } = await proven({ now: true });
    story.requestSeconds = 0;
    for (let ticks = 0; ticks < 3; ticks += 1) {
      story.clock.advance({ minutes: 1 });
      await story.tick();
    }
    expect(await proven(next)).not.toHaveProperty('found');
  });

  it('does not wait until audits have made up for a long read', async () => {
    const now = story.clock.now();
    const lease = { owner: 'a tick', until: now.add({ minutes: 1 }) };
    await story.ledger.takeLease(lease, now);
    const auditsFrom = now.add({ minutes: 30 }).epochMilliseconds;
    await story.ledger.saveState({ dirtySince: undefined, auditsFrom, ...noLease }, lease);
    expect(await proven({ now: true })).toMatchObject({ toRead: 0, unproven: 0 });
  });

  it.each([
    ['paused', () => story.operate({ command: 'pause', reason: 'a reason' })],
    [
      'backing-off',
      () =>
        story.ledger.saveState({
          backOff: { until: story.clock.now().add({ minutes: 4 }), failures: 2 },
        }),
    ],
    [
      'baseline-running',
      async () => {
        await story.operate({ command: 'restart-baseline' });
        story.requestSeconds = 20;
      },
    ],
  ])('says that it is %s if that has begun in between', async (code, hinder) => {
    story.beforeTick = hinder;
    const answer = await story.operate({ command: 'prove', ...range, now: true });
    expect(answer).toMatchObject({ ok: false, problem: { code } });
    expect(answer.result).not.toHaveProperty('found');
  });

  it.each([
    ['paused', () => story.operate({ command: 'pause', reason: 'a reason' })],
    [
      'backing-off',
      () =>
        story.ledger.saveState({
          backOff: { until: story.clock.now().add({ minutes: 4 }), failures: 2 },
        }),
    ],
    ['baseline-running', () => story.operate({ command: 'restart-baseline' })],
  ])('is refused while it is %s, and makes no day due', async (code, hinder) => {
    await hinder();
    const answer = await story.operate({ command: 'prove', ...range, now: true });
    expect(answer).toMatchObject({ ok: false, problem: { code } });
    const calendar = await story.ledger.calendar([2026]);
    for (const { readAt } of calendar.values()) expect(readAt).toBeGreaterThan(0);
  });
});

const entryOf = (readAt: number, isProven: boolean): DayEntry => ({
  count: 1,
  readAt,
  ...(isProven && { proof: { kind: 'single-page', at: readAt, count: 1 } }),
});

/** The day's own entry decides. Without one, the nearest entries before and after it do. */
function mayBeProven(day: string, calendar: ReadonlyMap<string, DayEntry>): boolean {
  const sorted = [...calendar.keys()].sort();
  const besides = [sorted.findLast((one) => one < day), sorted.find((one) => one > day)];
  const deciding = (calendar.has(day) ? [day] : besides).filter((one) => one !== undefined);
  return deciding.length > 0 && deciding.every((one) => calendar.get(one)?.proof);
}

describe('proofs of days', () => {
  const from = Temporal.PlainDate.from('2026-01-01');
  const days = Array.from({ length: 31 }, (_, days) => from.add({ days }).toString());

  it('never call a day proven that has an unproven neighbour', () => {
    const later = Temporal.Instant.from('2026-03-01T00:00:00Z').epochMilliseconds;
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ day: fc.constantFrom(...days), proven: fc.boolean() }), {
          selector: ({ day }) => day,
        }),
        (known) => {
          const calendar = new Map(
            known.map(({ day, proven }, index) => [day, entryOf(later + index, proven)]),
          );

          const range = { from: '2025-12-25', to: '2026-02-05' };
          const present = { now: Temporal.Instant.from('2026-11-21T08:00:00Z'), timeZone: 'UTC' };
          for (const { day, state, proof, count } of proofsOf(calendar, range, present)) {
            const isProven = mayBeProven(day, calendar);
            expect(count).toBe(Number(calendar.has(day)));
            expect(proof !== undefined).toBe(isProven);
            expect(state).toBe(isProven ? 'proven' : 'unproven');
          }
        },
      ),
    );
  });

  it('are the same on each screen: each unproven day has its row, its line and its cause, and status counts them all', () => {
    const read = Temporal.Instant.from('2026-01-20T00:00:00Z').epochMilliseconds;
    const now = Temporal.Instant.from('2026-02-10T08:00:00Z');
    const present = { now, timeZone: 'America/New_York' };
    const state = fc.constantFrom('none', 'never-read', 'without-proof', 'early', 'proven');
    fc.assert(
      fc.property(fc.array(state, { minLength: 31, maxLength: 31 }), (states) => {
        const calendar = new Map(
          days.flatMap((day, index): [string, DayEntry][] => {
            const is = states[index];
            if (is === 'none') return [];
            if (is === 'never-read') return [[day, { count: 0, readAt: 0 }]];
            return [
              [day, entryOf(is === 'early' ? read : now.epochMilliseconds, is !== 'without-proof')],
            ];
          }),
        );
        const { unproven } = proofOverview(calendar, present);
        const [from] = [...calendar.keys()];
        if (from === undefined) return expect(unproven.days).toBe(0);
        const certificate = countedCertificate({
          days: proofsOf(calendar, { from, to: '2026-02-10' }, present),
          toRead: 0,
        });
        const ofPeople = { now, zone: 'UTC', paint: (_: Tone, text: string) => text };
        const table = proveLines(ofPeople, certificate)
          .slice(0, -2)
          .flatMap((line) => {
            const [, first = '', last = first] =
              /^(\S+)(?: to (\S+))? .* unproven(?:, as \S+ is|: (?:never read|read without a proof|read before its end))/.exec(
                line,
              ) ?? [];
            return first === ''
              ? []
              : certificate.days.filter(({ day }) => day >= first && day <= last);
          });
        const csv = proveCsv(certificate).filter((line) =>
          /,unproven,.*,(never-read|without-proof|before-its-end|neighbour),\S*$/.test(line),
        );
        const certified = certificate.days
          .filter(({ state }) => state === 'unproven')
          .map(({ day }) => day);
        expect(table.map(({ day }) => day)).toEqual(certified);
        expect(csv.map((line) => line.slice(0, 10))).toEqual(certified);
        expect(unproven).toEqual({ days: certified.length, first: certified.slice(0, 20) });
      }),
    );
  });

  it.each(['Pacific/Kiritimati', 'Etc/GMT+12', 'America/New_York'])(
    'are counted as on the certificate, for any times of reads: %s',
    (timeZone) => {
      const begin = Date.parse('2026-03-01T00:00:00Z');
      const now = Temporal.Instant.from('2026-03-20T11:30:00Z');
      const hours = (most: number) => fc.integer({ min: 0, max: most });
      const read = fc.record({ day: hours(25), at: fc.option(hours(470)) });
      fc.assert(
        fc.property(fc.array(read, { minLength: 1 }), (reads) => {
          const calendar = new Map(
            reads.map(({ day, at }) => [
              `2026-03-${String(day + 1).padStart(2, '0')}`,
              entryOf(begin + (at ?? 0) * 3_600_000, at !== null),
            ]),
          );
          const present = { now, timeZone };
          const to = now.toZonedDateTimeISO(timeZone).toPlainDate().toString();
          const from = [...calendar.keys()].sort()[0] ?? to;
          const certified = (from > to ? [] : proofsOf(calendar, { from, to }, present))
            .filter(({ state }) => state === 'unproven')
            .map(({ day }) => day);
          const { unproven } = proofOverview(calendar, present);
          expect(unproven).toEqual({ days: certified.length, first: certified.slice(0, 20) });
        }),
      );
    },
  );

  it('are counted at once, even with a certification of the year 1', () => {
    const at = Temporal.Instant.from('2026-02-09T00:00:00Z').epochMilliseconds;
    const present = { now: Temporal.Instant.from('2026-02-10T08:00:00Z'), timeZone: 'UTC' };
    const ofYearOne = (isProven: boolean) =>
      proofOverview(
        new Map([
          ['0001-01-01', entryOf(at, isProven)],
          ['2026-02-01', entryOf(at, true)],
        ]),
        present,
      );
    const begun = performance.now();
    expect(ofYearOne(true).unproven).toEqual({ days: 1, first: ['2026-02-09'] });
    const { unproven } = ofYearOne(false);
    expect(unproven.days).toBe(739_647 + 1);
    expect(unproven.first.slice(0, 2)).toEqual(['0001-01-01', '0001-01-02']);
    expect(performance.now() - begun).toBeLessThan(1_000);
  });

  it('name the unproven neighbour of a day without an entry, also outside of the range', () => {
    const at = Temporal.Instant.from('2026-02-01T00:00:00Z').epochMilliseconds;
    const calendar = new Map([
      ['2026-01-02', entryOf(at, true)],
      ['2026-01-09', entryOf(at, false)],
    ]);
    const range = { from: '2026-01-04', to: '2026-01-07' };
    const present = { now: Temporal.Instant.from('2026-02-10T08:00:00Z'), timeZone: 'UTC' };
    const proofs = proofsOf(calendar, range, present);
    expect(proofs).toHaveLength(4);
    for (const day of proofs)
      expect(day).toMatchObject({
        state: 'unproven',
        cause: 'neighbour',
        neighbour: '2026-01-09',
      });
  });

  it('in brief name the oldest days without one, twenty at most, and count them all', () => {
    const since = Temporal.Instant.from('2026-02-01T00:00:00Z').epochMilliseconds;
    const known = days.slice(0, 25);
    const entry = { count: 1, readAt: since, unprovenSince: since };
    // The entries come in no order, as from a ledger.
    const entries = known.toReversed().map((day): [string, DayEntry] => [day, entry]);
    const { unproven, oldestProof } = proofOverview(
      new Map([...entries.slice(12), ...entries.slice(0, 12)]),
      { now: Temporal.Instant.from('2026-01-25T12:00:00Z'), timeZone: 'UTC' },
    );
    expect(oldestProof).toBeUndefined();
    expect(unproven.days).toBe(25);
    expect(unproven.first).toEqual(known.slice(0, 20));
  });
});
