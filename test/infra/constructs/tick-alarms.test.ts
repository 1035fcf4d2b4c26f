import { Match } from 'aws-cdk-lib/assertions';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TickJournal } from '../../../lambda/journal.ts';
import { metrics } from '../../../lambda/names.ts';
import { CredentialsNotSetError } from '../../../lambda/partner/secret.ts';
import type { TickReport } from '../../../lambda/tick/tick.ts';
import { at, listAt } from '../synthesized.ts';
import { only, operations, pollOf, table, template } from './two-districts.ts';

afterEach(() => vi.unstubAllEnvs());

const ledger = { Name: 'ledger', Value: { Ref: table.id } };

/** The alarms by their names within the stack. */
const alarmsOf = (integration: string): [name: string, alarm: unknown][] =>
  Object.entries(template.findResources('AWS::CloudWatch::Alarm')).flatMap(([id, alarm]) => {
    const [, name] = new RegExp(`^Notifier${integration}Alarms(\\w+)[0-9A-F]{8}$`).exec(id) ?? [];
    return name ? [[name, alarm]] : [];
  });

const quiet: TickReport = {
  integration: 'district-a',
  outcome: 'completed',
  created: 0,
  updated: 0,
  withdrawn: 0,
  restored: 0,
  held: 0,
  recorded: 0,
  examined: 0,
  proofs: {},
  conditions: {},
  unexplained: 0,
  missing: 0,
  failed: 0,
  quarantined: 0,
  conflicts: 0,
  delivered: 0,
  undelivered: 0,
  undeliverable: 0,
  cutShort: false,
  requests: 1,
  durationMs: 1,
};

/** The values that CloudWatch extracts from a tick's lines. */
function sentBy(act: (journal: TickJournal) => void): readonly unknown[] {
  // Powertools writes to the real console only with this setting. By default it writes to a stream
  // of its own.
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT');
  const written = vi.spyOn(console, 'log').mockReturnValue();
  act(new TickJournal('district-a', 'ledger'));
  return written.mock.calls
    .map(([line]): unknown => JSON.parse(String(line)))
    .flatMap((line) => listAt(line, '_aws', 'CloudWatchMetrics'));
}

const namesIn = (sent: readonly unknown[]) =>
  sent.flatMap((metrics) => listAt(metrics, 'Metrics').map((metric) => at(metric, 'Name')));

describe('the alarms', () => {
  it('tell ops when ticks of an integration fail', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/Lambda',
      MetricName: 'Errors',
      Dimensions: [{ Name: 'FunctionName', Value: { Ref: pollOf('district-b').id } }],
      Period: 900,
      DatapointsToAlarm: 3,
      EvaluationPeriods: 5,
      TreatMissingData: 'notBreaching',
      AlarmActions: [{ Ref: operations }],
      OKActions: [{ Ref: operations }],
    });
  });

  it('tell ops when no tick has completed for three periods, silence included', () => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'CertificationNotifier',
      MetricName: 'TicksCompleted',
      Dimensions: [
        { Name: 'integration', Value: 'district-a' },
        { Name: 'ledger', Value: { Ref: table.id } },
      ],
      Period: 60,
      EvaluationPeriods: 3,
      Threshold: 1,
      ComparisonOperator: 'LessThanThreshold',
      TreatMissingData: 'breaching',
      AlarmActions: [{ Ref: operations }],
    });
  });

  it('do not miss ticks before the first one: the alarm on silence depends on the schedule', () => {
    const [, alarm] = alarmsOf('districta').find(([name]) => name === 'NoCompletedTick') ?? [];
    const { id } = only('AWS::Scheduler::Schedule', {
      Description: Match.stringLikeRegexp('a tick of district-a'),
    });
    expect(listAt(alarm, 'DependsOn')).toContain(id);
  });

  it.each([
    ['Undeliverable', metrics.eventsUndeliverable],
    ['Held', metrics.eventsHeld],
    ['Quarantined', metrics.recordsQuarantined],
    ['Refused', metrics.refused],
    ['Unproven', metrics.daysUnproven],
    ['Unexplained', metrics.unexplainedDifference],
  ])(
    'go off with the first tick that says so, and end after five periods without one: %s',
    (name, lasting) => {
      const [, alarm] = alarmsOf('districta').find(([id]) => id === name) ?? [];
      expect(at(alarm, 'Properties')).toMatchObject({
        MetricName: lasting,
        Dimensions: [{ Name: 'integration', Value: 'district-a' }, ledger],
        Statistic: 'Maximum',
        Period: 60,
        Threshold: 1,
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        DatapointsToAlarm: 1,
        EvaluationPeriods: 5,
      });
    },
  );

  it('end when their metric is silent, except the one about silence', () => {
    const breaching = Object.entries(template.findResources('AWS::CloudWatch::Alarm')).filter(
      ([, alarm]) => at(alarm, 'Properties', 'TreatMissingData') !== 'notBreaching',
    );
    expect(breaching.map(([id]) => id)).toEqual([
      expect.stringMatching(/^NotifierdistrictaAlarmsNoCompletedTick/),
      expect.stringMatching(/^NotifierdistrictbAlarmsNoCompletedTick/),
    ]);
    expect(breaching.map(([, alarm]) => at(alarm, 'Properties', 'TreatMissingData'))).toEqual([
      'breaching',
      'breaching',
    ]);
  });

  it('read the metric under the exact dimensions that a tick writes', () => {
    const sent = sentBy((journal) => journal.completed(quiet));
    expect(sent).toMatchObject([
      { Namespace: 'CertificationNotifier', Dimensions: [['integration', 'ledger']] },
    ]);
    expect(namesIn(sent)).toEqual([metrics.ticksCompleted, metrics.partnerRequests]);
  });

  it('see a tick that fails for its credentials, which counts nothing else', () => {
    const refused = new CredentialsNotSetError('partner');
    const effort = { requests: 3, durationMs: 1 };
    expect(namesIn(sentBy((journal) => journal.failed(refused, effort)))).toEqual([
      metrics.refused,
    ]);
  });

  it('each have the impact, the likely causes and the next step', () => {
    const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
    expect(alarms.length).toBeGreaterThan(0);
    for (const alarm of alarms)
      expect(at(alarm, 'Properties', 'AlarmDescription')).toMatch(
        /Impact: .*\nLikely: .*\nDo: .*\nRunbook: /,
      );
  });
});
