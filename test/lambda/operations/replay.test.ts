import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { CommandAnswer } from '../../../lambda/operations/contract.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';

const database = ledgersInDynamoDb();
let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

const replayResult = z.looseObject({
  events: z.int(),
  byType: z.record(z.string(), z.int()),
  skipped: z.record(z.string(), z.int()),
  next: z.looseObject({ after: z.string().optional() }).optional(),
});

function resultOf(answer: CommandAnswer) {
  expect(answer).toMatchObject({ ok: true });
  return replayResult.parse(answer.result);
}

/** Sends the commands of `next` until none is left. */
async function toTheEnd(command: object, seconds?: number) {
  const results = [resultOf(await story.operate(command, seconds))];
  for (let next = results[0]?.next; next !== undefined; next = results.at(-1)?.next)
    results.push(resultOf(await story.operate(next, seconds)));
  return results;
}

const everything = { command: 'replay', days: {} };
const ids = () => story.heard.map(({ subject }) => Number(subject));
const on = (certified_on: string, id: number, more = {}) =>
  assessment({ id, certified_on, ...more });

describe('a replayed event', () => {
  it('is late or not as it was announced, with any later settings', async () => {
    await story.show(on('2026-11-20', 1), on('2026-11-10', 2));
    story.settings = { ...story.settings, recentDays: 0 };
    await story.operate(everything);
    story.settings = { ...story.settings, recentDays: 30 };
    await story.operate(everything);
    expect(story.heard.map(({ subject, data }) => [subject, data.late])).toEqual([
      ['2', true],
      ['1', false],
      ['2', true],
      ['1', false],
    ]);
  });

  it.each([
    ['discarded', { command: 'discard' }],
    ['released to people alone', { command: 'release', as: 'digest' }],
  ])('excludes events that ops have %s', async (_, decision) => {
    await story.show(on('2026-11-20', 1));
    await story.commit([on('2026-11-20', 2)], 'held');
    await story.operate(decision);
    await story.tick();
    story.heard.length = 0;
    expect(await story.operate(everything)).toMatchObject({
      result: { events: 1, skipped: { discarded: 1 } },
    });
    expect(ids()).toEqual([1]);
  });

  it('precedes held changes that undid themselves, and has its own id', async () => {
    await story.show(on('2026-11-20', 1));
    await story.commit([on('2026-11-20', 1, { email: 'b@example.org' })], 'held');
    await story.commit([on('2026-11-20', 1)]);
    story.heard.length = 0;
    expect(await story.operate(everything)).toMatchObject({ result: { events: 1, skipped: {} } });
    expect(story.heard.map(({ id, type }) => [id, type])).toEqual([
      [`${story.name}/1/1`, 'certification.created'],
    ]);
  });

  it('includes events that ops have released to everybody', async () => {
    await story.commit([on('2026-11-20', 2)], 'held');
    await story.operate({ command: 'release' });
    await story.tick();
    story.heard.length = 0;
    await story.operate(everything);
    expect(ids()).toEqual([2]);
  });

  it('equals the announced event, marked as a replay', async () => {
    await story.show(on('2026-11-20', 1), on('2026-10-01', 2));
    story.clock.advance({ hours: 3 });
    await story.show(on('2026-11-20', 1, { email: 'new@example.org' }));
    story.clock.advance({ hours: 24 * 30 });
    await story.operate(everything);
    expect(story.heard).toHaveLength(2);
    for (const event of story.heard) {
      const { data, ...envelope } = event;
      const original = story.announced.get(event.id);
      expect({ ...envelope, data: { ...data, replay: undefined } }).toEqual(original);
      expect(data.replay).toBe(true);
    }
    expect(story.heard.map(({ id }) => id)).toEqual([`${story.name}/2/1`, `${story.name}/1/2`]);
  });

  it('of a withdrawn certification is its withdrawal, without a request to the partner', async () => {
    await story.show(on('2026-11-20', 1));
    await story.withdraw(1);
    await story.operate(everything);
    const original = story.announced.get(`${story.name}/1/2`);
    expect(story.heard).toEqual([{ ...original, data: { ...original?.data, replay: true } }]);
    expect(story.requests).toEqual([]);
  });

  it('of a returned certification is its restoration', async () => {
    await story.show(on('2026-11-20', 1));
    await story.withdraw(1);
    await story.show(on('2026-11-20', 1));
    expect(resultOf(await story.operate(everything)).byType).toMatchObject({ restored: 1 });
    expect(story.heard).toMatchObject([{ type: 'certification.restored', sequence: '3' }]);
  });

  it('has the configured fields and no others', async () => {
    await story.show(on('2026-11-20', 1));
    story.settings = { ...story.settings, fields: 'identifiers' };
    await story.operate(everything);
    expect(Object.keys(story.heard[0]?.data.assessment ?? {}).sort()).toEqual([
      'assessment_name',
      'certified_on',
      'id',
      'organization_id',
    ]);
  });
});

describe('a replay leaves out', () => {
  it('a record that has changed since, whose old id stays with the old content', async () => {
    await story.show(on('2026-11-20', 1), on('2026-11-20', 2), on('2026-11-20', 3));
    story.host.edit(2, { email: 'new@example.org' });
    story.world = story.world.filter(({ id }) => id !== 3);
    expect(resultOf(await story.operate(everything))).toMatchObject({
      events: 1,
      skipped: { changed: 2 },
    });
    expect(ids()).toEqual([1]);
  });

  it('a record that the ledger does not know', async () => {
    await story.show(on('2026-11-20', 1));
    story.add(on('2026-11-20', 2));
    expect(resultOf(await story.operate(everything))).toMatchObject({ events: 1 });
    expect(ids()).toEqual([1]);
  });

  it('an event that is held, or that a tick still owes', async () => {
    await story.commit([on('2026-11-20', 1)], 'held');
    await story.commit([on('2026-11-20', 2)], 'pending');
    expect(resultOf(await story.operate(everything))).toMatchObject({
      events: 0,
      skipped: { held: 1, pending: 1 },
    });
    expect(story.heard).toEqual([]);
  });

  it('a certification of the baseline, unless requested: then it is sent as created', async () => {
    await story.recall(on('2026-11-20', 1));
    await story.show(on('2026-11-20', 2));
    expect(resultOf(await story.operate(everything))).toMatchObject({
      events: 1,
      skipped: { neverAnnounced: 1 },
    });
    const command = { ...everything, baseline: true };
    expect(resultOf(await story.operate(command))).toMatchObject({ byType: { created: 2 } });
    expect(story.heard).toMatchObject([
      { id: `${story.name}/2/1` },
      { id: `${story.name}/1/1`, type: 'certification.created' },
      { id: `${story.name}/2/1` },
    ]);
  });

  it('a record without the documented shape', async () => {
    await story.show(on('2026-11-20', 1), on('2026-11-20', 2));
    story.host.spoil(1);
    expect(resultOf(await story.operate(everything))).toMatchObject({
      events: 1,
      skipped: { unreadable: 1 },
    });
  });

  it('an event that the target refuses for good, and sends the others', async () => {
    await story.show(on('2026-11-20', 1), on('2026-11-20', 2));
    story.subscribers.refuse = ({ subject }) =>
      subject === '1' ? { code: 'InvalidParameter', forGood: true } : undefined;
    expect(await story.operate(everything)).toMatchObject({
      ok: true,
      result: { events: 1, skipped: { refused: 1 } },
    });
  });
});

describe('a selection', () => {
  beforeEach(async () => {
    await story.show(
      on('2025-12-31', 1),
      on('2026-01-01', 2, { organization_id: 8 }),
      on('2026-01-02', 3),
      on('2026-11-20', 4, { organization_id: 8 }),
    );
    await story.show(on('2026-01-02', 3, { seid: 'OTHER' }));
    await story.withdraw(4);
  });

  it.each([
    ['days', { days: { from: '2026-01-01', to: '2026-01-02' } }, [2, 3]],
    ['days without an end', { days: { from: '2026-01-02' } }, [3, 4]],
    ['days without a beginning', { days: { to: '2026-01-01' } }, [1, 2]],
    ['ids', { ids: [4, 1, 99] }, [1, 4]],
    ['organizations', { organizations: [8] }, [2, 4]],
    ['types', { types: ['updated', 'withdrawn'] }, [3, 4]],
    [
      'all of these at once',
      { days: { from: '2026-01-01' }, organizations: [8], types: ['created'] },
      [2],
    ],
    ['ids within days', { ids: [1, 2], days: { from: '2026-01-01' } }, [2]],
    ['days without certifications', { days: { from: '2027-01-01' } }, []],
  ])('by %s', async (_, selection, expected) => {
    await story.operate({ command: 'replay', ...selection });
    expect(ids()).toEqual(expected);
  });

  it('counts unknown ids once', async () => {
    const command = { command: 'replay', ids: [4, 1, 99, 100, 99] };
    const results = await toTheEnd(command);
    expect(results.map(({ skipped }) => skipped.unknown)).toEqual([2]);
    expect(ids()).toEqual([1, 4]);
  });

  it('counts unknown ids once also if time ends after the last event', async () => {
    const { get } = story.partner;
    story.partner.get = async (...asked) => {
      const answer = await get(...asked);
      story.clock.advance({ seconds: 55 });
      return answer;
    };
    const results = await toTheEnd({ command: 'replay', ids: [1, 99] });
    expect(results.map(({ skipped }) => skipped.unknown)).toEqual([undefined, 1]);
  });

  it.each([
    { days: { from: '2026-01-02', to: '2026-01-01' } },
    { days: {}, after: '2026-13-01' },
    { days: {}, after: '2026-02-30/7' },
    { days: {}, after: '2026-02-28/0' },
    { days: {}, after: '2026-02-28/' },
    { days: {}, after: '2026-02-28/1/2' },
    { days: {}, after: `2026-02-28/${'9'.repeat(16)}` },
  ])('that cannot match is refused: %j', async (selection) => {
    expect(await story.operate({ command: 'replay', ...selection })).toMatchObject({
      ok: false,
      problem: { code: 'command-invalid' },
    });
  });

  it('of one day is from it and to it', async () => {
    await story.operate({ command: 'replay', days: { from: '2026-01-01', to: '2026-01-01' } });
    expect(ids()).toEqual([2]);
  });

  it('of all days includes the last possible one', async () => {
    await story.show(on('9999-12-31', 9));
    await story.operate({ command: 'replay', ids: [9] });
    expect(ids()).toEqual([9]);
    await story.operate(everything);
    expect(ids().slice(1)).toContain(9);
  });

  it('may not be empty', async () => {
    expect(await story.operate({ command: 'replay' })).toMatchObject({
      ok: false,
      problem: { code: 'command-invalid' },
    });
    expect(story.heard).toEqual([]);
  });
});

describe('the partner, during a replay,', () => {
  const many = (count: number, day: string, first = 1) =>
    Array.from({ length: count }, (_, index) => on(day, first + index));

  it('is asked once for days that fit into a page together', async () => {
    await story.show(...many(40, '2026-11-18'), ...many(40, '2026-11-20', 101));
    await story.operate(everything);
    expect(story.requests).toEqual(['prove 2026-11-18..2026-11-20']);
    expect(story.heard).toHaveLength(80);
  });

  it('is asked by id if that takes no more requests', async () => {
    await story.show(...many(40, '2026-11-18'), on('2026-11-18', 99, { organization_id: 8 }));
    await story.operate({ command: 'replay', organizations: [8] });
    expect(story.requests).toEqual(['get 99']);
  });

  it('is asked again by id for records that an unproven read did not show', async () => {
    await story.show(...many(5, '2026-11-20'));
    story.host.hidden.add(3);
    await story.operate(everything);
    expect(story.requests).toEqual(['prove 2026-11-20..2026-11-20', 'get 3']);
    expect(ids()).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('a dry run', () => {
  it('counts the events that a replay sends, sends nothing and writes nothing, and the replay is recorded', async () => {
    story = new IntegrationWithPast(database);
    await story.recall(on('2026-11-19', 9));
    await story.show(on('2026-11-20', 1), on('2026-11-20', 2), on('2026-11-20', 3));
    await story.withdraw(3);
    story.host.edit(2, { email: 'new@example.org' });
    const before = await story.items();
    expect(before).not.toEqual([]);
    const counted = resultOf(await story.operate({ ...everything, dryRun: true }));
    expect(story.heard).toEqual([]);
    expect(await story.items()).toEqual(before);
    const sent = resultOf(await story.operate(everything));
    expect(counted).toEqual({ ...sent, dryRun: true });
    expect(sent.events).toBe(2);
    expect(await story.itemsBesideRecords()).toEqual(before);
  });
});

describe('before the very first tick', () => {
  it('there is nothing to replay, and the ledger stays empty', async () => {
    story = new IntegrationWithPast(database);
    expect(await story.operate(everything)).toMatchObject({
      ok: false,
      problem: { code: 'nothing-recorded' },
    });
    expect(await story.itemsBesideRecords()).toEqual([]);
  });
});

describe('a replay that stops', () => {
  it('resumes behind the last event, so that each is sent once', async () => {
    await story.show(...[5, 3, 1].map((id) => on('2026-11-20', id)), on('2026-11-19', 9));
    await story.withdraw(3);
    const results = await toTheEnd({ ...everything, eventsPerSecond: 1 }, 11);
    expect(results.map(({ events }) => events)).toEqual([1, 1, 1, 1, 0]);
    expect(ids()).toEqual([9, 1, 3, 5]);
  });

  it('resumes after its time is over', async () => {
    await story.show(...Array.from({ length: 30 }, (_, index) => on('2026-11-20', index + 1)));
    const results = await toTheEnd({ ...everything, eventsPerSecond: 1 }, 20);
    expect(results.length).toBeGreaterThan(2);
    expect(ids()).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  });

  it('resumes after its time is over between records that are requested by id', async () => {
    const wanted = Array.from({ length: 20 }, (_, index) => index + 1);
    await story.show(...wanted.map((id) => on('2026-11-20', id)));
    story.requestSeconds = 3;
    const command = { command: 'replay', ids: wanted, eventsPerSecond: 4 };
    const results = await toTheEnd(command, 30);
    expect(results.length).toBeGreaterThan(2);
    expect(ids()).toEqual(wanted);
  });

  it('resumes after its time is over in a long history without a match', async () => {
    const days = Array.from({ length: 12 }, (_, index) => `2026-01-${String(index + 10)}`);
    await story.recall(
      ...days.flatMap((day, nth) =>
        Array.from({ length: 60 }, (_, index) => on(day, 1 + nth * 60 + index)),
      ),
    );
    await story.show(on('2026-11-20', 999, { organization_id: 8 }));
    story.lookSeconds = 8;
    const results = await toTheEnd({ command: 'replay', organizations: [8] }, 30);
    expect(results.length).toBeGreaterThan(3);
    expect(ids()).toEqual([999]);
  });

  it('without progress says so, instead of being sent again for ever', async () => {
    await story.show(on('2026-11-20', 1));
    story.lookSeconds = 60;
    expect(await story.operate(everything)).toMatchObject({
      ok: false,
      problem: { code: 'stalled', retryHelps: true },
      result: { events: 0, next: everything },
    });
  });

  it('because the target refuses says so, and loses nothing when it resumes', async () => {
    const all = Array.from({ length: 9 }, (_, index) => index + 1);
    await story.show(...all.map((id) => on('2026-11-20', id)));
    story.subscribers.refuse = ({ subject }) =>
      subject === '5' ? { code: 'Throttled' } : undefined;
    const answer = await story.operate({ ...everything, eventsPerSecond: 2 });
    expect(answer).toMatchObject({
      ok: false,
      problem: { code: 'events-refused', retryHelps: true },
      result: { events: 4, next: { after: '2026-11-20/4' } },
    });
    story.subscribers.refuse = () => undefined;
    await toTheEnd(replayResult.parse(answer.result).next ?? {});
    expect([...new Set(ids())].sort()).toEqual(all);
  });

  it('anywhere, and resumes, sends the same events as one that does not stop', async () => {
    const days = ['2025-12-31', '2026-01-01', '2026-02-28', '2026-11-20'];
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(
          fc.record({ id: fc.integer({ min: 1, max: 500 }), day: fc.constantFrom(...days) }),
          {
            selector: ({ id }) => id,
            minLength: 1,
            maxLength: 25,
          },
        ),
        fc.integer({ min: 1, max: 7 }),
        async (certifications, eventsPerSecond) => {
          story = new IntegrationWithPast();
          await story.show(...certifications.map(({ id, day }) => on(day, id)));
          await story.operate(everything);
          const whole = story.heard.splice(0);
          await toTheEnd({ ...everything, eventsPerSecond }, 11);
          expect(story.heard).toEqual(whole);
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('the pace of a replay', () => {
  it('is never faster than requested', async () => {
    await story.show(...Array.from({ length: 50 }, (_, index) => on('2026-11-20', index + 1)));
    const began = story.clock.now().epochMilliseconds;
    await story.operate({ ...everything, eventsPerSecond: 5 });
    story.subscribers.heardAt.forEach((at, index) => {
      expect(index + 1).toBeLessThanOrEqual(5 + ((at - began) / 1_000) * 5);
    });
    expect(story.subscribers.heardAt).toHaveLength(50);
  });

  it('is kept over all calls together, including the time of each last send', async () => {
    await story.show(...Array.from({ length: 50 }, (_, index) => on('2026-11-20', index + 1)));
    const began = story.clock.now();
    expect((await toTheEnd({ ...everything, eventsPerSecond: 5 }, 11)).length).toBeGreaterThan(5);
    expect(story.subscribers.heardAt).toHaveLength(50);
    expect(story.clock.now().since(began).total('seconds')).toBeGreaterThanOrEqual(10);
  });
});

describe('a target', () => {
  it('may be one queue instead of the topic', async () => {
    const queue = 'arn:aws:sqs:us-east-1:111122223333:rebuild';
    await story.show(on('2026-11-20', 1));
    await story.operate({ ...everything, to: { queue } });
    expect(story.heard).toEqual([]);
    expect(story.subscribers.queues.get(queue)).toMatchObject([{ id: `${story.name}/1/1` }]);
  });
});
