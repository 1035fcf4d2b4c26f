import { randomBytes } from 'node:crypto';
import { Calendar, type DayEntry } from '../lambda/decisions/calendar.ts';
import { recentWindow } from '../lambda/decisions/days.ts';
import { auditPlan, calendarLearned, requestsOf } from '../lambda/decisions/due.ts';
import { digestOf } from '../lambda/decisions/fingerprint.ts';
import { noLease, type StateChanges } from '../lambda/decisions/state.ts';
import type { Assessment } from '../lambda/events/assessment.ts';
import type { PartnerClient } from '../lambda/partner/client.ts';
import type { Ledger } from '../lambda/ports/ledger.ts';
import type { ManualClock } from '../test/scaffold/clock.ts';
import { sightingsOf } from '../test/scaffold/sightings.ts';
import { settings, timeZone } from './settings.ts';

const month = 'YYYY-MM'.length;

/**
 * A ledger as the baseline leaves it, without the baseline: by the ledger's own functions, from the partner's list. A day
 * outside `recorded` has an entry in the calendar (with a random digest, as no record was read) and no certification. No
 * tick of the benchmark looks there. A tick that did would take the records for new, and announce them.
 *
 * @param days of the whole history, in order
 */
export async function seedLedger(
  { ledger, client, clock }: { ledger: Ledger; client: PartnerClient; clock: ManualClock },
  days: readonly string[],
  recorded: ReadonlySet<string>,
): Promise<void> {
  const { salt } = await ledger.state();
  const readAt = clock.now().epochMilliseconds;
  const proof = { kind: 'key-seam', at: readAt } as const;
  await ledger.touch(days);
  const entryOf = (count: number, digest: string): DayEntry => ({
    count,
    readAt,
    proof: { ...proof, count },
    digest,
  });
  const seededDay = async (day: string) => {
    if (!recorded.has(day))
      return entryOf(await countDay(client, day), randomBytes(12).toString('base64url'));
    const rows = await allRows(client, { start_date: day, end_date: day });
    await ledger.recordSilently(sightingsOf(rows, new Map(), salt), clock.now());
    return entryOf(rows.length, digestOf({ assessments: rows }, salt));
  };
  for (const ofMonth of Map.groupBy(days, (day) => day.slice(0, month)).values()) {
    const entries = new Map<string, DayEntry>();
    for (const day of ofMonth) {
      const entry = await seededDay(day);
      if (entry.count > 0) entries.set(day, entry);
    }
    await ledger.saveDays(entries);
  }
  await writeState(ledger, clock, {
    dirtySince: undefined,
    baseline: { status: 'completed', startDay: recentWindow(clock.now(), timeZone, 0).today },
    unexplained: 0,
  });
}

/**
 * As if the audits had been at work for a day: the days' last reads spread evenly over the audits' periods, oldest days
 * first. So each hour costs the same.
 */
export async function spreadAudits(ledger: Ledger, clock: ManualClock): Promise<void> {
  const now = clock.now().epochMilliseconds;
  const { years } = await ledger.state();
  const calendar = await ledger.calendar(years);
  const window = windowOf(clock);
  const { historyMs, recentMs } = planOf(new Calendar(calendar, window.days), window.from);
  const days = [...new Set([...calendar.keys(), ...window.days])].sort();
  const spread = (period: number, isWanted: (day: string) => boolean) =>
    days
      .filter(isWanted)
      .map((day, index, all) => [day, now - period + ((index + 1) / all.length) * period] as const);
  const readAt = [
    ...spread(historyMs, (day) => day < window.from),
    ...spread(recentMs, (day) => day >= window.from),
  ];
  await ledger.saveDays(
    new Map(
      readAt.map(([day, at]) => [day, { count: 0, ...calendar.get(day), readAt: Math.round(at) }]),
    ),
  );
  await writeState(ledger, clock, { dirtySince: undefined });
}

/** Writes the state: the expected total and the due audits, from the calendar, and further changes. */
async function writeState(
  ledger: Ledger,
  clock: ManualClock,
  changes: StateChanges,
): Promise<void> {
  const { years } = await ledger.state();
  const window = windowOf(clock);
  const calendar = new Calendar(await ledger.calendar(years), window.days);
  const plan = planOf(calendar, window.from);
  const lease = { owner: 'bench', until: clock.now().add({ seconds: 1 }) };
  if ((await ledger.takeLease(lease, clock.now())) === undefined) throw new Error('no lease');
  const learned = {
    ...calendarLearned(calendar, plan, 0),
    ...changes,
    heartbeat: clock.now().toString(),
  };
  await ledger.saveState({ ...learned, ...noLease }, lease);
}

const planOf = (calendar: Calendar, recentFrom: string) =>
  auditPlan(requestsOf(calendar, recentFrom), recentFrom, settings.audit);

const windowOf = (clock: ManualClock) => recentWindow(clock.now(), timeZone, settings.recentDays);

/** Offset paging is enough here: nothing changes while the benchmark reads. */
export async function allRows(
  client: Pick<PartnerClient, 'list'>,
  filter: { readonly start_date?: string; readonly end_date?: string },
): Promise<Assessment[]> {
  const rows: Assessment[] = [];
  for (let count = 1; rows.length < count; ) {
    const offset = rows.length;
    const page = await client.list({ filter, sort: 'certified_on', page: 100, offset });
    count = page.meta.count;
    if (page.rows === 0) break;
    rows.push(...page.assessments);
  }
  return rows;
}

async function countDay(client: PartnerClient, day: string): Promise<number> {
  const { meta } = await client.list({ filter: { start_date: day, end_date: day }, page: 1 });
  return meta.count;
}
