import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { noticed } from './condition-table.ts';
import { accessNames, conditionNames } from './decisions/conditions.ts';
import { reachOf } from './errors.ts';
import { FunctionJournal } from './function-journal.ts';
import { metricDimensions, metricNamespace, metrics as names } from './names.ts';
import type { TickReport } from './tick/report.ts';

/**
 * Outcomes that wake nobody up: a pause that ops asked for, work that was never begun, and failures
 * that may end by themselves.
 */
const asWanted: ReadonlySet<TickReport['outcome']> = new Set([
  'completed',
  'baseline',
  'paused',
  'no-credentials',
  'disturbed',
]);

/** The number of an open condition, or of this tick's own finds if that is more. */
function conditionMetrics(line: TickReport): ReadonlyMap<string, number> {
  const { conditions, held, undeliverable, quarantined } = line;
  const met: TickReport['conditions'] = { held, undeliverable, quarantined };
  const isNew = line.outcome === 'no-credentials';
  const refused = accessNames.some((name) => conditions[name]);
  const values = new Map<string, number>([[names.refused, refused && !isNew ? 1 : 0]]);
  for (const name of conditionNames) {
    const { metric } = noticed[name];
    if (metric) values.set(metric, Math.max(conditions[name] ?? 0, met[name] ?? 0));
  }
  return values;
}

/** The log of ticks, with metrics (EMF) on stdout, too. */
export class TickJournal extends FunctionJournal {
  readonly #metrics: Metrics;

  /** @param ledger the name of the table */
  constructor(integration: string, ledger: string) {
    super('certification-notifier', integration);
    this.#metrics = new Metrics({ namespace: metricNamespace });
    // Powertools puts `service` beside dimensions given to its constructor; the alarms look at ours alone.
    this.#metrics.clearDefaultDimensions();
    this.#metrics.setDefaultDimensions({
      [metricDimensions.integration]: integration,
      [metricDimensions.ledger]: ledger,
    });
  }

  completed({ failure, ...line }: TickReport): void {
    const { requests, durationMs } = line;
    if (line.outcome === 'disturbed') this.error('tick failed', failure, { requests, durationMs });
    this.info('tick', { ...line, ...(failure && { failure }) });
    if (asWanted.has(line.outcome)) this.#count(names.ticksCompleted, 1);
    this.#count(names.partnerRequests, line.requests);
    this.#countAny(names.eventsDelivered, line.delivered);
    this.#countAny(names.eventsUndelivered, line.undelivered);
    for (const [metric, value] of conditionMetrics(line)) this.#countAny(metric, value);
    this.#metrics.publishStoredMetrics();
  }

  failed(error: unknown, effort: Pick<TickReport, 'requests' | 'durationMs'>): void {
    this.error('tick failed', error, { ...effort });
    if (reachOf(error) !== 'access') return;
    this.#count(names.refused, 1);
    this.#metrics.publishStoredMetrics();
  }

  /** A metric costs nothing in an hour in which it is not sent. */
  #countAny(name: string, value: number): void {
    if (value !== 0) this.#count(name, value);
  }

  #count(name: string, value: number): void {
    this.#metrics.addMetric(name, MetricUnit.Count, value);
  }
}
