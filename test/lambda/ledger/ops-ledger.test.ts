import { Temporal } from 'temporal-polyfill';
import { beforeEach, expect, it } from 'vitest';
import { nothingMissing } from '../../../lambda/detection/missing.ts';
import { readAnew } from '../../../lambda/operations/commands/restart-baseline.ts';
import type { WaitingEvent, WaitingPage, WaitsForOps } from '../../../lambda/ports/ledger.ts';
import { assessment } from '../../support/assessments.ts';
import { changesOf, describeLedgers, later, now } from './ledgers.ts';

const { id } = assessment();
const renamed = (name: string) => assessment({ name });
const any = () => true;
const pause = { since: now, by: 'odile', reason: 'the partner moves' };
/** Oldest pages first. A page has no order. */
const idsOf = (pages: readonly WaitingPage[]) =>
  pages.flatMap(({ owed }) =>
    owed.map(({ certificationId }) => certificationId).sort((a, b) => a - b),
  );
const revisionsOf = (events: readonly Pick<WaitingEvent, 'revision'>[]) =>
  events.map(({ revision }) => revision);

describeLedgers('a pause', (used) => {
  it('is refused before the first tick has made the state', async () => {
    expect(await used().opsLedger.pause(pause, 'call-1')).toBe(false);
    expect(await used().ledger.recordedState()).toBeUndefined();
  });

  it('is one, and a second write of the same call is part of it', async () => {
    await used().ledger.state();
    expect(await used().opsLedger.pause(pause, 'call-1')).toBe(true);
    expect(await used().opsLedger.pause(pause, 'call-1')).toBe(true);
    expect(await used().opsLedger.pause({ ...pause, reason: 'another' }, 'call-2')).toBe(false);
    expect(await used().ledger.state()).toMatchObject({ paused: true, pause });
  });

  it('ends once, and a second write of the same call is part of it', async () => {
    await used().ledger.state();
    expect(await used().opsLedger.resume('call-1')).toBe(false);
    await used().opsLedger.pause(pause, 'call-2');
    expect(await used().opsLedger.resume('call-3')).toBe(true);
    expect(await used().opsLedger.resume('call-3')).toBe(true);
    expect(await used().opsLedger.resume('call-4')).toBe(false);
    const state = await used().ledger.state();
    expect(state.paused).toBe(false);
    expect(state).not.toHaveProperty('pause');
  });
});

describeLedgers('a change of the state by ops', (used) => {
  beforeEach(async () => {
    await used().ledger.state();
  });

  it('has the accepted number of missing certifications', async () => {
    const missing = { total: 412, notes: [], withdrawn: [], accepted: 412, lookAt: 9 };
    await used().ledger.saveState({ missing });
    const lease = { owner: 'a', until: later };
    expect((await used().ledger.takeLease(lease, now))?.missing).toEqual(missing);
  });

  it('begins the baseline again, with another look at the newest page', async () => {
    const lease = { owner: 'a', until: later };
    await used().ledger.takeLease(lease, now);
    await used().end(lease, now, {
      dirtySince: undefined,
      pulseDigest: 'seen',
      missing: nothingMissing,
    });
    const startDay = Temporal.PlainDate.from('2026-11-21');
    await used().ledger.saveState(readAnew(startDay));
    const state = await used().ledger.state();
    expect(state.baseline).toMatchObject({ status: 'running', isAnew: true });
    expect(String(state.baseline.startDay)).toBe('2026-11-21');
    expect(state).not.toHaveProperty('pulseDigest');
    expect(state).not.toHaveProperty('missing');
  });
});

describeLedgers('the story of a certification', (used) => {
  it('does not exist for an unknown certification', async () => {
    expect(await used().opsLedger.story(id)).toBeUndefined();
  });

  it('has each revision with the fate of its event', async () => {
    await used().create(assessment(), now, 'held');
    await used().update(renamed('Odalys Ashgrove'));
    const story = await used().opsLedger.story(id);
    expect(story).toMatchObject({ certification: { id, revision: 2 }, firstSeen: now.toString() });
    expect(story?.revisions).toEqual([
      expect.objectContaining({
        ...{ revision: 1, kind: 'created', at: now.toString(), late: false },
        ...{ waits: 'held', isBehind: false, decisions: [] },
      }),
      expect.objectContaining({
        ...{ revision: 2, kind: 'updated', at: later.toString(), late: false },
        ...{ changed: ['name'], waits: 'held', isBehind: true, decisions: [] },
      }),
    ]);
  });

  it('has the code with which SNS refused an event for good', async () => {
    await used().park(await used().create(assessment()));
    const story = await used().opsLedger.story(id);
    expect(story?.revisions).toMatchObject([{ waits: 'undeliverable', code: 'InvalidParameter' }]);
  });

  it('has the records of the baseline, for which nothing waits', async () => {
    const found = { in: 'baseline', proof: 'single-page' } as const;
    const [sighting] = changesOf([assessment()]);
    if (sighting) await used().ledger.recordSilently([{ ...sighting, found }], now);
    const story = await used().opsLedger.story(id);
    expect(story?.revisions).toEqual([
      {
        ...{ revision: 1, kind: 'baseline', at: now.toString(), changed: expect.any(Array) },
        ...{ found, decisions: [], isBehind: false },
      },
    ]);
  });
});

describeLedgers('the list of waiting events', (used) => {
  it('counts each certification at the place that it waits for first', async () => {
    await used().create(assessment({ id: 1 }));
    await used().create(assessment({ id: 2 }), now, 'held');
    await used().create(assessment({ id: 3 }), now, 'held');
    await used().park(await used().create(assessment({ id: 4 })));
    await used().ledger.settle([await used().create(assessment({ id: 5 }))], 'digest');
    expect(await used().opsLedger.waiting()).toEqual({
      ...{ pending: 1, digest: 1, held: 2, undeliverable: 1 },
    });
  });

  it('is shown page by page, oldest first, and another call resumes it', async () => {
    const ids = Array.from({ length: 150 }, (_, index) => index + 1);
    await Promise.all(
      ids.map((one) => used().create(assessment({ id: one }), now.add({ seconds: one }), 'held')),
    );
    const pages = await Array.fromAsync(used().ledger.waitingForOps('held'));
    expect(pages.length).toBeGreaterThan(1);
    expect(idsOf(pages)).toEqual(ids);
    const rest = await Array.fromAsync(used().ledger.waitingForOps('held', pages[0]?.end));
    expect(idsOf(rest)).toEqual(idsOf(pages.slice(1)));
  });

  it('resumes after an event of the same moment that is gone meanwhile', async () => {
    const ids = Array.from({ length: 110 }, (_, index) => index + 1);
    await Promise.all(ids.map((one) => used().create(assessment({ id: one }), now, 'held')));
    const [first] = await Array.fromAsync(used().ledger.waitingForOps('held'));
    if (first === undefined) throw new Error('there is no page');
    const last = Number(first.end.split('/').at(-1));
    await used().opsLedger.decide(last, 'held', 'discarded', any, later);
    const rest = await Array.fromAsync(used().ledger.waitingForOps('held', first.end));
    expect([...idsOf([first]), ...idsOf(rest)].sort((a, b) => a - b)).toEqual(ids);
  });

  it('includes events whose certification waits for another place first', async () => {
    await used().park(await used().create(assessment()));
    await used().update(renamed('Odalys Ashgrove'));
    const pages = await Array.fromAsync(used().ledger.waitingForOps('undeliverable'));
    expect(pages.flatMap(({ owed }) => owed)).toMatchObject([
      { certificationId: id, revision: 1, code: 'InvalidParameter' },
    ]);
  });
});

describeLedgers('a decision', (used) => {
  const decide = (
    kind: Parameters<ReturnType<typeof used>['opsLedger']['decide']>[2],
    choose: (event: WaitingEvent) => boolean = any,
    waits: WaitsForOps = 'held',
  ) => used().opsLedger.decide(id, waits, kind, choose, later);
  const threeHeld = async () => {
    await used().create(assessment(), now, 'held');
    await used().update(renamed('Odalys Ashgrove'));
    await used().update(renamed('Odalys Thistlewood'));
  };
  const decisions = async () =>
    (await used().opsLedger.story(id))?.revisions.map(({ decisions }) =>
      decisions.map(({ decision }) => decision),
    );

  it('about no event changes nothing', async () => {
    expect(await decide('released')).toEqual({ done: [], behind: 0, freed: 0, undone: 0 });
  });

  it('to release lets events go out, and is noted', async () => {
    await threeHeld();
    const { done, behind, freed, undone } = await decide('released');
    expect({ done: revisionsOf(done), behind, freed, undone }).toEqual({
      ...{ done: [1, 2, 3], behind: 0, freed: 0, undone: 0 },
    });
    expect((await used().leftovers()).map(({ revision }) => revision)).toEqual([1, 2, 3]);
    expect(await decisions()).toEqual([['released'], ['released'], ['released']]);
  });

  it('about the first event alone frees those held behind it', async () => {
    await threeHeld();
    const decided = await decide('released', ({ revision }) => revision === 1);
    expect(decided).toMatchObject({ done: [{ revision: 1 }], behind: 0, freed: 2 });
    expect(await used().leftovers()).toHaveLength(3);
  });

  it('to release an event behind one that stays held changes nothing', async () => {
    await threeHeld();
    const decided = await decide('released', ({ revision }) => revision > 1);
    expect(decided).toEqual({ done: [], behind: 2, freed: 0, undone: 0 });
    expect(await used().leftovers()).toEqual([]);
  });

  it('to release to people alone leaves a digest owed', async () => {
    await threeHeld();
    expect(revisionsOf((await decide('released-to-people')).done)).toEqual([1, 2, 3]);
    const owed = await used().leftovers('digest');
    expect(owed.map(({ owes }) => owes)).toEqual(['digest', 'digest', 'digest']);
    expect(await used().opsLedger.waiting()).toMatchObject({ digest: 1, held: 0 });
  });

  it('drops changes that cancel each other with the true change before them, and notes both', async () => {
    await used().create(assessment());
    await used().ledger.settle(await used().leftovers(), 'nothing');
    await used().update(renamed('Odalys Ashgrove'), later, 'held');
    await used().update(renamed('Odalys Thistlewood'));
    await used().update(renamed('Odalys Ashgrove'));
    const { done, freed, undone } = await decide('released');
    expect({ done: revisionsOf(done), freed, undone }).toEqual({ done: [2], freed: 0, undone: 2 });
    expect(revisionsOf(await used().leftovers())).toEqual([2]);
    const story = await used().opsLedger.story(id);
    expect(story?.certification.revision).toBe(4);
    expect(await decisions()).toEqual([[], ['released'], ['released'], ['released']]);
    expect(story?.revisions.map(({ revision, undone = false }) => [revision, undone])).toEqual([
      ...[
        [1, false],
        [2, false],
      ],
      ...[
        [3, true],
        [4, true],
      ],
    ]);
  });

  it.each(['released', 'released-to-people', 'discarded'] as const)(
    'about the true change alone (%s) drops the withdrawal and the restoration behind it',
    async (decision) => {
      await used().create(assessment());
      await used().ledger.settle(await used().leftovers(), 'nothing');
      await used().update(renamed('Odalys Ashgrove'), later, 'held');
      await used().withdraw(id);
      await used().update(renamed('Odalys Ashgrove'));
      const decided = await decide(decision, ({ revision }) => revision === 2);
      expect(decided).toMatchObject({ done: [{ revision: 2 }], freed: 0, undone: 2 });
      expect(revisionsOf(await used().leftovers())).toEqual(decision === 'released' ? [2] : []);
      expect(await used().waitingForOps('held')).toEqual([]);
    },
  );

  it('sends a chain of changes that ends elsewhere', async () => {
    await used().create(assessment(), now, 'held');
    await used().update(renamed('Odalys Ashgrove'));
    await used().update(assessment());
    await used().update(renamed('Odalys Thistlewood'));
    expect(revisionsOf((await decide('released')).done)).toEqual([1, 4]);
  });

  it('does not drop an event that SNS may have had, or one that stays held', async () => {
    await used().create(assessment());
    await used().update(renamed('Odalys Ashgrove'), later, 'held');
    await used().update(renamed('Odalys Thistlewood'), later, 'held');
    await used().update(renamed('Odalys Ashgrove'));
    const decided = await decide('released', ({ revision }) => revision === 2);
    expect(decided).toMatchObject({ done: [{ revision: 2 }], freed: 0, undone: 0 });
    expect(revisionsOf(await used().leftovers())).toEqual([1, 2]);
    expect(revisionsOf(await used().waitingForOps('held'))).toEqual([3, 4]);
  });

  it('to discard drops the event and keeps the revision', async () => {
    await threeHeld();
    const decided = await decide('discarded', ({ revision }) => revision !== 1);
    expect(revisionsOf(decided.done)).toEqual([2, 3]);
    expect((await used().waitingForOps('held')).map(({ revision }) => revision)).toEqual([1]);
    expect(await decisions()).toEqual([[], ['discarded'], ['discarded']]);
  });

  it('to retry an event that SNS refused makes it pending', async () => {
    await used().park(await used().create(assessment()));
    const { done } = await decide('retried', any, 'undeliverable');
    expect(revisionsOf(done)).toEqual([1]);
    expect((await used().leftovers()).map(({ revision }) => revision)).toEqual([1]);
  });

  it('about many events of one certification reaches all of them', async () => {
    await used().create(assessment(), now, 'held');
    for (let revision = 2; revision <= 23; revision += 1)
      await used().update(renamed(`Odalys ${revision}`), later, 'held');
    expect(revisionsOf((await decide('released')).done)).toHaveLength(23);
    expect(await used().leftovers()).toHaveLength(23);
  });
});

describeLedgers('the list of commands', (used) => {
  const command = (operation: string) => ({
    ...{ operation, at: now.toString(), by: 'odile', command: 'pause', settings: { reason: 'x' } },
  });

  it('is newest first, each with the outcome of its last call', async () => {
    await used().opsLedger.record(command('a'));
    await used().opsLedger.record(command('b'));
    const outcome = { at: later.toString(), ok: true, changed: false };
    await used().opsLedger.conclude('a', { ...outcome, ok: false, rest: { after: 'x' } });
    await used().opsLedger.conclude('a', outcome);
    await used().opsLedger.conclude('not kept', outcome);
    expect(await used().opsLedger.recorded()).toEqual([command('b'), { ...command('a'), outcome }]);
  });

  it('has a hundred at most', async () => {
    const names = Array.from({ length: 101 }, (_, index) => String(1_000 + index));
    for (const name of names) await used().opsLedger.record(command(name));
    const recorded = await used().opsLedger.recorded();
    expect(recorded.map(({ operation }) => operation)).toEqual(names.slice(1).reverse());
  });
});
