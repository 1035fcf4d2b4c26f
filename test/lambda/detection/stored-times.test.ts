import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import { judged } from '../../../lambda/detection/stored-times.ts';
import { tickSettings } from '../../scaffold/settings.ts';

const now = Date.parse('2026-11-21T08:00:00Z');
const minute = 60_000;
const instant = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms);
const settings = tickSettings();
const { recentMs, historyMs } = settings.audit;

/** State whose times of sights are all so far ahead, and whose others are as far ahead as they can be, and so much. */
const state = (ahead: number) => ({
  dirtySince: instant(now + ahead),
  heartbeat: instant(now + ahead).toString(),
  unexplainedSince: now + ahead,
  conditions: new Map([['held', { since: now + ahead, told: { at: now + ahead, number: 5 } }]]),
  missing: { notes: [{ id: now * 2, since: now + ahead }], lookAt: now + 60 * minute + ahead },
  pace: {
    ...{ since: now + ahead, tokensEnded: [now + ahead], odd: { expires_in: now + ahead } },
    refusal: { at: now + ahead, until: now + 60 * minute + ahead, answered: 9e12 },
  },
  gateLook: now + settings.withdrawAfterMs + ahead,
  backOff: { until: instant(now + 60 * minute + ahead), failures: 2 },
  dueAt: now + recentMs + ahead,
  auditsFrom: now + historyMs + ahead,
  digest: { dueAt: instant(now + 25 * 60 * minute + ahead), owedAt: instant(now + ahead) },
});
const untouched = {
  baseline: { begunAt: now * 2, startDay: Temporal.PlainDate.from('2026-11-23') },
  silence: { since: '2026-11-22' },
  today: { day: '2026-11-22' },
  years: new Set([2026]),
  leaseUntil: instant(now * 2),
  pulseDigest: 'a',
};

it('stored times are believed as far ahead as they can lie, and count as now beyond', () => {
  expect(judged({ ...state(0), ...untouched }, now, settings)).toEqual({
    ...state(0),
    ...untouched,
  });
  expect(judged(untouched, now, settings)).toEqual(untouched);
  const far = judged(state(1), now, settings);
  expect(far).toMatchObject({
    ...{ dirtySince: instant(now), heartbeat: '2026-11-21T08:00:00Z', unexplainedSince: now },
    conditions: new Map([['held', { since: now, told: { at: now, number: 5 } }]]),
    missing: { notes: [{ id: now * 2, since: now }], lookAt: now },
    pace: {
      ...{ since: now, tokensEnded: [now], odd: { expires_in: now } },
      refusal: { at: now, until: now, answered: 9e12 },
    },
    gateLook: now,
    ...{ backOff: { until: instant(now), failures: 2 }, dueAt: now, auditsFrom: now },
    digest: { dueAt: instant(now), owedAt: instant(now) },
  });
  const days = new Map([['2026-11-21', { count: 9e12, readAt: now + 1, proof: { at: now - 1 } }]]);
  expect(judged(days, now, settings)).toEqual(
    new Map([['2026-11-21', { count: 9e12, readAt: now, proof: { at: now - 1 } }]]),
  );
});
