import type { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { metricDimension, metricNamespace } from '../../lambda/names.ts';

/** A metric that the ticks of an integration write: its name is one of `metrics` in names.ts. */
export function metricOf(
  integration: string,
  metricName: string,
  options: { statistic: string; period?: Duration; label?: string },
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: metricNamespace,
    metricName,
    dimensionsMap: { [metricDimension]: integration },
    ...options,
  });
}
