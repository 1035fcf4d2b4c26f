import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AccessDeniedError } from '../../../lambda/access-denied.ts';
import type { Announcer } from '../../../lambda/ports/announcer.ts';
import type { Journal } from '../../../lambda/ports/journal.ts';
import { Integration } from '../../scaffold/integration.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { assessment } from '../../support/assessments.ts';
import { titles } from './scenarios.ts';

const database = ledgersInDynamoDb();
let story: Integration;
beforeEach(async () => {
  story = new Integration();
  await story.emptyBaseline();
});

const time = (clock: string) => Temporal.Instant.from(`2026-11-${clock}Z`);
/** Runs one tick at that time, and none before it. */
async function tickAt(clock: string, overrides?: Parameters<Integration['tick']>[0]) {
  story.clock.advance(story.clock.now().until(time(clock)));
  return story.tick(overrides);
}
const { alerts } = tickSettings();
const add = (...ids: number[]) => story.add(...ids.map((id) => assessment({ id })));
const edit = (id: number, name = 'Odalys Ashgrove') => story.host.edit(id, { name });
const eventId = (id: number, revision = 1) => `${story.name}/${id}/${revision}`;

it('large revisions of a held certification finally fit with the identifiers alone', async () => {
  story = new Integration(database.of);
  await story.emptyBaseline();
  story.settings = { holdAbove: 0, fields: 'all' };
  add(1);
  for (let revision = 1; revision <= 5; revision += 1) {
    edit(1, `${'Odalys '.repeat(17_000)}${revision}`);
    story.clock.advance({ minutes: 16 });
    expect(await story.tick()).toMatchObject({ held: 1, failed: 0 });
  }
  const [page] = await Array.fromAsync(story.ledger.waitingForOps('held'));
  const events = page?.owed.map(({ event }) => event) ?? [];
  expect(events.map(({ sequence }) => sequence)).toEqual(['1', '2', '3', '4', '5']);
  expect(events[0]?.data.truncated).toBeUndefined();
  const { id, organization_id, assessment_name, certified_on } = assessment({ id: 1 });
  const identifiers = { id, organization_id, assessment_name, certified_on };
  const { data } = events.at(-1) ?? {};
  expect(data?.assessment).toEqual(identifiers);
  expect([data?.truncated, data?.changed]).toEqual([true, ['name']]);
});

it("quiet hours hold mails back until the morning in the integration's time zone", async () => {
  const quietHours = { from: '22:00', to: '07:00' };
  story.settings = { timeZone: 'Europe/Berlin', alerts: { ...alerts, quietHours } };
  story.subscribers.mailing = { accepted: false, code: 'InternalError' };
  add(1);
  await tickAt('21T20:59');
  story.subscribers.mailing = { accepted: true };
  add(2);
  for (const minute of ['21T21:00', '22T03:00', '22T05:59']) await tickAt(minute);
  expect(story.ids()).toHaveLength(2);
  expect(story.mails).toEqual([]);
  await tickAt('22T06:00');
  expect(story.mails.map((ids) => ids.sort())).toEqual([[eventId(1), eventId(2)]]);
});

describe("a certification's later event", () => {
  it('waits for a held one', async () => {
    story.settings = { holdAbove: 1 };
    add(1, 2);
    expect(await story.tick()).toMatchObject({ created: 2, held: 2 });
    edit(1);
    add(3);
    story.settings = { holdAbove: 10 };
    expect(await story.tick()).toMatchObject({ updated: 1, created: 1, held: 1, delivered: 1 });
    expect(story.ids()).toEqual([eventId(3)]);
  });
});

it('an event that SNS refuses for good is set aside, and not reported as denied with others', async () => {
  add(1, 2);
  const denial = new AccessDeniedError({ action: 'a:B', resource: 'c' }, '(d)', {});
  const publish: Announcer['publish'] = async (owed) => {
    const refused = owed.map((one) =>
      one.event.subject === '1'
        ? { owed: one, code: 'InvalidParameter', forGood: true }
        : { owed: one, code: 'd' },
    );
    return { accepted: [], refused, stopped: 'd', denial };
  };
  const warn = vi.fn<Journal['warn']>();
  const announcer = { ...story.subscribers, publish };
  const counted = { undelivered: 1, undeliverable: 1 };
  expect(await story.tick({ announcer, journal: { warn } })).toMatchObject(counted);
  const [first, second] = warn.mock.calls;
  expect(first).toEqual([
    'event undeliverable',
    { code: 'InvalidParameter', events: 1, first: eventId(1) },
  ]);
  expect(second?.[1]).toMatchObject({ code: 'd', problem: denial });
  expect(await story.ledger.countWaitingForOps('undeliverable')).toBe(1);
  expect(await story.tick()).toMatchObject({ delivered: 1, undelivered: 0, undeliverable: 0 });
  expect(story.mails).toEqual([[eventId(2)]]);
  expect(titles(story)).toContain('SNS refuses events for good');
});
