import { expect, it } from 'vitest';
import { noLease, type StateChanges } from '../../lambda/decisions/state.ts';
import { Integration } from '../scaffold/integration.ts';
import { ledgersInDynamoDb } from '../scaffold/ledgers.ts';
import { assessment } from '../support/assessments.ts';

const database = ledgersInDynamoDb();
const times = <Item>(length: number, item: (nth: number) => Item) =>
  Array.from({ length }, (_, nth) => item(nth));

/** The largest state that ticks keep: after a flood, with hundreds missing. */
function largest(at: number): StateChanges {
  const counts = { created: 12_345, updated: 12_345, restored: 0 };
  const most = { requests: 1_200, found: 12_345, held: 12_345, failed: 1 };
  const open = { since: at, number: 12_345, told: { at, number: 12_345 } };
  const ids = times(500, (nth) => 1_000_000 + nth);
  const withdrawn = times(24, (hour) => ({ at: at - hour * 3_600_000, number: 25 }));
  const found = times(7, (piece) => ({ at: at - piece * 600_000, known: 1_000_000, ...counts }));
  return {
    dirtySince: undefined,
    missing: {
      ...{ total: 12_345, tooManySince: at, lookAt: at + 600_000, accepted: 0, withdrawn },
      notes: ids.slice(0, 300).map((id) => ({ id, day: '2024-02-29', since: at, askedAt: at })),
    },
    gate: {
      ...{ found, edits: [] },
      unsettled: ids.map((id) => ({ id, revision: 1, at, isOut: false })),
    },
    activity: {
      minute: Math.floor(at / 60_000),
      ticks: times(30, () => ({ ...most, afterMinutes: 1 })),
      hours: times(24, () => most),
    },
    silence: { since: '2026-11-20', longest: 120 },
    conditions: new Map([
      ['held', open],
      ['missing', open],
    ]),
  };
}

it('a quiet tick costs one request, one read unit and one write unit, also after a flood and with hundreds missing', async () => {
  const story = new Integration(database.of);
  story.world = times(20, (nth) => assessment({ id: nth + 1, certified_on: '2026-11-20' }));
  await story.baseline();
  await story.minutes(2);
  const now = story.clock.now();
  const lease = { owner: 'a flood', until: now.add({ seconds: 30 }) };
  await story.ledger.takeLease(lease, now);
  const end = { ...largest(now.epochMilliseconds), heartbeat: now.toString(), ...noLease };
  await story.ledger.saveState(end, lease);
  story.requests.length = 0;
  const units = await database.unitsOf(() => story.tick());
  expect(story.requests).toEqual(['pulse']);
  expect(units).toEqual([1, 1]);
});
