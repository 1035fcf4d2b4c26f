import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TickJournal, type TickLine } from '../../lambda/journal.ts';

const line: TickLine = {
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
  unexplained: 0,
  collapsed: false,
  cutShort: false,
  requests: 1,
  durationMs: 12,
};

/** The metrics that a tick of this kind publishes. */
function metricsOf(overrides: Partial<TickLine>): Record<string, unknown> {
  const written = vi.spyOn(console, 'log').mockReturnValue();
  written.mockClear();
  new TickJournal('district-a').completed({ ...line, ...overrides });
  const [emf] = written.mock.calls
    .map(([text]) => String(text))
    .filter((text) => /_aws/.test(text));
  if (emf === undefined) throw new Error('no metrics were written');
  return JSON.parse(emf);
}

beforeEach(() => {
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  // Otherwise Powertools writes past `console`.
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the metrics of a tick', () => {
  it('count it as completed, by integration', () => {
    expect(metricsOf({})).toMatchObject({ integration: 'district-a', TicksCompleted: 1 });
    expect(metricsOf({ outcome: 'baseline' })).toMatchObject({ TicksCompleted: 1 });
  });

  it.each(['busy', 'paused', 'backing-off'] as const)(
    'do not count it as completed when it was %s',
    (outcome) => {
      expect(metricsOf({ outcome })).not.toHaveProperty('TicksCompleted');
    },
  );

  it('tell what the alarms look at', () => {
    expect(metricsOf({ undelivered: 2, held: 3, quarantined: 4, delivered: 5 })).toMatchObject({
      EventsUndelivered: 2,
      EventsHeld: 3,
      RecordsQuarantined: 4,
      EventsDelivered: 5,
    });
  });
});
