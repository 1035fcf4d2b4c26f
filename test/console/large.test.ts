import { gzipSync } from 'node:zlib';
import { Temporal } from 'temporal-polyfill';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Console, serveConsole } from '../../console/index.ts';
import type { DayEntry } from '../../lambda/detection/calendar.ts';
import { Integration } from '../scaffold/integration.ts';
import { IntegrationDoor } from './integration-door.ts';

const kib = 1024;
const first = Temporal.PlainDate.from('1997-01-01');
let story: Integration;
let console: Console;
beforeEach(async () => {
  story = new Integration();
  await story.baseline();
  console = await serveConsole(new IntegrationDoor(story), 0);
});
afterEach(() => console[Symbol.asyncDispose]());

/** A ledger with an entry for each day from 1997 until yesterday. */
async function calendar(entryOf: (n: number) => DayEntry): Promise<number> {
  const today = story.clock.now().toZonedDateTimeISO('UTC').toPlainDate();
  const { days } = first.until(today, { largestUnit: 'days' });
  const entries = Array.from({ length: days }, (_, n): [string, DayEntry] => [
    first.add({ days: n }).toString(),
    entryOf(n),
  ]);
  await story.ledger.touch(entries.map(([day]) => day));
  await story.ledger.saveDays(new Map(entries));
  return entries.reduce((sum, [, { count }]) => sum + count, 0);
}

/**
 * A page as a browser gets it, with this thread's time for it and its transferred size. No other
 * thread works at it. The clock would count all other work of this machine.
 */
async function opened(page: string) {
  const before = process.threadCpuUsage();
  const answer = await fetch(new URL(`i/${story.name}/${page}`, console.url));
  const text = await answer.text();
  const { user, system } = process.threadCpuUsage(before);
  const ms = (user + system) / 1_000;
  expect(answer.status).toBe(200);
  return { text, ms, bytes: gzipSync(text).length };
}

const entry = (count: number, more: Partial<DayEntry> = {}): DayEntry => {
  const at = story.clock.now().epochMilliseconds - 60_000;
  const proof = { kind: 'key-seam', at, count } as const;
  return { count, readAt: at, proof, digest: 'f'.repeat(64), ...more };
};

describe('the proof of a million certifications over thirty years', () => {
  it('is there within a second and below 200 KB', async () => {
    const certifications = await calendar((n) => entry(n % 7 < 2 ? 0 : 130));
    expect(certifications).toBeGreaterThan(1_000_000);
    const { text, ms, bytes } = await opened('proof');
    expect(text).toContain('Proof of each day, 1997 to 2026');
    expect(ms).toBeLessThan(1_000);
    expect(bytes).toBeLessThan(200 * kib);
  });

  it('is so also if each day differs from the one before', async () => {
    await calendar((n) => {
      const { proof: _, digest: __, ...unproven } = entry(130);
      const since = story.clock.now().epochMilliseconds - n * 60_000;
      return n % 2 === 0 ? { ...unproven, unprovenSince: since } : entry(130);
    });
    const { text, ms, bytes } = await opened('proof');
    expect(text).toContain('unproven: read without a proof');
    expect(ms).toBeLessThan(1_000);
    expect(bytes).toBeLessThan(200 * kib);
  });

  it('has as many rows of a certificate as a person reads, and links to all of them', async () => {
    await calendar(() => entry(130));
    const { text, bytes } = await opened('proof?from=1997-01-01&to=2026-11-20');
    expect(text).toMatch(/and [\d,]+ rows: the CSV has all [\d,]+ days\./);
    expect(bytes).toBeLessThan(200 * kib);
    const { text: csv } = await opened('proof.csv?from=1997-01-01&to=2026-11-20');
    expect(csv.trim().split('\n').length).toBeGreaterThan(10_000);
  });
});
