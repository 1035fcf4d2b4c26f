import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import { daysDone } from '../../../ops/days-done.ts';
import { facts, table, type View } from '../../../ops/render/layout.ts';
import { progressLine } from '../../../ops/render/progress.ts';
import { count, counts, harmless, jsonLine, shellQuoted } from '../../../ops/render/text.ts';
import { distance, duration, limit, moment } from '../../../ops/render/time.ts';
import { forAll } from '../../support/for-all.ts';

const view: View = {
  now: Temporal.Instant.from('2026-11-21T12:00:00Z'),
  zone: 'America/New_York',
  paint: (tone, text) => (tone === 'plain' ? text : `<${tone}>${text}</>`),
};

it('foreign text has no control characters for a terminal, for people and for machines', () => {
  const steers = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;
  forAll(fc.string({ unit: 'binary' }), (text) => {
    expect(harmless(text)).not.toMatch(steers);
    expect(jsonLine({ text })).not.toMatch(steers);
    const told = text.toWellFormed() === text ? text : expect.any(String);
    expect(JSON.parse(jsonLine({ text }))).toEqual({ text: told });
  });
});

const [summer, kathmandu] = ['2026-07-01T16:05:08Z', { zone: 'Asia/Kathmandu' }];
const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const known = Object.entries({ a: '1', long: undefined, bb: ['bad', '2'] as const });
it.each<[what: string, told: unknown, expected: unknown]>([
  ['known facts', facts(view, known), ['  <faint>a </>  1', '  <faint>bb</>  <bad>2</>']],
  ['a word', shellQuoted('prod-1'), 'prod-1'],
  ['an argument of a shell', shellQuoted(`{"a": "it's"}`), `'{"a": "it'\\''s"}'`],
  ['one', count(1, 'event'), '1 event'],
  ['many', count(12_004, 'event'), '12,004 events'],
  ['an irregular plural', count(2, 'outbox', 'outboxes'), '2 outboxes'],
  ['counts', counts({ created: 2, updated: 0, withdrawn: 1 }), '2 created, 1 withdrawn'],
  ['no counts', counts({ created: 0 }, 'nothing'), 'nothing'],
  ['no time', duration(0), '0 s'],
  ['milliseconds', duration(350), '350 ms'],
  ['seconds', duration(minute - 1), '59 s'],
  ['a minute', duration(minute + 1_000), '1 min 1 s'],
  ['minutes', duration(754_000), '12 min'],
  ['an hour', duration(hour), '1 h'],
  ['a day', duration(day + 35 * minute), '1 d 35 min'],
  ['hours', duration(3 * hour + minute + 1_000), '3 h 1 min'],
  ['days', duration(49 * hour), '2 d 1 h'],
  ['a limit', limit(1), '1 min'],
  ['a limit, rounded up', limit(15.2), '16 min'],
  ['a limit of a day', limit(1440), '1 d'],
  ['a limit of days', [limit(1475), limit(1501)], ['1 d 35 min', '1 d 2 h']],
  ['a moment', moment('2026-11-21T16:05:08.5Z', view), '2026-11-21 11:05:08 EST'],
  ['a moment in summer', moment(summer, view), '2026-07-01 12:05:08 EDT'],
  ['a zone without a name', moment(summer, kathmandu), '2026-07-01 21:50:08 GMT+5:45'],
  ['the past', distance('2026-11-21T11:59:48Z', view), '12 s ago'],
  ['the future', distance('2026-11-21T12:00:48Z', view), 'in 48 s'],
  ['now', distance('2026-11-21T12:00:00.4Z', view), 'now'],
])('%s is written as people read it', (_what, told, expected) => expect(told).toEqual(expected));

it('a table is aligned by visible width, without colours', () => {
  const right = { align: 'right' } as const;
  const columns = [{ title: 'day' }, { title: 'count', ...right }, { title: 'proof' }];
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

const part = { done: 250, total: 1000, noun: 'events' };
const pace = { perMs: 0.01, sinceMs: 15_000 };
const more = { done: 300, total: 1200, noun: 'events' };
const figures = ' 25 %  300 of 1,200 events';
const bar = (full: number, empty: number) => '█'.repeat(full) + '░'.repeat(empty);
const quarter = `replay  ${bar(6, 18)}  25 %  250 of 1,000 events`;
it.each<[Partial<Parameters<typeof progressLine>[0]>, width: number, shown: string]>([
  [{ part, pace }, 120, `${quarter}, about 1 min left`],
  [{ part, pace: { ...pace, sinceMs: 80_000 } }, 120, `${quarter}, nearly done`],
  [{ part, answeredInMs: 20_000 }, 120, `${quarter}, an answer within 20 s`],
  [{ part: { ...part, done: 1200 } }, 120, `replay  ${bar(24, 0)} 100 %  1,200 of 1,000 events`],
  [{ answeredInMs: 90_000 }, 120, `replay  ${bar(6, 18)}  30 s, an answer within 1 min 30 s`],
  [{ answeredInMs: -1 }, 120, `replay  ${bar(24, 0)}  30 s, the answer is late`],
  [{}, 120, 'replay  30 s'],
  // The bar gets shorter on a narrow terminal, and nothing else.
  [{ part: more }, 59, `replay  ${bar(6, 18)} ${figures}`],
  [{ part: more }, 58, `replay  ${bar(6, 17)} ${figures}`],
  [{ part: more }, 41, `replay  ${bar(2, 4)} ${figures}`],
  [{ part: more }, 40, `replay ${figures}`],
  [{ part: more }, 10, `replay ${figures}`],
])('progress of %j in %i columns is shown as %s', (state, width, shown) => {
  expect(progressLine({ label: 'replay', elapsedMs: 30_000, ...state }, width)).toBe(shown);
});

const november = { from: '2026-11-01', to: '2026-11-30' };
it.each<[command: object, cursors: (string | undefined)[], expected: object | undefined]>([
  [{ days: november }, ['2026-11-03/48213'], { done: 2, total: 29 }],
  [{ days: { from: '2026-11-20' } }, ['2026-11-20'], { done: 0, total: 1 }],
  [{ days: november, after: '2026-11-10/7' }, ['2026-11-15'], { done: 5, total: 20 }],
  [{ days: {} }, ['2026-10-01/1', '2026-11-01/1'], { done: 31, total: 51 }],
  [{ ids: [1] }, [undefined], undefined],
  [{ after: 7 }, [undefined], undefined],
])('progress of days is read from the cursor: %j %j', (command, cursors, expected) => {
  const today = Temporal.PlainDate.from('2026-11-21');
  const done = daysDone(command);
  expect(cursors.map((cursor) => done(cursor, today)).at(-1)).toEqual(expected);
});
