import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DayEntry } from '../../../lambda/detection/calendar.ts';
import { daysIn } from '../../../lambda/detection/days.ts';
import { proofsOf } from '../../../lambda/operations/proofs.ts';
import { proveResult } from '../../../lambda/operations/result.ts';
import { assessment } from '../../support/assessments.ts';
import { startLedgerTable } from '../../support/ledger-table.ts';
import { Scene } from './scene.ts';

let database: Awaited<ReturnType<typeof startLedgerTable>>;
let scene: Scene;

beforeAll(async () => {
  database = await startLedgerTable();
});
afterAll(() => database.close());
beforeEach(() => {
  scene = new Scene(database);
});

const on = (certified_on: string, id: number, more = {}) =>
  assessment({ id, certified_on, ...more });
const range = { from: '2026-11-01', to: '2026-11-21' };

async function proven(command: object = {}, seconds?: number) {
  const answer = await scene.operate({ command: 'prove', ...range, ...command }, seconds);
  expect(answer).toMatchObject({ ok: true });
  return proveResult.parse(answer.result);
}

describe('the certificate', () => {
  beforeEach(async () => {
    scene.world = [on('2026-11-05', 1), on('2026-11-05', 2), on('2026-11-12', 3)];
    await scene.settle();
  });

  it('has every day with its proof, time, count and digest', async () => {
    const { days, proven: all, unproven, certifications } = await proven();
    expect(days).toHaveLength(21);
    expect([all, unproven, certifications]).toEqual([21, 0, 3]);
    expect(days.find(({ day }) => day === '2026-11-05')).toEqual({
      day: '2026-11-05',
      count: 2,
      proof: { kind: 'single-page', at: '2026-11-21T08:00:00Z' },
      digest: expect.any(String),
      readAt: '2026-11-21T08:00:00Z',
    });
    expect(days.find(({ day }) => day === '2026-11-07')).toEqual({
      day: '2026-11-07',
      count: 0,
      proof: { kind: 'single-page', at: '2026-11-21T08:00:00Z' },
      readWith: '2026-11-12',
    });
  });

  it('asks the partner nothing and changes nothing', async () => {
    const before = await scene.items();
    await proven();
    expect(scene.requests).toEqual([]);
    expect(await scene.items()).toEqual(before);
  });

  it('goes on where one answer is full', async () => {
    const first = await proven({ from: '2010-01-01', to: '2026-11-21' });
    expect(first.days).toHaveLength(4_000);
    const second = await proven(first.next);
    expect(second.days[0]?.day).toBe(
      Temporal.PlainDate.from(first.days.at(-1)?.day ?? '')
        .add({ days: 1 })
        .toString(),
    );
    expect(second.days.at(-1)?.day).toBe('2026-11-21');
    expect(second).not.toHaveProperty('next');
  });

  it('does not call proven what is not', async () => {
    scene.overlooked.add(3);
    scene.clock.advance({ hours: 25 });
    await scene.tick();
    const { days } = await proven();
    const unproven = days.filter(({ proof }) => proof === undefined).map(({ day }) => day);
    expect(unproven).toContain('2026-11-12');
    expect(unproven).toContain('2026-11-07');
  });
});

describe('to prove now', () => {
  beforeEach(async () => {
    scene.world = [on('2026-11-05', 1), on('2026-11-05', 2), on('2026-11-12', 3)];
    await scene.settle();
    scene.clock.advance({ minutes: 30 });
    await scene.tick();
    scene.clock.advance({ minutes: 1 });
  });

  it('reads all days of the range again, and announces what differs', async () => {
    scene.alter(1, { email: 'b@example.org' });
    const { days, found, toRead } = await proven({ now: true });
    expect(toRead).toBe(0);
    expect(found).toEqual({ created: 0, updated: 1, withdrawn: 0, restored: 0 });
    for (const { proof } of days) expect(proof?.at).toBe('2026-11-21T08:31:00Z');
    expect(scene.heard.map(({ id }) => id)).toEqual([`${scene.name}/1/2`]);
  });

  it('leaves the other days as they were', async () => {
    await proven({ now: true, from: '2026-11-10', to: '2026-11-12' });
    const { days } = await proven();
    const at = (day: string) => days.find((one) => one.day === day)?.proof?.at;
    expect(at('2026-11-05')).toBe('2026-11-21T08:00:00Z');
    expect(at('2026-11-12')).toBe('2026-11-21T08:31:00Z');
  });

  it('goes on over several calls if one does not suffice', async () => {
    scene.world = Array.from({ length: 300 }, (_, index) =>
      on(index < 150 ? '2026-11-05' : '2026-11-12', index + 1),
    );
    scene.clock.advance({ minutes: 30 });
    for (let ticks = 0; ticks < 3; ticks += 1) await scene.tick();
    scene.requestSeconds = 12;
    let calls = 0;
    let last = await proven({ now: true });
    for (; last.next !== undefined; calls += 1) last = await proven(last.next);
    expect(calls).toBeGreaterThan(0);
    expect(last.toRead).toBe(0);
    expect(last.days).toHaveLength(21);
    expect(last.unproven).toBe(0);
  });

  it('is done by the scheduled ticks if nobody goes on', async () => {
    scene.requestSeconds = 20;
    const { next } = await proven({ now: true });
    expect(next).toBeDefined();
    scene.requestSeconds = 0;
    for (let ticks = 0; ticks < 3; ticks += 1) {
      scene.clock.advance({ minutes: 1 });
      await scene.tick();
    }
    expect(await proven(next)).toMatchObject({ toRead: 0, unproven: 0 });
  });

  it.each([
    ['paused', () => scene.operate({ command: 'pause', reason: 'a reason' })],
    [
      'backing-off',
      () => scene.ledger.backOff({ until: scene.clock.now().add({ minutes: 4 }), failures: 2 }),
    ],
    ['baseline-running', () => scene.operate({ command: 'restart-baseline' })],
  ])('is refused while it is %s, and no day is made due', async (code, hinder) => {
    await hinder();
    const answer = await scene.operate({ command: 'prove', ...range, now: true });
    expect(answer).toMatchObject({ ok: false, problem: { code } });
    const calendar = await scene.ledger.calendar([2026]);
    for (const { readAt } of calendar.values()) expect(readAt).toBeGreaterThan(0);
  });
});

describe('proofs of days', () => {
  const window = (from: string, days: number) =>
    daysIn({
      from: Temporal.PlainDate.from(from),
      today: Temporal.PlainDate.from(from).add({ days }),
    });

  it('never call a day proven that has an unproven neighbour', () => {
    const days = window('2026-01-01', 30);
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ day: fc.constantFrom(...days), proven: fc.boolean() }), {
          selector: ({ day }) => day,
        }),
        (known) => {
          const calendar = new Map(
            known.map(({ day, proven: isProven }, index): [string, DayEntry] => [
              day,
              {
                count: 1,
                readAt: index + 1,
                ...(isProven && { proof: { kind: 'single-page', at: index + 1 } }),
              },
            ]),
          );
          const sorted = [...calendar.keys()].sort();
          for (const { day, proof, count } of proofsOf(calendar, '2025-12-25', '2026-02-05', 99)) {
            const entry = calendar.get(day);
            expect(count).toBe(entry ? 1 : 0);
            const neighbours = entry
              ? [entry]
              : [sorted.findLast((one) => one < day), sorted.find((one) => one > day)].flatMap(
                  (one) => (one === undefined ? [] : [calendar.get(one)]),
                );
            const isProven = neighbours.length > 0 && neighbours.every((one) => one?.proof);
            expect(proof !== undefined).toBe(isProven);
          }
        },
      ),
    );
  });
});
