import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { accessNames, conditionNames } from '../../lambda/detection/conditions.ts';
import { TickJournal } from '../../lambda/journal.ts';
import { LedgerUnavailableError } from '../../lambda/ledger/errors.ts';
import { metrics as names } from '../../lambda/names.ts';
import { PartnerError } from '../../lambda/partner/errors.ts';
import { CredentialsNotSetError } from '../../lambda/partner/secret.ts';
import type { TickReport } from '../../lambda/tick/tick.ts';

const line: TickReport = {
  integration: 'district-a',
  outcome: 'completed',
  created: 0,
  updated: 0,
  withdrawn: 0,
  restored: 0,
  conflicts: 0,
  failed: 0,
  held: 0,
  delivered: 0,
  undelivered: 0,
  undeliverable: 0,
  recorded: 0,
  quarantined: 0,
  examined: 0,
  proofs: {},
  conditions: {},
  unexplained: 0,
  missing: 0,
  cutShort: false,
  requests: 1,
  durationMs: 12,
};

const emfSchema = z.looseObject({
  _aws: z.object({
    CloudWatchMetrics: z.array(z.object({ Metrics: z.array(z.object({ Name: z.string() })) })),
  }),
});
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
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the line of a tick', () => {
  it('of a disturbed tick follows the error with its cause, and counts the tick as completed', () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'INFO');
    const failure = new PartnerError('unavailable', 'list');
    const sent = written((journal) =>
      journal.completed({ ...line, outcome: 'disturbed', failure }),
    );
    const text = logged.mock.calls.join('\n');
    logged.mockRestore();
    expect(text).toMatch(/tick failed.*"code":\s*"unavailable"/s);
    expect(sent).toMatchObject([{ TicksCompleted: 1 }]);
  });

  it('has the reason of a failed commit, without the text of a foreign cause', () => {
    vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'INFO');
    const logged = vi.spyOn(console, 'info').mockReturnValue();
    const failure = new LedgerUnavailableError('UpdateItem', { cause: new TypeError('Odalys') });
    written((journal) => journal.completed({ ...line, failed: 1, failure }));
    const text = logged.mock.calls.join('\n');
    logged.mockRestore();
    expect(text).toMatch(/"code":\s*"ledger-unavailable"/);
    expect(text).not.toContain('Odalys');
  });
});

describe('the log of a failed tick', () => {
  it('omits a thrown value that is no error', () => {
    vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'INFO');
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    const effort = { requests: 1, durationMs: 12 };
    for (const thrown of ['Odalys Quillfeather', { email: 'odalys@example.org' }])
      new TickJournal('district-a', 'ledger-a').failed(thrown, effort);
    expect(logged).toHaveBeenCalledTimes(2);
    expect(JSON.stringify(logged.mock.calls)).toContain('tick failed');
    expect(JSON.stringify(logged.mock.calls)).not.toMatch(/Odalys|@example/i);
  });
});

describe('the metrics of a tick', () => {
  it('count it as completed, by integration and ledger', () => {
    expect(metricsOf({})).toMatchObject({
      integration: 'district-a',
      ledger: 'ledger-a',
      TicksCompleted: 1,
    });
    expect(metricsOf({ outcome: 'baseline' })).toMatchObject({ TicksCompleted: 1 });
  });

  it('page nobody for a pause, in which ticks run as ops want', () => {
    expect(metricsOf({ outcome: 'paused', conditions: { paused: 3 } })).toMatchObject({
      TicksCompleted: 1,
    });
  });

  it('raise no alarm while a new deployment waits for its credentials', () => {
    const conditions = { 'credentials-not-set': 1 };
    expect(sentIn(metricsOf({ outcome: 'no-credentials', conditions }))).toEqual([
      names.ticksCompleted,
      names.partnerRequests,
    ]);
  });

  it.each(['busy', 'backing-off'] as const)(
    'do not count it as completed when it was %s',
    (outcome) => {
      expect(metricsOf({ outcome })).not.toHaveProperty('TicksCompleted');
    },
  );

  it('have the values that alarms read', () => {
    expect(metricsOf({ undelivered: 2, held: 3, quarantined: 4, delivered: 5 })).toMatchObject({
      EventsUndelivered: 2,
      EventsHeld: 3,
      RecordsQuarantined: 4,
      EventsDelivered: 5,
    });
  });

  it('include lasting conditions, although this tick has not added to them', () => {
    const conditions = {
      held: 7,
      quarantined: 4,
      undeliverable: 2,
      unproven: 3,
      'credentials-refused': 1,
    };
    expect(metricsOf({ held: 1, conditions })).toMatchObject({
      EventsHeld: 7,
      RecordsQuarantined: 4,
      EventsUndeliverable: 2,
      DaysUnproven: 3,
      Refused: 1,
    });
  });

  it('say that people must act on a failure of every tick, and on no other', () => {
    const refused = conditionNames.filter((name) =>
      sentIn(metricsOf({ conditions: { [name]: 1 } })).includes(names.refused),
    );
    expect(refused).toEqual([...accessNames]);
  });

  it('are two when nothing happened, since each is paid for', () => {
    expect(sentIn(metricsOf({}))).toEqual([names.ticksCompleted, names.partnerRequests]);
  });

  it('are at most ten', () => {
    expect(Object.keys(names).length).toBeLessThanOrEqual(10);
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
