import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AccessDeniedError } from '../../../lambda/access-denied.ts';
import { dispatch, type Message, TopicPace } from '../../../lambda/delivery/dispatch.ts';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import type { Announcer } from '../../../lambda/ports/announcer.ts';
import type { Journal } from '../../../lambda/ports/journal.ts';
import type { PartnerReader } from '../../../lambda/ports/partner-reader.ts';
import { batchResult } from '../../scaffold/batch-result.ts';
import { Integration } from '../../scaffold/integration.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { assessment } from '../../support/assessments.ts';
import { order } from './scenarios.ts';

const database = ledgersInDynamoDb();
let story: Integration;
beforeEach(async () => {
  story = new Integration();
  await story.tick();
});

const time = (clock: string) => Temporal.Instant.from(`2026-11-${clock}Z`);
/** Runs one tick at that time, and none before it. */
async function tickAt(clock: string, overrides?: Parameters<Integration['tick']>[0]) {
  story.clock.advance(story.clock.now().until(time(clock)));
  return story.tick(overrides);
}
const { alerts } = tickSettings();
const add = (...ids: number[]) => {
  story.world = [...story.world, ...ids.map((id) => assessment({ id }))];
};
const edit = (id: number, name: string) => {
  story.world = story.world.map((one) => (one.id === id ? { ...one, name } : one));
};
const eventId = (id: number, revision = 1) => `${story.name}/${id}/${revision}`;

it('a change after a commit without an answer waits for the next tick, even if earlier changes were delivered', async () => {
  const story = new Integration();
  const named = (organization_name: string) =>
    assessment({ id: 1, certified_on: '2026-11-20', organization_name });
  await story.minutes(2);
  story.add(named('first'));
  const dead = { ...story.subscribers, publish: () => Promise.reject(new Error('killed')) };
  await story.tick({ announcer: dead }).catch(() => undefined);
  story.clock.advance({ seconds: 70 });
  // The page shows the second name. The answer to its commit is lost, and an audit reads the third.
  story.add(named('second'));
  let commits = 0;
  const ledger = story.ledgerWith({
    commit: async (...change) => {
      const committed = await story.ledger.commit(...change);
      commits += 1;
      if (commits > 1) return committed;
      story.add(named('third'));
      throw new LedgerUnavailableError('UpdateItem', {});
    },
  });
  story.settings = { audit: { ...tickSettings().audit, recentMs: 1 } };
  await story.tick({ ledger });
  expect(commits).toBe(2);
  expect(story.ids()).toEqual([`${story.name}/1/1`]);
  story.clock.advance({ minutes: 1 });
  await story.tick();
  expect(story.ids().slice(1)).toEqual([`${story.name}/1/2`, `${story.name}/1/3`]);
});

describe('large revisions of one certification that are held', () => {
  beforeEach(async () => {
    story = new Integration(database.of);
    await story.tick();
  });

  it.each([
    ['all', true],
    [['name'], true],
    ['identifiers', undefined],
  ] as const)(
    'with the fields %s finally fit with the identifiers alone',
    async (fields, truncated) => {
      story.settings = { holdAbove: 0, fields };
      add(1);
      for (let revision = 1; revision <= 5; revision += 1) {
        edit(1, `${'Odalys '.repeat(17_000)}${revision}`);
        story.clock.advance({ minutes: 16 });
        expect(await story.tick()).toMatchObject({ held: 1, failed: 0 });
      }
      const [page] = await Array.fromAsync(story.ledger.waitingForOps('held'));
      const events = page?.owed.map(({ event }) => event) ?? [];
      expect(events.map(({ sequence }) => sequence)).toEqual(['1', '2', '3', '4', '5']);
      const last = events.at(-1);
      const { id, organization_id, assessment_name, certified_on } = assessment({ id: 1 });
      expect(last?.data.assessment).toEqual({ id, organization_id, assessment_name, certified_on });
      expect(last?.data.truncated).toBe(truncated);
      expect(last?.data.changed).toEqual(['name']);
      expect(events[0]?.data.truncated).toBeUndefined();
    },
  );
});

describe('the one mail of a tick', () => {
  it('has all events that the tick has delivered, over any number of batches', async () => {
    story.settings = { holdAbove: 2_000 };
    add(...Array.from({ length: 1_100 }, (_, index) => index + 1));
    expect(await story.tick()).toMatchObject({ delivered: 1_100, undelivered: 0 });
    expect(story.mails.map((ids) => ids.length)).toEqual([1_100]);
    expect(new Set(story.mails[0]).size).toBe(1_100);
    expect(await Array.fromAsync(story.ledger.leftovers('digest'))).toEqual([]);
  });

  it('has leftovers and new events together', async () => {
    add(1);
    story.subscribers.refuse = () => true;
    await story.tick();
    story.subscribers.refuse = () => false;
    add(2);
    expect(await story.tick()).toMatchObject({ delivered: 2 });
    expect(story.mails).toEqual([[eventId(1), eventId(2)]]);
  });

  it('is sent, and its events only once, if the tick fails after their delivery', async () => {
    add(1);
    const failing = story.ledgerWith({
      addToDays: async (deltas) => {
        if ([...deltas.values()].some((delta) => delta > 0))
          throw new LedgerUnavailableError('UpdateItem', {});
        return story.ledger.addToDays(deltas);
      },
    });
    await expect(story.tick({ ledger: failing })).rejects.toThrow(LedgerUnavailableError);
    expect(story.mails).toEqual([[eventId(1)]]);
    await story.tick();
    expect(story.ids()).toEqual([eventId(1)]);
    expect(story.mails).toHaveLength(1);
  });
});

describe('a digest of several ticks', () => {
  beforeEach(() => {
    story.settings = { alerts: { ...alerts, digestEvery: 60 } };
  });

  it('is one mail after `digestEvery`, while its events are sent at once', async () => {
    add(1, 2);
    expect(await tickAt('21T08:01')).toMatchObject({ delivered: 2, undelivered: 0 });
    add(3);
    expect(await tickAt('21T08:02')).toMatchObject({ delivered: 1, undelivered: 0 });
    await tickAt('21T09:00');
    expect(story.mails).toEqual([]);
    await tickAt('21T09:01');
    expect(story.mails.map((ids) => ids.sort())).toEqual([[eventId(1), eventId(2), eventId(3)]]);
    for (const hour of ['09:02', '10:01', '10:02', '11:30']) await tickAt(`21T${hour}`);
    expect(story.mails).toHaveLength(1);
    expect((await story.ledger.state()).digest).toBeUndefined();
  });

  it('adds no call to a quiet tick while it waits', async () => {
    add(1);
    await tickAt('21T08:01');
    const asked: string[] = [];
    const ledger = new Proxy(story.ledger, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        asked.push(String(name));
        return method.bind(target);
      },
    });
    await tickAt('21T08:05', { ledger });
    expect(asked).toEqual(['state', 'saveState']);
  });

  it('is sent although the tick died before it could note the debt', async () => {
    add(1);
    const died = story.ledgerWith({
      saveState: (changes, lease) =>
        'heartbeat' in changes
          ? Promise.reject(new Error('killed'))
          : story.ledger.saveState(changes, lease),
    });
    await expect(tickAt('21T08:01', { ledger: died })).rejects.toThrow('killed');
    story.clock.advance({ seconds: 70 });
    await tickAt('21T08:03');
    await tickAt('21T09:04');
    expect(story.ids()).toEqual([eventId(1)]);
    expect(story.mails).toEqual([[eventId(1)]]);
  });

  it('is sent again, and not lost, if the tick dies right after sending it', async () => {
    add(1);
    await tickAt('21T08:01');
    const died = story.ledgerWith({ settle: () => Promise.reject(new Error('killed')) });
    await expect(tickAt('21T09:01', { ledger: died })).rejects.toThrow('killed');
    await tickAt('21T09:03');
    expect(story.mails).toEqual([[eventId(1)], [eventId(1)]]);
  });

  it('has published events although a later event of their certification is not published', async () => {
    add(1);
    await tickAt('21T08:01');
    edit(1, 'Odalys Ashgrove');
    story.subscribers.refuse = ({ id }) => id === eventId(1, 2);
    expect(await tickAt('21T09:01')).toMatchObject({ updated: 1, undelivered: 1 });
    expect(story.mails).toEqual([[eventId(1)]]);
  });

  it('that SNS refuses is retried by the next tick', async () => {
    add(1);
    await tickAt('21T08:01');
    story.subscribers.mailing = { accepted: false, code: 'InternalError' };
    expect(await tickAt('21T09:01')).toMatchObject({ delivered: 0, undelivered: 1 });
    story.subscribers.mailing = { accepted: true };
    await tickAt('21T09:02');
    expect(story.mails).toEqual([[eventId(1)]]);
  });

  it('has events that the index shows late', async () => {
    story.settings = { alerts: { ...alerts, digestEvery: 1 } };
    add(1);
    await tickAt('21T08:01');
    const lagging = story.ledgerWith({ leftovers: async function* () {} });
    await tickAt('21T08:02', { ledger: lagging });
    expect(story.mails).toEqual([]);
    await tickAt('21T08:12');
    expect(story.mails).toEqual([[eventId(1)]]);
  });

  it('is sent also while the partner is left alone', async () => {
    add(1);
    await tickAt('21T08:01');
    await story.ledger.saveState({ backOff: { until: time('21T12:00'), failures: 5 } });
    expect(await tickAt('21T09:01')).toMatchObject({ outcome: 'backing-off' });
    expect(story.mails).toEqual([[eventId(1)]]);
  });
});

describe('quiet hours', () => {
  beforeEach(() => {
    const quietHours = { from: '22:00', to: '07:00' };
    story.settings = { timeZone: 'Europe/Berlin', alerts: { ...alerts, quietHours } };
  });

  it('add no call to a quiet tick while a mail refused before them waits', async () => {
    add(1);
    story.subscribers.mailing = { accepted: false, code: 'InternalError' };
    await tickAt('21T20:59');
    story.subscribers.mailing = { accepted: true };
    for (const minute of ['21T21:00', '21T21:12']) await tickAt(minute);
    const ledger = story.ledgerWith({
      takeLease: () => Promise.reject(new Error('a quiet tick needs no lease')),
    });
    await tickAt('21T21:13', { ledger });
    expect(story.mails).toEqual([]);
    await tickAt('22T06:00');
    expect(story.mails).toEqual([[eventId(1)]]);
  });

  it("hold the mail back until the morning in the integration's time zone", async () => {
    add(1);
    await tickAt('21T20:59');
    expect(story.mails).toHaveLength(1);
    add(2);
    await tickAt('21T21:00');
    add(3);
    await tickAt('22T03:00');
    await tickAt('22T05:59');
    expect(story.ids()).toHaveLength(3);
    expect(story.mails).toHaveLength(1);
    await tickAt('22T06:00');
    expect(story.mails[1]?.toSorted()).toEqual([eventId(2), eventId(3)]);
  });
});

describe("the order of a certification's events", () => {
  it('is kept: later events wait for one that SNS has refused', async () => {
    add(1, 2);
    story.subscribers.refuse = ({ id }) => id === eventId(1);
    expect(await story.tick()).toMatchObject({ delivered: 1, undelivered: 1 });
    edit(1, 'Odalys Ashgrove');
    edit(2, 'Odalys Ashgrove');
    expect(await story.tick()).toMatchObject({ updated: 2, undelivered: 2, delivered: 1 });
    story.subscribers.refuse = () => false;
    await story.tick();
    expect(story.ids().filter((id) => id.startsWith(`${story.name}/1/`))).toEqual([
      eventId(1),
      eventId(1, 2),
    ]);
    expect(story.ids()).toHaveLength(4);
  });

  it('is kept behind a refused event although an older event left in the same tick', async () => {
    add(1);
    story.subscribers.refuse = () => true;
    await story.tick();
    edit(1, 'Odalys Ashgrove');
    story.subscribers.refuse = ({ id }) => id === eventId(1, 2);
    // The page shows one edit. The audit of its day, later in the same tick, shows the next one.
    const prove = story.partner.prove.bind(story.partner);
    Object.assign(story.partner, {
      prove: (...asked) => {
        edit(1, 'Odalys Thistlewood');
        return prove(...asked);
      },
    } satisfies Partial<PartnerReader>);
    story.clock.advance({ minutes: 16 });
    expect(await story.tick()).toMatchObject({ updated: 2, delivered: 1, undelivered: 2 });
    expect(story.ids()).toEqual([eventId(1)]);
    story.subscribers.refuse = () => false;
    await story.tick();
    expect(story.ids()).toEqual([eventId(1), eventId(1, 2), eventId(1, 3)]);
  });

  it('is kept while the index does not show the older event yet', async () => {
    expect(await order.tell(new Integration())).toEqual(order.seen);
  });

  it('is kept if there is no time for the older event', async () => {
    add(1);
    story.subscribers.refuse = () => true;
    await story.tick();
    story.subscribers.refuse = () => false;
    story.clock.advance({ minutes: 1 });
    add(2);
    const late: Announcer = {
      ...story.subscribers,
      publish: async (owed) => ({
        accepted: [],
        refused: owed.map((one) => ({ owed: one, code: 'OutOfTime' })),
        stopped: 'OutOfTime',
      }),
    };
    expect(await story.tick({ announcer: late })).toMatchObject({ created: 1, undelivered: 2 });
    await story.tick();
    expect(story.ids()).toEqual([eventId(1), eventId(2)]);
  });

  it('is kept behind a held event', async () => {
    story.settings = { holdAbove: 1 };
    add(1, 2);
    expect(await story.tick()).toMatchObject({ created: 2, held: 2 });
    edit(1, 'Odalys Ashgrove');
    add(3);
    story.settings = { holdAbove: 10 };
    expect(await story.tick()).toMatchObject({ updated: 1, created: 1, held: 1, delivered: 1 });
    expect(story.ids()).toEqual([eventId(3)]);
  });
});

describe('an event that SNS refuses for good', () => {
  const fussy = (): Announcer => ({
    ...story.subscribers,
    publish: async (owed, deadline) => {
      const isBad = (one: (typeof owed)[number]) => one.event.subject === '1';
      const { accepted } = await story.subscribers.publish(
        owed.filter((one) => !isBad(one)),
        deadline,
      );
      const refused = owed
        .filter(isBad)
        .map((one) => ({ owed: one, code: 'InvalidParameter', forGood: true }) as const);
      return { accepted, refused };
    },
  });

  it('is counted, set aside and not retried, and the others are delivered', async () => {
    add(1, 2);
    expect(await story.tick({ announcer: fussy() })).toMatchObject({
      delivered: 1,
      undelivered: 0,
      undeliverable: 1,
    });
    expect(await story.ledger.countWaitingForOps('undeliverable')).toBe(1);
    expect(await story.tick()).toMatchObject({ delivered: 0, undelivered: 0, undeliverable: 0 });
    expect(story.ids()).toEqual([eventId(2)]);
    expect(story.mails).toEqual([[eventId(2)]]);
    expect(story.warnings).toEqual(['event undeliverable']);
  });

  it('is not reported as denied if other events are', async () => {
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
    await story.tick({ announcer: { ...story.subscribers, publish }, journal: { warn } });
    const [[, ofInvalid] = [], [, ofDenied] = []] = warn.mock.calls;
    expect(ofInvalid).toMatchObject({ code: 'InvalidParameter' });
    expect(ofInvalid).not.toHaveProperty('problem');
    expect(ofDenied).toMatchObject({ code: 'd', problem: denial });
  });
});

describe('ticks that die within a delivery', () => {
  /** A tick that dies at the n-th answer of SNS or of the ledger during its delivery. */
  async function dieAt(answers: number, sent: Map<string, number>): Promise<void> {
    const { clock } = story;
    const death = Promise.withResolvers<undefined>();
    let left = answers;
    const answered = async <Answer>(call: () => Promise<Answer>): Promise<Answer> => {
      if (left <= 0) return new Promise(() => undefined);
      const answer = await call();
      left -= 1;
      if (left > 0) return answer;
      death.resolve(undefined);
      return new Promise(() => undefined);
    };
    const pace = new TopicPace();
    const publish: Announcer['publish'] = (owed, deadline, onAccepted) => {
      const asked = { action: 'sns:Publish', resource: 'the topic' };
      const context = { clock, random: () => 0.5, pace, deadline, onAccepted, asked };
      const messages = owed.map((one) => ({ owed: one, ...messageOf(one.event) }));
      const send = (batch: readonly Message[]) =>
        answered(async () => {
          for (const { event } of batch.map((one) => one.owed))
            sent.set(event.id, (sent.get(event.id) ?? 0) + 1);
          return batchResult(batch.map(() => undefined));
        });
      return dispatch(messages, send, context);
    };
    const ledger = story.ledgerWith({
      settle: (...settled) => answered(() => story.ledger.settle(...settled)),
    });
    const announcer = { ...story.subscribers, publish };
    await Promise.race([story.tick({ ledger, announcer }), death.promise]);
    story.clock.advance({ minutes: 2 });
  }

  it('repeat at most ten events each', async () => {
    story.settings = { holdAbove: 1_000 };
    await story.minutes(2);
    for (let id = 1; id <= 400; id++) story.world = [...story.world, assessment({ id })];
    const sent = new Map<string, number>();
    for (let death = 0; death < 20; death++) await dieAt(3 + (death % 3), sent);
    await dieAt(10_000, sent);
    const repeated = [...sent.values()].reduce((sum, times) => sum + times - 1, 0);
    expect(sent.size).toBe(400);
    expect(repeated).toBeLessThanOrEqual(200);
    expect((await story.tick()).undelivered).toBe(0);
  });
});
