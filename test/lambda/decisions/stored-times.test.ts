import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import { judged, mendedBy } from '../../../lambda/decisions/stored-times.ts';
import { Integration } from '../../scaffold/integration.ts';
import { tickSettings } from '../../scaffold/settings.ts';

const now = Date.parse('2026-11-21T08:00:00Z');
const settings = tickSettings();
const { recentMs, historyMs } = settings.audit;
const instant = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms);
const hour = 3_600_000;
const seen = [
  ...['goneAt', 'askedAt', 'owedAt', 'agreedSince', 'failedSince', 'refusedSince'],
  ...['tooManySince', 'unexplainedSince', 'unprovenSince', 'unreadAt'],
];

it.each<[what: string, mostAhead: number, stored: (at: number) => object]>([
  ['a lease taken', 0, (at) => ({ dirtySince: instant(at) })],
  ['a tick', 0, (at) => ({ heartbeat: instant(at).toString() })],
  [
    'a condition',
    0,
    (at) => ({ conditions: new Map([['held', { told: { at, number: now * 2 } }]]) }),
  ],
  ['a look', 0, (at) => ({ missing: { notes: [{ id: now * 2, since: at }] } })],
  ['anything seen', 0, (at) => Object.fromEntries(seen.map((name) => [name, at]))],
  ['a wait of held changes', settings.withdrawAfterMs, (at) => ({ gateLook: at })],
  ['the next look', hour, (at) => ({ missing: { lookAt: at } })],
  ['silence', hour, (at) => ({ pace: { refusal: { until: at, answered: now * 2 } } })],
  ['a token that ended', 0, (at) => ({ pace: { tokensEnded: [at], odd: { expires_in: at } } })],
  ['a back-off', hour, (at) => ({ backOff: { until: instant(at) } })],
  ['a day that is due', recentMs, (at) => ({ dueAt: at })],
  ['audits', historyMs, (at) => ({ auditsFrom: at })],
  ['a digest', 25 * hour, (at) => ({ digest: { dueAt: instant(at) } })],
  ['a day read', 0, (at) => new Map([['2026-11-21', { count: now * 2, readAt: at }]])],
  // Neither identities nor days are times.
  ['nothing', now, (at) => ({ baseline: { begunAt: at }, silence: { since: '2026-11-23' } })],
])('%s counts as now if it is stored as more than %i ms ahead', (_, most, stored) => {
  for (const at of [now - 1, now + most])
    expect(judged(stored(at), now, settings)).toEqual(stored(at));
  if (most < now) expect(judged(stored(now + most + 1), now, settings)).toEqual(stored(now));
});

it('a state is written back as it was judged, but for the fields that others write', () => {
  const [heartbeat, dueAt] = [instant(now + hour).toString(), now + 2 * historyMs + recentMs];
  const stored = { ...new Integration().memory.remembered, heartbeat, dueAt };
  const written = { dueAt: now, conditions: new Map() };
  expect(mendedBy(stored, judged(stored, now, settings))).toEqual(written);
});
