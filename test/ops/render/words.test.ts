import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { daysDone } from '../../../ops/render/days-done.ts';
import { facts, table, type View } from '../../../ops/render/layout.ts';
import { progressLine } from '../../../ops/render/progress.ts';
import { count, counts, harmless, shellQuoted } from '../../../ops/render/text.ts';
import { distance, limit, moment, span } from '../../../ops/render/time.ts';
import { jsonLine } from '../../../ops/session.ts';

const view: View = {
  now: Temporal.Instant.from('2026-11-21T12:00:00Z'),
  zone: 'America/New_York',
  paint: (tone, text) => (tone === 'plain' ? text : `<${tone}>${text}</>`),
};
const steers = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

describe('text of others', () => {
  it('never steers a terminal, for people or for machines', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(harmless(text)).not.toMatch(steers);
        expect(jsonLine({ text })).not.toMatch(steers);
        expect(JSON.parse(jsonLine({ text }))).toEqual({
          text: text.toWellFormed() === text ? text : expect.any(String),
        });
      }),
    );
  });

  it('is one argument of a shell', () => {
    expect(shellQuoted('prod-1')).toBe('prod-1');
    expect(shellQuoted(`{"a": "it's"}`)).toBe(`'{"a": "it'\\''s"}'`);
  });
});

describe('numbers', () => {
  it('have their noun, and what there is none of is left out', () => {
    expect([count(1, 'event'), count(12_004, 'event'), count(2, 'outbox', 'outboxes')]).toEqual([
      '1 event',
      '12,004 events',
      '2 outboxes',
    ]);
    expect(counts({ created: 2, updated: 0, withdrawn: 1 })).toBe('2 created, 1 withdrawn');
    expect(counts({ created: 0 }, 'nothing')).toBe('nothing');
  });
});

describe('time', () => {
  it.each([
    [0, '0 s'],
    [350, '350 ms'],
    [59_999, '59 s'],
    [61_000, '1 min 1 s'],
    [754_000, '12 min'],
    [3_600_000, '1 h'],
    [86_400_000 + 2_100_000, '1 d 35 min'],
    [3 * 3_600_000 + 61_000, '3 h 1 min'],
    [49 * 3_600_000, '2 d 1 h'],
  ])('%i ms are told as %s', (ms, told) => expect(span(ms)).toBe(told));

  it('is never told shorter than it is, where it is a limit', () => {
    expect([limit(1), limit(15.2), limit(1440), limit(1475), limit(1501)]).toEqual([
      '1 min',
      '16 min',
      '1 d',
      '1 d 35 min',
      '1 d 2 h',
    ]);
  });

  it('is told where somebody reads, with the zone', () => {
    expect(moment('2026-11-21T16:05:08.5Z', view)).toBe('2026-11-21 11:05:08 EST');
    expect(moment('2026-07-01T16:05:08Z', view)).toBe('2026-07-01 12:05:08 EDT');
    expect(moment('2026-07-01T16:05:08Z', { zone: 'Asia/Kathmandu' })).toBe(
      '2026-07-01 21:50:08 GMT+5:45',
    );
    expect(distance('2026-11-21T11:59:48Z', view)).toBe('12 s ago');
    expect(distance('2026-11-21T12:00:48Z', view)).toBe('in 48 s');
    expect(distance('2026-11-21T12:00:00.4Z', view)).toBe('now');
  });
});

describe('a table', () => {
  it('is aligned by what is seen, not by what colours it', () => {
    const columns = [
      { title: 'day' },
      { title: 'count', align: 'right' as const },
      { title: 'proof' },
    ];
    const rows = [
      ['2026-11-20', '7', ['good', 'single-page'] as const],
      ['2026-11-21', '12,004', ['bad', 'unproven'] as const],
    ];
    expect(table(view, columns, rows, '').map((line) => line.replaceAll(/<[^>]*>/g, ''))).toEqual([
      'day          count  proof',
      '2026-11-20       7  single-page',
      '2026-11-21  12,004  unproven',
    ]);
  });

  it('of facts leaves out what is not known', () => {
    expect(
      facts(view, [
        ['a', '1'],
        ['long', undefined],
        ['bb', ['bad', '2']],
      ]),
    ).toEqual(['  <faint>a </>  1', '  <faint>bb</>  <bad>2</>']);
  });
});

describe('progress', () => {
  it('has a bar and an estimate where it is known how much there is', () => {
    const part = { done: 250, total: 1000, noun: 'events' };
    expect(progressLine({ label: 'replay', elapsedMs: 30_000, part })).toBe(
      'replay  ██████░░░░░░░░░░░░░░░░░░  25 %  250 of 1,000 events, 1 min 30 s left',
    );
    expect(progressLine({ label: 'check', elapsedMs: 3_200 })).toBe('check  3 s');
    expect(progressLine({ label: 'x', elapsedMs: 0, part: { ...part, done: 0 } })).not.toContain(
      'left',
    );
    expect(progressLine({ label: 'x', elapsedMs: 9, part: { ...part, done: 1200 } })).toContain(
      '100 %',
    );
  });

  it('of days is known by the cursor', () => {
    const november = { from: '2026-11-01', to: '2026-11-30' };
    expect(daysDone(november, '2026-11-03/48213', view)).toEqual({ done: 3, total: 30 });
    expect(daysDone({ from: '2026-11-20' }, '2026-11-20', view)).toEqual({ done: 1, total: 2 });
    expect(daysDone({ to: '2026-11-20' }, '2026-11-20', view)).toBeUndefined();
    expect(daysDone(november, undefined, view)).toBeUndefined();
  });
});
