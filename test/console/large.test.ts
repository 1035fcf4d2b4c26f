import { gzipSync } from 'node:zlib';
import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import type { DayEntry } from '../../lambda/decisions/calendar.ts';
import { Integration } from '../scaffold/integration.ts';
import { IntegrationDoor } from './integration-door.ts';
import { Visitor } from './visitor.ts';

const first = Temporal.PlainDate.from('1997-01-01');
const at = Temporal.Instant.from('2026-11-21T07:59:00Z').epochMilliseconds;

/** Proven, or read without a proof: each day differs from the one before. */
function entryOf(n: number): DayEntry {
  const read = { count: 130, readAt: at };
  if (n % 2 === 0) return { ...read, unprovenSince: at - n * 60_000 };
  return { ...read, proof: { kind: 'key-seam', at, count: 130 }, digest: 'f'.repeat(64) };
}

it.each([
  ['proof', 1_000, /1997 to 2026.*unproven:/s],
  ['proof?from=1997-01-01&to=2026-11-20', 5_000, /and [\d,]+ rows: the CSV has all 10,\d+ days/],
])(
  'the page %s of a million certifications takes up to %i ms and 200 KB',
  async (page, ms, told) => {
    const story = new Integration();
    await story.baseline();
    const today = story.clock.now().toZonedDateTimeISO('UTC').toPlainDate();
    const { days } = first.until(today, { largestUnit: 'days' });
    const dayOf = (n: number) => first.add({ days: n }).toString();
    const entries = Array.from({ length: days }, (_, n) => [dayOf(n), entryOf(n)] as const);
    await story.ledger.touch(entries.map(([day]) => day));
    await story.ledger.saveDays(new Map(entries));
    await using visitor = await Visitor.before(new IntegrationDoor(story));
    // No other thread works at a page. The clock would count all other work of this machine.
    const before = process.threadCpuUsage();
    const { text } = await visitor.opens(`i/${story.name}/${page}`);
    const { user, system } = process.threadCpuUsage(before);
    expect(text).toMatch(told);
    expect((user + system) / 1_000).toBeLessThan(ms);
    expect(gzipSync(text).length).toBeLessThan(200 * 1024);
  },
);
