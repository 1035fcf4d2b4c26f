import { gzipSync } from 'node:zlib';
import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import type { DayEntry } from '../../lambda/detection/calendar.ts';
import { Integration } from '../scaffold/integration.ts';
import { IntegrationDoor } from './integration-door.ts';
import { Visitor } from './visitor.ts';

const kib = 1024;
const first = Temporal.PlainDate.from('1997-01-01');
const at = Temporal.Instant.from('2026-11-21T07:59:00Z').epochMilliseconds;

const proven = (count: number): DayEntry => ({
  ...{ count, readAt: at, proof: { kind: 'key-seam', at, count }, digest: 'f'.repeat(64) },
});
/** A day whose read ended without a proof. */
const unproven = (n: number): DayEntry => ({
  count: 130,
  readAt: at,
  unprovenSince: at - n * 60_000,
});

it.each<[string, string, (n: number) => DayEntry, RegExp]>([
  ['as it is usually', 'proof', (n) => proven(n % 7 < 2 ? 0 : 130), /1997 to 2026/],
  ['of days that all differ', 'proof', (n) => (n % 2 ? proven(130) : unproven(n)), /unproven:/],
  [
    'as a certificate',
    'proof?from=1997-01-01&to=2026-11-20',
    () => proven(130),
    /and [\d,]+ rows: the CSV has all 10,\d+ days\./,
  ],
])(
  'the proof of 30 years %s is there within a second and below 200 KB',
  async (_, page, entryOf, told) => {
    const story = new Integration();
    await story.baseline();
    const today = story.clock.now().toZonedDateTimeISO('UTC').toPlainDate();
    const { days } = first.until(today, { largestUnit: 'days' });
    const entries = Array.from({ length: days }, (_, n): [string, DayEntry] => [
      first.add({ days: n }).toString(),
      entryOf(n),
    ]);
    await story.ledger.touch(entries.map(([day]) => day));
    await story.ledger.saveDays(new Map(entries));
    await using visitor = await Visitor.before(new IntegrationDoor(story));
    // No other thread works at a page. The clock would count all other work of this machine.
    const before = process.threadCpuUsage();
    const { text } = await visitor.opens(`i/${story.name}/${page}`);
    const { user, system } = process.threadCpuUsage(before);
    expect(text).toMatch(told);
    if (page === 'proof') expect((user + system) / 1_000).toBeLessThan(1_000);
    expect(gzipSync(text).length).toBeLessThan(200 * kib);
  },
);
