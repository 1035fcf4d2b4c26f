import type { CostMeasured, TickUnits } from '../../bench/cost-measured.ts';
import { prices } from './prices.ts';

export interface Deployment {
  /** Minutes between two ticks. */
  readonly every: number;
  /** New certifications. */
  readonly perDay: number;
  /** Metrics of the alarms of one integration with one queue and one address, without a pager. */
  readonly alarmMetrics: number;
}

export interface Line {
  readonly name: string;
  readonly dollars: number;
  readonly quantity: string;
}

const hoursInMonth = 730;
const minutesInDay = 1_440;
/** The function's memory, see infra/constructs/integration.ts. */
const gigabytes = 0.5;
/** For one integration, see notifier.config.ts. */
const auditRequestsPerTick = 20;

/** Figures that are not measured: durations in AWS, and additions by AWS itself. */
export const assumed = {
  partnerMs: 200,
  ledgerMs: 5,
  publishMs: 20,
  ownMs: 50,
  /** Eight requests to the partner, four to SNS, and a cold start. */
  selfCheckMs: 4_000,
  /** The two lines that Lambda writes for every invocation. */
  lambdaLogBytes: 600,
  /** Entries of an item in the indexes by day and by event, with the 100 bytes that DynamoDB adds to each. */
  indexBytes: 470,
  /** The services ask KMS again after five minutes: for the ledger's key, the topics' and a queue's. */
  keyPeriodMinutes: 5,
} as const;

/** SQS developer guide, "Estimating AWS KMS costs": two for the sender, one for the receiver. */
const queueKeyRequests = 3;

/** Metrics that every tick sends; see lambda/journal.ts. */
const constantMetrics = 2;

/** A month of the first year, with the ledger's size at the end of the year. */
export function monthlyBill(
  measured: CostMeasured,
  { every, perDay, alarmMetrics }: Deployment,
): readonly Line[] {
  const world = measured.worlds.find((one) => one.perDay === perDay);
  if (world === undefined) throw new Error(`${perDay} a day have not been measured`);
  const ticks = (hoursInMonth * 60) / every;
  const newsPerTick = (perDay * every) / minutesInDay;
  const [first, ...others] = world.news;
  if (first === undefined) throw new Error('no tick with news was measured');
  const nearest = others.reduce(
    (best, one) =>
      Math.abs(one.news - newsPerTick) < Math.abs(best.news - newsPerTick) ? one : best,
    first,
  );
  const ticksWithNews = ticks * Math.min(1, newsPerTick);
  const share = Math.max(1, newsPerTick) / nearest.news;
  const { quiet, hourOfAudits } = world;
  const auditRequests = hourOfAudits.requests - 60 * quiet.requests;
  const auditable = Math.min(1, (auditRequestsPerTick * 60) / every / Math.max(1, auditRequests));

  /** The units of a month: quiet ticks, ticks with news, and audits. */
  const total = (of: (units: TickUnits) => number) =>
    (ticks - ticksWithNews) * of(quiet) +
    ticksWithNews * share * of(nearest) +
    hoursInMonth * auditable * Math.max(0, of(hourOfAudits) - 60 * of(quiet));

  const selfChecks = hoursInMonth / 24;
  const seconds =
    (selfChecks * assumed.selfCheckMs +
      ticks * assumed.ownMs +
      total(({ requests }) => requests) * assumed.partnerMs +
      total(({ ledgerCalls }) => ledgerCalls) * assumed.ledgerMs +
      total(({ publishes }) => publishes) * assumed.publishMs) /
    1_000;
  const events = (perDay * hoursInMonth) / 24;
  const items = perDay * 365;
  const stored = (items * (measured.itemBytes + assumed.indexBytes)) / 1e9;
  // Only the table counts (DynamoDB's developer guide, "Point-in-time recovery").
  const recoverable = (items * measured.itemBytes) / 1e9;
  const logged = (total(({ logBytes }) => logBytes) + ticks * assumed.lambdaLogBytes) / 1e9;
  const keyRequests =
    Math.min(ticks, (hoursInMonth * 60) / assumed.keyPeriodMinutes) +
    (2 + queueKeyRequests) *
      Math.min(ticksWithNews, (hoursInMonth * 60) / assumed.keyPeriodMinutes);
  const metrics = constantMetrics + Math.min(1, perDay / 24, ticksWithNews / hoursInMonth);
  const reads = total(({ readUnits }) => readUnits);
  const writes = total(({ tableWriteUnits, indexWriteUnits }) => tableWriteUnits + indexWriteUnits);
  const line = (name: string, price: { readonly dollars: number }, quantity: number): Line => ({
    name,
    dollars: quantity * price.dollars,
    quantity: shown(quantity),
  });
  return [
    line('Alarms', prices.alarms, alarmMetrics),
    line('Key', prices.keys, 1),
    line('Metrics', prices.metrics, metrics),
    line('Secret', prices.secrets, 1),
    line('Function: time', prices.gigabyteSeconds, seconds * gigabytes),
    line('Function: invocations', prices.invocations, ticks + selfChecks),
    line('Schedule', prices.schedulerInvocations, ticks + selfChecks),
    line('Ledger: reads', prices.readUnits, reads),
    line('Ledger: writes', prices.writeUnits, writes),
    line('Ledger: storage', prices.stored, stored),
    line('Ledger: recovery', prices.backedUp, recoverable),
    line('Logs', prices.logged, logged),
    line('Key: requests', prices.keyRequests, keyRequests),
    line('Events', prices.published, events + ticksWithNews),
    line('Mails', prices.mails, ticksWithNews),
  ];
}

export function totalOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { dollars }) => sum + dollars, 0);
}

function shown(quantity: number): string {
  if (quantity >= 100) return Math.round(quantity).toLocaleString('en');
  return quantity.toLocaleString('en', { maximumSignificantDigits: 2 });
}
