import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { accessNames, conditionNames } from '../../lambda/decisions/conditions.ts';
import { TickJournal } from '../../lambda/journal.ts';
import { LedgerUnavailableError } from '../../lambda/ledger/errors.ts';
import { metrics as names } from '../../lambda/names.ts';
import { PartnerError } from '../../lambda/partner/errors.ts';
import { CredentialsNotSetError } from '../../lambda/partner/secret.ts';
import type { TickReport } from '../../lambda/tick/report.ts';

const none = { created: 0, updated: 0, withdrawn: 0, restored: 0, conflicts: 0, failed: 0 };
const line: TickReport = {
  ...{ integration: 'district-a', outcome: 'completed', ...none, held: 0, delivered: 0 },
  ...{ undelivered: 0, undeliverable: 0, recorded: 0, quarantined: 0, examined: 0, proofs: {} },
  ...{ conditions: {}, unexplained: 0, missing: 0, cutShort: false, requests: 1, durationMs: 12 },
};

const metricsSchema = z.array(z.object({ Metrics: z.array(z.object({ Name: z.string() })) }));
const emfSchema = z.looseObject({ _aws: z.object({ CloudWatchMetrics: metricsSchema }) });
type Emf = z.output<typeof emfSchema>;

function written(act: (journal: TickJournal) => void): Emf[] {
  const written = vi.spyOn(console, 'log').mockReturnValue();
  written.mockClear();
  act(new TickJournal('district-a', 'ledger-a'));
  return written.mock.calls
    .map(([text]) => String(text))
    .filter((text) => /_aws/.test(text))
    .map((text) => emfSchema.parse(JSON.parse(text)));
}

/** The metrics that a tick with this report publishes. */
function metricsOf(overrides: Partial<TickReport>): Emf {
  const [emf] = written((journal) => journal.completed({ ...line, ...overrides }));
  if (emf === undefined) throw new Error('no metrics were written');
  return emf;
}

const sentIn = ({ _aws }: Emf) =>
  _aws.CloudWatchMetrics.flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name));

beforeEach(() => {
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  // Otherwise Powertools bypasses `console`.
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT');
});
describe('the log of a tick', () => {
  const effort = { requests: 1, durationMs: 12 };
  const unavailable = new PartnerError('unavailable', 'list');
  const notCommitted = new LedgerUnavailableError('UpdateItem', { cause: new TypeError('Odalys') });
  const disturbed = { ...line, outcome: 'disturbed', failure: unavailable } as const;
  const completed = { ...line, failed: 1, failure: notCommitted };

  type Act = (journal: TickJournal) => void;
  const ends: Act = (journal) => journal.completed(disturbed);
  const commits: Act = (journal) => journal.completed(completed);
  const fails: Act = (journal) => journal.failed('Odalys', effort);
  const failsOddly: Act = (journal) => journal.failed({ id: 'Odalys' }, effort);
  it.each([
    ['a disturbance', ends, 'error', /tick failed.*"code":\s*"unavailable"/s],
    ['a failed commit', commits, 'info', /"code":\s*"ledger-unavailable"/],
    ['a thrown text', fails, 'error', /tick failed/],
    ['a thrown value', failsOddly, 'error', /tick failed/],
  ] as const)('has the error of %s, without a foreign text', (_, act, level, expected) => {
    vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'INFO');
    const logged = vi.spyOn(console, level).mockReturnValue();
    written(act);
    const text = logged.mock.calls.join('\n');
    expect(text).toMatch(expected);
    expect(text).not.toContain('Odalys');
  });
});

describe('the metrics of a tick', () => {
  it.each([
    ['completed', 1],
    ['baseline', 1],
    ['disturbed', 1],
    // Ticks run as ops want.
    ['paused', 1],
    ['busy', undefined],
    ['backing-off', undefined],
  ] as const)('count a tick as completed, by integration and ledger: %s', (outcome, completed) => {
    const by = { integration: 'district-a', ledger: 'ledger-a' };
    const { TicksCompleted, ...metrics } = metricsOf({ outcome, conditions: { paused: 3 } });
    expect(TicksCompleted).toBe(completed);
    expect(metrics).toMatchObject(by);
  });

  const isNew = { outcome: 'no-credentials', conditions: { 'credentials-not-set': 1 } } as const;
  it.each([
    ['nothing happened, since each of at most ten is paid for', {}],
    ['a new deployment waits for its credentials', isNew],
  ])('are two when %s', (_, report) => {
    expect(sentIn(metricsOf(report))).toEqual([names.ticksCompleted, names.partnerRequests]);
    expect(Object.keys(names).length).toBeLessThanOrEqual(10);
  });

  it('have the values that alarms read, with lasting conditions to which the tick has not added', () => {
    const lasting = { held: 7, undeliverable: 2, unproven: 3, 'credentials-refused': 1 };
    const report = { undelivered: 2, held: 1, quarantined: 4, delivered: 5 };
    expect(metricsOf({ ...report, conditions: lasting })).toMatchObject({
      ...{ EventsUndelivered: 2, EventsHeld: 7, RecordsQuarantined: 4, EventsDelivered: 5 },
      ...{ EventsUndeliverable: 2, DaysUnproven: 3, Refused: 1 },
    });
  });

  it('say that people must act on a failure of every tick, and on no other', () => {
    const refused = conditionNames.filter((name) =>
      sentIn(metricsOf({ conditions: { [name]: 1 } })).includes(names.refused),
    );
    expect(refused).toEqual([...accessNames]);
  });

  it('of a failed tick say that people must act, and nothing otherwise', () => {
    const effort = { requests: 1, durationMs: 12 };
    const unset = new CredentialsNotSetError('partner');
    expect(written((journal) => journal.failed(unset, effort))).toMatchObject([
      { Refused: 1, integration: 'district-a' },
    ]);
    expect(written((journal) => journal.failed(new Error('other'), effort))).toEqual([]);
  });
});
