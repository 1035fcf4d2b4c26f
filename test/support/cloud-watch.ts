import * as z from 'zod';
import type { Json } from '../../local/aws/template.ts';

/** An alarm of a template whose intrinsic functions are resolved. Metric math is not supported. */
const alarmSchema = z.looseObject({
  Namespace: z.string(),
  MetricName: z.string(),
  Dimensions: z.array(z.object({ Name: z.string(), Value: z.string() })),
  Statistic: z.enum(['Sum', 'Maximum']),
  Period: z.int(),
  EvaluationPeriods: z.int(),
  DatapointsToAlarm: z.int().optional(),
  Threshold: z.number(),
  ComparisonOperator: z.enum(['GreaterThanOrEqualToThreshold', 'LessThanThreshold']),
  TreatMissingData: z.enum(['breaching', 'notBreaching']),
});

export type Alarm = z.output<typeof alarmSchema>;

export const alarmOf = (properties: Json | undefined): Alarm => alarmSchema.parse(properties);

/** One value of a metric. Its namespace, name and dimensions together identify the metric. */
interface Value {
  readonly metric: string;
  readonly value: number;
}

/** The identity of a metric. */
export function metricName(
  namespace: string,
  name: string,
  dimensions: readonly (readonly [name: string, value: string])[],
): string {
  const sorted = dimensions.map(([key, value]) => `${key}=${value}`).sort();
  return [namespace, name, ...sorted].join(' ');
}

function metricOfAlarm({ Namespace, MetricName, Dimensions }: Alarm): string {
  const dimensions = Dimensions.map(({ Name, Value }) => [Name, Value] as const);
  return metricName(Namespace, MetricName, dimensions);
}

const number = z.number();
const directive = z.looseObject({
  Namespace: z.string(),
  Dimensions: z.array(z.array(z.string())),
  Metrics: z.array(z.looseObject({ Name: z.string() })),
});
const embedded = z.looseObject({ _aws: z.looseObject({ CloudWatchMetrics: z.array(directive) }) });

/**
 * The values that CloudWatch extracts from a line in its embedded metric format. Other lines have
 * none.
 */
export function valuesIn(line: string): readonly Value[] {
  if (!line.startsWith('{')) return [];
  const { data } = embedded.safeParse(JSON.parse(line));
  if (data === undefined) return [];
  return data._aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) => {
      const dimensions = names.map((name) => [name, String(data[name])] as const);
      return Metrics.map(({ Name }) => {
        const value = number.parse(data[Name]);
        return { metric: metricName(Namespace, Name, dimensions), value };
      });
    }),
  );
}

/**
 * CloudWatch looks for older data before it treats data as missing. How far it looks is not
 * documented. Its example looks at five periods for three.
 */
export const periodsLookedAt = ({ EvaluationPeriods }: Alarm): number => EvaluationPeriods + 2;

/** Metrics over time, and the states of alarms by CloudWatch's documented rules. */
export class Watch {
  readonly #values: (Value & { readonly at: number })[] = [];
  /** Seconds. */
  #now = 0;

  note(...values: readonly Value[]): void {
    this.#values.push(...values.map((value) => ({ ...value, at: this.#now })));
  }

  pass(seconds: number): void {
    this.#now += seconds;
  }

  get metrics(): ReadonlySet<string> {
    return new Set(this.#values.map(({ metric }) => metric));
  }

  /**
   * The state follows the newest datapoints of finished periods. Only where these are too few,
   * missing data counts as the alarm treats it.
   */
  state(alarm: Alarm): 'ALARM' | 'OK' {
    const { Period, EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods } = alarm;
    const ended = Math.floor(this.#now / Period);
    const all = Array.from({ length: periodsLookedAt(alarm) }, (_, back) =>
      this.#isBreaching(alarm, (ended - back - 1) * Period),
    );
    const known = all.filter((one) => one !== undefined).slice(0, EvaluationPeriods);
    const missing = alarm.TreatMissingData === 'breaching' ? EvaluationPeriods - known.length : 0;
    return known.filter(Boolean).length + missing >= DatapointsToAlarm ? 'ALARM' : 'OK';
  }

  /** Undefined: no datapoint. */
  #isBreaching(alarm: Alarm, from: number): boolean | undefined {
    const metric = metricOfAlarm(alarm);
    const values = this.#values
      .filter((one) => one.metric === metric && one.at >= from && one.at < from + alarm.Period)
      .map(({ value }) => value);
    if (values.length === 0) return undefined;
    const isSum = alarm.Statistic === 'Sum';
    const datapoint = values.reduce((one, other) => (isSum ? one + other : Math.max(one, other)));
    return alarm.ComparisonOperator === 'LessThanThreshold'
      ? datapoint < alarm.Threshold
      : datapoint >= alarm.Threshold;
  }
}
