import { beforeEach, describe, expect, it } from 'vitest';
import { recentWindow } from '../../../lambda/decisions/days.ts';
import type { NotifierError } from '../../../lambda/errors.ts';
import type { OwedEvent } from '../../../lambda/events/owed-event.ts';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { announce } from '../../../lambda/tick/announce.ts';
import * as steps from '../../../lambda/tick/deliver.ts';
import {
  type Delivery,
  type Done,
  nothingDelivered,
  nothingDone,
} from '../../../lambda/tick/done.ts';
import type { LeasedParts, Step } from '../../../lambda/tick/parts.ts';
import { leaseOf, timeUntil } from '../../../lambda/tick/time.ts';
import { Integration } from '../../scaffold/integration.ts';
import { replacedIn } from '../../scaffold/ports.ts';
import { sightingsOf } from '../../scaffold/sightings.ts';
import { stepped } from '../../scaffold/stepped.ts';
import { assessment } from '../../support/assessments.ts';
import { eventOf } from '../events/announced.ts';

const event = eventOf(assessment({ id: 1 }), { fields: 'identifiers' });

/** First revisions, with consecutive ids from this one on. */
function owedEvents(count: number, from = 1, owes: OwedEvent['owes'] = 'event-and-digest') {
  return Array.from({ length: count }, (_, index): OwedEvent => {
    const id = from + index;
    const own = { ...event, id: `district-a/${id}/1`, subject: String(id) };
    return { certificationId: id, revision: 1, event: own, owes };
  });
}

let story: Integration;
let settled: { count: number; rest: string }[];
/** Pages of leftovers that were read. */
let pages: number;
let unreadableOutbox: NotifierError | undefined;
beforeEach(() => {
  pages = 0;
  unreadableOutbox = undefined;
  story = new Integration();
  settled = [];
});

interface Tick {
  readonly parts: LeasedParts;
  readonly done: Done;
}

/** The delivery after a step. */
const after = async ({ parts, done }: Tick, delivery: Delivery, step: Step) =>
  (await stepped(parts, { ...done, delivery }, step)).done.delivery;
const inherit = (tick: Tick, state: LeasedParts['state']) =>
  after(tick, nothingDelivered, steps.inherit({ ...tick.parts, state }));
const deliver = (
  tick: Tick,
  delivery: Delivery,
  ...given: [committed: OwedEvent[], unsure: number[]]
) => after(tick, delivery, steps.deliver(tick.parts, ...given));
const tellPeople = (tick: Tick, delivery: Delivery) =>
  after(tick, delivery, steps.tellPeople(tick.parts));

/** The parts of a tick that holds the lease, and the state before it. */
async function leased(left: { events?: OwedEvent[]; digest?: OwedEvent[] } = {}, perPage = 20_000) {
  const ledger = story.ledgerWith({
    settle: async ({ length: count }, rest) => void settled.push({ count, rest }),
    leftovers: async function* (owing) {
      const owed = (owing === 'event' ? left.events : left.digest) ?? [];
      for (let start = 0; start === 0 || start < owed.length; start += perPage) {
        pages += 1;
        const unreadable = start === 0 && unreadableOutbox ? [unreadableOutbox] : [];
        yield { owed: owed.slice(start, start + perPage), unreadable };
      }
    },
  });
  const now = story.clock.now();
  const time = timeUntil(now.add({ minutes: 1 }));
  const lease = leaseOf('a', time);
  const state = (await story.ledger.takeLease(lease, now)) ?? expect.fail('the lease is taken');
  const { timeZone, recentDays } = story.parts.settings;
  const window = recentWindow(now, timeZone, recentDays);
  const parts = { ...story.parts, ledger, lease, state, window };
  return { tick: { parts, done: nothingDone(state, time, 0) }, state };
}

const settledAs = (rest: string) =>
  settled.filter((one) => one.rest === rest).reduce((sum, { count }) => sum + count, 0);

describe('the delivery of a tick', () => {
  it('returns a new value, and an event waits whose commit may have succeeded', async () => {
    const { tick, state } = await leased();
    const before = await inherit(tick, state);
    const copy = structuredClone({ ...before, schedule: undefined });
    const after = await deliver(tick, before, owedEvents(3), [3]);
    await tellPeople(tick, after);
    expect({ ...before }).toEqual(copy);
    expect(after).toMatchObject({ delivered: 2, undelivered: 1, undeliverable: 0 });
    expect(story.mails).toEqual([['district-a/1/1', 'district-a/2/1']]);
  });

  it.each([
    ['is next', {}, undefined, 1],
    ['is behind one that this tick has sent', { sent: new Set([1]) }, 'pending', 1],
    ['is behind one that this tick has not sent', {}, 'pending', 0],
    ['is behind one that has to wait', { sent: new Set([1]), waiting: new Set([1]) }, 'pending', 0],
    ['is next, and there is no time', { isStopped: true }, undefined, 0],
  ] as const)('publishes an event only in order: it %s', async (_, changed, behind, delivered) => {
    const { tick, state } = await leased();
    const before = { ...(await inherit(tick, state)), ...changed };
    const committed = owedEvents(1).map((one) => ({ ...one, ...(behind && { behind }) }));
    const after = await deliver(tick, before, committed, []);
    expect(after).toMatchObject({ delivered, undelivered: 1 - delivered });
    expect(after.waiting.has(1)).toBe(delivered === 0);
  });

  it('settles each accepted batch at once, and again after the mail', async () => {
    const { tick, state } = await leased();
    const begun = await inherit(tick, state);
    const all = await deliver(tick, begun, owedEvents(12), []);
    expect(settled).toEqual([
      { count: 10, rest: 'digest' },
      { count: 2, rest: 'digest' },
    ]);
    await tellPeople(tick, all);
    expect(settledAs('nothing')).toBe(12);
  });

  it("has at most 20,000 events in a mail, and leaves the others to the next tick's", async () => {
    const { tick, state } = await leased();
    const begun = await inherit(tick, state);
    const many = await deliver(tick, begun, owedEvents(19_999), []);
    const all = await deliver(tick, many, owedEvents(2, 20_000), []);
    const told = await tellPeople(tick, all);
    expect(story.mails.map(({ length }) => length)).toEqual([20_000]);
    expect(settledAs('nothing')).toBe(20_000);
    expect(told.schedule?.dueAt).toEqual(story.clock.now());
    await tellPeople(tick, told);
    expect(story.mails).toHaveLength(1);
  });
});

it('a batch that takes long leaves a tick twice its time for the next one', async () => {
  const { tick } = await leased();
  const { parts, done } = tick;
  const commit = async () => void story.clock.advance({ seconds: 20 });
  const slow = { ...parts, ledger: replacedIn(parts.ledger, { commit }) };
  const changes = sightingsOf([assessment()], new Map(), 'salt');
  const after = await stepped(slow, done, announce(slow, changes, { in: 'page' }));
  expect(after.done.time.reserveMs).toBe(40_000);
});

describe('events that wait for a mail', () => {
  it.each([
    [2, 10],
    [20_000, 0],
    [0, undefined],
  ])('are looked for again, after %i were in a mail, in %s minutes', async (found, minutes) => {
    const { tick, state } = await leased({ digest: owedEvents(found, 1, 'digest') });
    const now = story.clock.now();
    const digest = { dueAt: now, owedAt: now.subtract({ hours: 1 }) };
    const told = await tellPeople(tick, await inherit(tick, { ...state, digest }));
    expect(told.schedule?.dueAt.since(now).total('minutes')).toBe(minutes);
  });

  it('are left to another tick when the time ends, page by page, as are the events of subscribers', async () => {
    const digest = owedEvents(30, 1, 'digest');
    const { tick: before, state } = await leased({ digest, events: owedEvents(30, 31) }, 10);
    const time = timeUntil(story.clock.now());
    const tick = { ...before, done: { ...before.done, time } };
    const dirty = { ...state, dirtySince: story.clock.now() };
    const inherited = await inherit(tick, dirty);
    expect(pages).toBe(2);
    expect(inherited.toTell).toHaveLength(20);
    const later = await deliver(tick, inherited, owedEvents(3, 61), []);
    expect(later).toMatchObject({ delivered: 10, undelivered: 3 });
    expect((await tellPeople(tick, later)).schedule).toBeDefined();
  });

  it('are in the mail although another outbox is unreadable, which causes a warning and stays owed', async () => {
    unreadableOutbox = new LedgerUnavailableError('Query', {});
    const { tick, state } = await leased({ digest: owedEvents(1, 1, 'digest') });
    const dirty = { ...state, dirtySince: story.clock.now() };
    const inherited = await inherit(tick, dirty);
    expect(inherited).toMatchObject({ undelivered: 1 });
    await tellPeople(tick, inherited);
    expect(story.mails).toEqual([['district-a/1/1']]);
    expect(story.warnings).toEqual(['outbox unreadable', 'outbox unreadable']);
  });

  it('share the mail with events that a dead tick left', async () => {
    const { tick, state } = await leased({
      events: [...owedEvents(2), ...owedEvents(1, 3, 'digest')],
    });
    const dirty = { ...state, dirtySince: story.clock.now() };
    const told = await tellPeople(tick, await inherit(tick, dirty));
    expect(story.ids()).toEqual(['district-a/1/1', 'district-a/2/1']);
    expect(story.mails).toEqual([['district-a/3/1', ...story.ids()]]);
    expect([settledAs('digest'), settledAs('nothing'), told.delivered]).toEqual([2, 3, 2]);
  });
});
