import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Context } from 'aws-lambda';
import { describeDetails, describeError } from './describe-error.ts';
import { reachOf } from './errors.ts';
import { metricDimensions, metricNamespace, metrics as names } from './names.ts';
import type { Journal } from './ports/journal.ts';
import { isHindered } from './tick/conditions.ts';
import type { TickReport } from './tick/tick.ts';

/** One line a tick. */
export interface TickLine extends TickReport {
  /** HTTP requests to the partner, those for tokens included. */
  readonly requests: number;
  readonly durationMs: number;
}

/** Nobody is to get up for a pause, which somebody asked for, or for what was never begun. */
const asWanted: ReadonlySet<TickReport['outcome']> = new Set([
  'completed',
  'baseline',
  'paused',
  'no-credentials',
]);

/** What a tick leaves behind for ops: structured JSON log lines and metrics (EMF) on stdout. */
export class TickJournal implements Journal {
  readonly #logger: Logger;
  readonly #metrics: Metrics;

  /** @param ledger the name of the table */
  constructor(integration: string, ledger: string) {
    this.#logger = new Logger({
      serviceName: 'certification-notifier',
      persistentKeys: { integration },
    });
    this.#metrics = new Metrics({ namespace: metricNamespace });
    // Powertools puts `service` beside dimensions given to its constructor; the alarms look at ours alone.
    this.#metrics.clearDefaultDimensions();
    this.#metrics.setDefaultDimensions({
      [metricDimensions.integration]: integration,
      [metricDimensions.ledger]: ledger,
    });
  }

  /** Ties every line of this invocation to its request id. */
  begin(context: Context): void {
    this.#logger.addContext(context);
  }

  warn(what: string, details: Readonly<Record<string, unknown>>): void {
    this.#logger.warn(what, describeDetails(details));
  }

  completed(line: TickLine): void {
    this.#logger.info('tick', { ...line });
    const { conditions } = line;
    const more = (now: number, lasting = 0) => Math.max(now, lasting);
    const isNew = line.outcome === 'no-credentials';
    if (asWanted.has(line.outcome)) this.#count(names.ticksCompleted, 1);
    this.#count(names.partnerRequests, line.requests);
    this.#countAny(names.eventsDelivered, line.delivered);
    this.#countAny(names.eventsUndelivered, line.undelivered);
    this.#countAny(names.eventsUndeliverable, more(line.undeliverable, conditions.undeliverable));
    this.#countAny(names.eventsHeld, more(line.held, conditions.held));
    this.#countAny(names.unexplainedDifference, conditions.unexplained ?? 0);
    this.#countAny(names.recordsQuarantined, more(line.quarantined, conditions.quarantined));
    this.#countAny(names.refused, isHindered(conditions) && !isNew ? 1 : 0);
    this.#countAny(names.daysUnproven, conditions.unproven ?? 0);
    this.#metrics.publishStoredMetrics();
  }

  failed(error: unknown, effort: Pick<TickLine, 'requests' | 'durationMs'>): void {
    this.#logger.error('tick failed', { ...effort, problem: describeError(error) });
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
