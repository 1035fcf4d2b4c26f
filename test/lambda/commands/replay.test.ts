import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { on, resultOf, resultsOf } from './answers.ts';

const database = ledgersInDynamoDb();
let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

const replayed = (command: object = { days: {} }) => resultOf(story, 'replay', command);

const everything = { command: 'replay', days: {} };
const ids = () => story.heard.map(({ subject }) => Number(subject));
const many = (count: number, day = '2026-11-20') =>
  Array.from({ length: count }, (_, index) => on(day, index + 1));

describe('a replayed event', () => {
  it('equals the announced event, marked as a replay', async () => {
    await story.show(on('2026-11-20', 1), on('2026-10-01', 2), on('2026-11-20', 3));
    story.clock.advance({ hours: 3 });
    await story.show(on('2026-11-20', 1, { email: 'new@example.org' }));
    await story.withdraw(3);
    await story.show(on('2026-11-20', 3));
    story.clock.advance({ hours: 24 * 30 });
    expect((await replayed()).byType).toMatchObject({ created: 1, updated: 1, restored: 1 });
    for (const event of story.heard) {
      const { data, ...envelope } = event;
      const original = story.announced.get(event.id);
      expect({ ...envelope, data: { ...data, replay: undefined } }).toEqual(original);
      expect(data.replay).toBe(true);
    }
    expect(story.ids()).toEqual(['2/1', '1/2', '3/3'].map((id) => `${story.name}/${id}`));
  });

  it('of a withdrawn certification is its withdrawal, without a request, and may go to one queue', async () => {
    const queue = 'arn:aws:sqs:us-east-1:111122223333:rebuild';
    await story.show(on('2026-11-20', 1));
    await story.withdraw(1);
    await replayed({ days: {}, to: { queue } });
    const original = story.announced.get(`${story.name}/1/2`);
    const event = { ...original, data: { ...original?.data, replay: true } };
    expect(story.subscribers.queues.get(queue)).toEqual([event]);
    expect([story.heard, story.requests]).toEqual([[], []]);
  });

  it('is late or not as it was announced, and has the fields of later settings', async () => {
    await story.show(on('2026-11-20', 1), on('2026-11-10', 2));
    for (const recentDays of [0, 30]) {
      story.settings = { recentDays, fields: 'identifiers' };
      await replayed();
    }
    expect(story.heard.map(({ data }) => data.late)).toEqual([true, false, true, false]);
    const fields = ['assessment_name', 'certified_on', 'id', 'organization_id'];
    expect(Object.keys(story.heard[0]?.data.assessment ?? {}).sort()).toEqual(fields);
  });

  it('precedes held changes that undid themselves, and has its own id', async () => {
    await story.show(on('2026-11-20', 1));
    await story.commit([on('2026-11-20', 1, { email: 'b@example.org' })], 'held');
    await story.commit([on('2026-11-20', 1)]);
    expect(await replayed()).toMatchObject({ events: 1, skipped: {} });
    expect(story.ids()).toEqual([`${story.name}/1/1`]);
  });
});

describe('a replay', () => {
  it.each<[string, () => unknown, object]>([
    ['a changed record', () => story.host.edit(2, { email: 'new@example.org' }), { changed: 1 }],
    ['a record that is gone', () => story.host.remove(2), { changed: 1 }],
    ['a malformed record', () => story.host.spoil(2), { unreadable: 1 }],
    ['a record that the ledger lacks', () => story.add(on('2026-11-20', 9)), {}],
    ['one of the baseline', () => story.recall(on('2026-11-20', 9)), { neverAnnounced: 1 }],
    ['a pending event', () => story.commit([on('2026-11-20', 9)]), { pending: 1 }],
    ['a held event', () => story.commit([on('2026-11-20', 9)], 'held'), { held: 1 }],
  ])('leaves out %s', async (_, happens, skipped) => {
    await story.show(on('2026-11-20', 1), on('2026-11-20', 2));
    await happens();
    const isOfRecord = 'changed' in skipped || 'unreadable' in skipped;
    expect(await replayed()).toMatchObject({ events: isOfRecord ? 1 : 2, skipped });
    expect(ids()).toEqual(isOfRecord ? [1] : [1, 2]);
  });

  it.each<[string, object, number[], object]>([
    ['none that ops have discarded', { command: 'discard' }, [1], { discarded: 1 }],
    ['none for people alone', { command: 'release', as: 'digest' }, [1], { discarded: 1 }],
    ['those that ops have released', { command: 'release' }, [1, 2], {}],
  ])('has %s', async (_, decision, sent, skipped) => {
    await story.show(on('2026-11-20', 1));
    await story.commit([on('2026-11-20', 2)], 'held');
    await story.operate(decision);
    await story.tick();
    story.heard.length = 0;
    const result = await replayed();
    expect([ids(), result.skipped]).toEqual([sent, skipped]);
  });

  it('has certifications of the baseline as created, on request', async () => {
    await story.recall(on('2026-11-20', 1));
    expect(await replayed({ days: {}, baseline: true })).toMatchObject({ byType: { created: 1 } });
    expect(story.ids()).toEqual([`${story.name}/1/1`]);
  });

  it('leaves out an event that the target refuses for good, and sends the others', async () => {
    await story.show(...many(2));
    const refusal = { code: 'InvalidParameter', forGood: true };
    story.subscribers.refuse = ({ subject }) => subject === '1' && refusal;
    expect(await replayed()).toMatchObject({ events: 1, skipped: { refused: 1 } });
  });

  it('counts in a dry run the events that it sends, sends nothing then, and writes only its record', async () => {
    story = new IntegrationWithPast(database);
    await story.recall(on('2026-11-19', 9));
    await story.show(...many(3));
    await story.withdraw(3);
    story.host.edit(2, { email: 'new@example.org' });
    const before = await story.items();
    expect(before).not.toEqual([]);
    const counted = await replayed({ days: {}, dryRun: true });
    expect(story.heard).toEqual([]);
    expect(await story.items()).toEqual(before);
    const sent = await replayed();
    expect(counted).toEqual({ ...sent, dryRun: true });
    expect(sent.events).toBe(2);
    expect(await story.itemsBesideRecords()).toEqual(before);
  });

  it('is refused before the very first tick', async () => {
    const problem = { code: 'nothing-recorded' };
    expect(await story.operate(everything)).toMatchObject({ ok: false, problem });
  });
});

describe('a selection', () => {
  beforeEach(async () => {
    await story.show(
      on('2025-12-31', 1),
      on('2026-01-01', 2, { organization_id: 8 }),
      on('2026-01-02', 3),
      on('2026-11-20', 4, { organization_id: 8 }),
      on('9999-12-31', 5),
    );
    await story.show(on('2026-01-02', 3, { seid: 'OTHER' }));
    await story.withdraw(4);
  });

  it.each([
    [{ days: { from: '2026-01-01', to: '2026-01-02' } }, [2, 3]],
    [{ days: { from: '2026-01-01', to: '2026-01-01' } }, [2]],
    [{ days: { from: '2026-01-02' } }, [3, 4, 5]],
    [{ days: { to: '2026-01-01' } }, [1, 2]],
    [{ days: { from: '2027-01-01', to: '2028-01-01' } }, []],
    [{ days: {}, after: '2026-01-01/1' }, [2, 3, 4, 5]],
    [{ days: {}, after: '2026-01-01/2' }, [3, 4, 5]],
    [{ days: {}, after: '2026-01-01' }, [3, 4, 5]],
    [{ ids: [5, 4, 1, 99] }, [1, 4, 5]],
    [{ ids: [1, 2], days: { from: '2026-01-01' } }, [2]],
    [{ organizations: [8] }, [2, 4]],
    [{ types: ['updated', 'withdrawn'] }, [3, 4]],
    [{ days: { from: '2026-01-01' }, organizations: [8], types: ['created'] }, [2]],
  ])('is %j', async (selection, expected) => {
    await replayed(selection);
    expect(ids()).toEqual(expected);
  });

  it('counts unknown ids once, also if time ends after the last event', async () => {
    const unknown = async (wanted: number[]) =>
      (await resultsOf(story, 'replay', { ids: wanted })).map(({ skipped }) => skipped.unknown);
    expect(await unknown([4, 1, 99, 100, 99])).toEqual([2]);
    const { get } = story.partner;
    story.partner.get = async (...asked) => {
      const answer = await get(...asked);
      story.clock.advance({ seconds: 55 });
      return answer;
    };
    expect(await unknown([1, 99])).toEqual([undefined, 1]);
  });

  const days = {};
  const cursors = ['02-30/7', '02-28/0', '02-28/', '02-28/1/2', `02-28/${'9'.repeat(16)}`];
  const misplaced = cursors.map((cursor) => ({ days, after: `2026-${cursor}` }));

  it.each([{}, { days: { from: '2026-01-02', to: '2026-01-01' } }, ...misplaced])(
    'that cannot match is refused: %j',
    async (selection) => {
      const problem = { code: 'command-invalid' };
      expect(await story.operate({ command: 'replay', ...selection })).toMatchObject({ problem });
    },
  );
});

describe('the partner, during a replay,', () => {
  it('is asked once for days that fit into a page together, and by id if that is no more', async () => {
    const others = many(80, '2026-11-20').slice(40);
    const one = on('2026-11-20', 99, { organization_id: 8 });
    await story.show(...many(40, '2026-11-18'), ...others, one);
    await replayed();
    expect(story.requests.splice(0)).toEqual(['prove 2026-11-18..2026-11-20']);
    expect(story.heard).toHaveLength(81);
    await replayed({ organizations: [8] });
    expect(story.requests).toEqual(['get 99']);
  });

  it('is asked again by id for records that an unproven read did not show', async () => {
    await story.show(...many(5));
    story.host.hidden.add(3);
    await replayed();
    expect(story.requests).toEqual(['prove 2026-11-20..2026-11-20', 'get 3']);
    expect(ids()).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('a replay that stops', () => {
  it('resumes after its time is over in a long history without a match', async () => {
    const history = Array.from({ length: 3 }, (_, year) =>
      many(60, `${2020 + year}-01-01`).map((one) => ({ ...one, id: one.id + year * 100 })),
    );
    await story.recall(...history.flat());
    await story.show(on('2026-11-20', 999, { organization_id: 8 }));
    story.lookSeconds = 16;
    expect((await resultsOf(story, 'replay', { organizations: [8] })).length).toBeGreaterThan(1);
    expect(ids()).toEqual([999]);
  });

  it('because the target refuses says so, and loses nothing when it resumes', async () => {
    await story.show(...many(9));
    story.subscribers.refuse = ({ subject }) => subject === '5' && { code: 'Throttled' };
    const answer = await story.operate({ ...everything, eventsPerSecond: 2 });
    const problem = { code: 'events-refused', retryHelps: true };
    const result = { events: 4, next: { after: '2026-11-20/4' } };
    expect(answer).toMatchObject({ ok: false, problem, result });
    story.subscribers.refuse = () => undefined;
    await resultsOf(story, 'replay', { days: {}, after: '2026-11-20/4' });
    expect([...new Set(ids())].sort()).toEqual(many(9).map(({ id }) => id));
  });

  it('anywhere, and resumes, sends the same events at its pace as one that does not stop', async () => {
    const day = fc.constantFrom('2025-12-31', '2026-01-01', '2026-02-28', '2026-11-20');
    const certification = fc.record({ id: fc.integer({ min: 1, max: 500 }), day });
    const selector = ({ id }: { readonly id: number }) => id;
    const size = { minLength: 1, maxLength: 25 };
    const certifications = fc.uniqueArray(certification, { selector, ...size });
    const pace = fc.integer({ min: 1, max: 7 });
    await fc.assert(
      fc.asyncProperty(certifications, pace, async (certifications, eventsPerSecond) => {
        story = new IntegrationWithPast();
        await story.show(...certifications.map(({ id, day }) => on(day, id)));
        await replayed();
        const whole = story.heard.splice(0);
        const { heardAt } = story.subscribers;
        heardAt.length = 0;
        const began = story.clock.now().epochMilliseconds;
        await resultsOf(story, 'replay', { days: {}, eventsPerSecond }, 11);
        expect(story.heard).toEqual(whole);
        const took = (story.clock.now().epochMilliseconds - began) / 1_000;
        expect(took).toBeGreaterThanOrEqual(whole.length / eventsPerSecond);
        for (const [index, at] of heardAt.entries())
          expect(index + 1).toBeLessThanOrEqual((1 + (at - began) / 1_000) * eventsPerSecond);
      }),
      { numRuns: 20 },
    );
  });
});
