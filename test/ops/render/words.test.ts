import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { DaysDone } from '../../../ops/days-done.ts';
import { facts, table, type View } from '../../../ops/render/layout.ts';
import { progressLine } from '../../../ops/render/progress.ts';
import { count, counts, harmless, jsonLine, shellQuoted } from '../../../ops/render/text.ts';
import { distance, duration, limit, moment } from '../../../ops/render/time.ts';

const view: View = {
  now: Temporal.Instant.from('2026-11-21T12:00:00Z'),
  zone: 'America/New_York',
  paint: (tone, text) => (tone === 'plain' ? text : `<${tone}>${text}</>`),
};
const steers = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

describe('foreign text', () => {
  it('has no control characters for a terminal, for people and for machines', () => {
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
  it('have their noun, and zeros are omitted', () => {
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
  ])('%i ms are written as %s', (ms, told) => expect(duration(ms)).toBe(told));

  it('is rounded up for a limit', () => {
    expect([limit(1), limit(15.2), limit(1440), limit(1475), limit(1501)]).toEqual([
      '1 min',
      '16 min',
      '1 d',
      '1 d 35 min',
      '1 d 2 h',
    ]);
  });

  it("is written in the reader's zone", () => {
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
  it('is aligned by visible width, without colours', () => {
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

  it('of facts omits unknown ones', () => {
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
  const progress = { label: 'replay', elapsedMs: 30_000 };
  const part = { done: 250, total: 1000, noun: 'events' };

  it('has a bar and an estimate by the pace, if the total is known', () => {
    const pace = { perMs: 0.01, sinceMs: 15_000 };
    expect(progressLine({ ...progress, part, pace }, 120)).toBe(
      'replay  ██████░░░░░░░░░░░░░░░░░░  25 %  250 of 1,000 events, about 1 min left',
    );
    expect(progressLine({ ...progress, part, pace: { ...pace, sinceMs: 80_000 } }, 120)).toContain(
      'nearly done',
    );
    expect(progressLine({ ...progress, part: { ...part, done: 1200 }, pace }, 120)).toMatch(
      /100 % .*s$/,
    );
  });

  it('has the time until the answer if nothing could be measured', () => {
    expect(progressLine({ label: 'check', elapsedMs: 11_000, answeredInMs: 44_000 }, 120)).toBe(
      'check  █████░░░░░░░░░░░░░░░░░░░  11 s, an answer within 44 s',
    );
    expect(progressLine({ ...progress, part, answeredInMs: 20_000 }, 120)).toMatch(
      /25 % .*, an answer within 20 s$/,
    );
    expect(progressLine({ ...progress, answeredInMs: -1 }, 120)).toContain('the answer is late');
    expect(progressLine(progress, 120)).toBe('replay  30 s');
  });

  it('of days is read from the cursor', () => {
    const today = Temporal.PlainDate.from('2026-11-21');
    const november = { from: '2026-11-01', to: '2026-11-30' };
    const upTo = (command: object, ...cursors: (string | undefined)[]) => {
      const done = new DaysDone(command);
      return cursors.map((cursor) => done.upTo(cursor, today)).at(-1);
    };
    expect(upTo({ days: november }, '2026-11-03/48213')).toEqual({ done: 2, total: 29 });
    expect(upTo({ days: { from: '2026-11-20' } }, '2026-11-20')).toEqual({ done: 0, total: 1 });
    expect(upTo({ days: november, after: '2026-11-10/7' }, '2026-11-15')).toEqual({
      done: 5,
      total: 20,
    });
    expect(upTo({ days: {} }, '2026-10-01/1', '2026-11-01/1')).toEqual({ done: 31, total: 51 });
    expect(upTo({ ids: [1] }, undefined)).toBeUndefined();
    expect(upTo({ after: 7 }, undefined)).toBeUndefined();
  });

  it('shortens its bar on a narrow terminal, and nothing else', () => {
    const line = { ...progress, part: { done: 300, total: 1200, noun: 'events' } };
    const figures = ' 25 %  300 of 1,200 events';
    const of = (width: number) => progressLine(line, width);
    expect(of(100)).toBe(`replay  ${'█'.repeat(6)}${'░'.repeat(18)} ${figures}`);
    expect(of(59)).toBe(of(100));
    expect(of(58)).toBe(`replay  ${'█'.repeat(6)}${'░'.repeat(17)} ${figures}`);
    expect(of(41)).toBe(`replay  ${'█'.repeat(2)}${'░'.repeat(4)} ${figures}`);
    expect(of(40)).toBe(`replay ${figures}`);
    expect(of(10)).toBe(`replay ${figures}`);
  });
});
