import { Temporal } from 'temporal-polyfill';
import { beforeEach, expect, it } from 'vitest';
import type { ConditionName, OpenCondition } from '../../../lambda/decisions/conditions.ts';
import { type GateMemory, nothingFound } from '../../../lambda/decisions/gate.ts';
import type { Missing } from '../../../lambda/decisions/missing.ts';
import { type LeasedState, noLease, type StateChanges } from '../../../lambda/decisions/state.ts';
import { assessment } from '../../support/assessments.ts';
import { describeLedgers, later, now, onlyChange } from './ledgers.ts';

const startDay = Temporal.PlainDate.from('2026-11-21');
const completed = { status: 'completed', startDay } as const;
const until = now.add({ seconds: 65 });
const lease = { owner: 'a', until };

/** One note of each kind. */
const gate: GateMemory = {
  found: [{ at: 4, known: 100, created: 1, updated: 2, restored: 3 }],
  edits: [{ at: 4, number: 2 }],
  unsettled: [{ id: 48_213, revision: 2, at: 4, isOut: true }],
  openUntil: 5,
};
const missing: Missing = {
  total: 412,
  notes: [
    { id: 1, day: '2024-02-29', since: 5 },
    { id: 2, day: '2024-02-29', since: 5, askedAt: 6 },
    { id: 3, day: '2024-02-28', since: 5, askedAt: 7, isShownById: true },
  ],
  withdrawn: [{ at: 4, number: 25 }],
  accepted: 30,
  tooManySince: 3,
  lookAt: 9,
};

describeLedgers('the first state', (used) => {
  it('is made once, by the first of several ticks', async () => {
    const { ledger } = used();
    expect(await ledger.recordedState()).toBeUndefined();
    const [one, two] = await Promise.all([ledger.state(), ledger.state()]);
    expect(one).toEqual(two);
    expect(one).toMatchObject({ baseline: { status: 'none' }, expected: 0, years: new Set() });
    expect(await ledger.recordedState()).toEqual(one);
  });
});

describeLedgers('the state', (used) => {
  const state = () => used().ledger.state();
  const take = (owner: string, at = now, end = until) =>
    used().ledger.takeLease({ owner, until: end }, at);
  const save = (changes: StateChanges, owner?: string) =>
    used().ledger.saveState(changes, owner === undefined ? undefined : { owner, until });
  /** Ends a tick with these changes. @returns the state for the next holder of the lease */
  async function learns(changes: StateChanges): Promise<LeasedState | undefined> {
    await take('a');
    expect(await used().end(lease, now, { dirtySince: undefined, ...changes })).toBe(true);
    return take('a');
  }

  beforeEach(state);

  it('gives the lease to exactly one of several ticks, and is dirty from then on', async () => {
    const before = await state();
    const taken = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => take(owner)));
    expect(taken.filter((one) => one !== undefined)).toEqual([{ ...before, gate: nothingFound }]);
    expect(await state()).toMatchObject({ dirtySince: now, leaseUntil: until });
  });

  it('gives the lease to its holder again', async () => {
    await take('a');
    const end = until.add({ minutes: 1 });
    expect(await take('a', later, end)).toMatchObject({ dirtySince: now });
    expect(await state()).toMatchObject({ dirtySince: later, leaseUntil: end });
  });

  it('gives the lease of a dead tick to the next one, after it has run out', async () => {
    await take('dead');
    const end = until.add({ seconds: 65 });
    expect(await take('next', until, end)).toBeUndefined();
    const after = until.add({ milliseconds: 1 });
    expect(await take('next', after, end)).toMatchObject({ dirtySince: now });
  });

  it('gives the lease of a tick whose clock is far ahead to a reader who has doubted it for 65 s', async () => {
    const ahead = now.add({ hours: 2 });
    await take('ahead', ahead, ahead.add({ seconds: 65 }));
    const takenAfter = async (seconds: number, owner = 'next') =>
      (await take(owner, now.add({ seconds }), now.add({ seconds: seconds + 65 }))) !== undefined;
    expect(await takenAfter(0)).toBe(false);
    expect(await takenAfter(64)).toBe(false);
    expect(await takenAfter(65)).toBe(true);
    // The next holder is not doubted.
    expect(await takenAfter(66, 'third')).toBe(false);
    expect(await state()).not.toHaveProperty('leaseDoubtedAt');
  });

  it('lets a holder that has lost the lease write nothing that has no condition', async () => {
    const { ledger } = used();
    await take('next');
    const lease = (owner: string) => ({ owner, until: Temporal.Now.instant().add({ hours: 1 }) });
    const days = new Map([['2026-11-20', { count: 1, missing: 2, readAt: 1 }]]);
    for (const write of [
      () => ledger.saveDays(days, lease('slow')),
      () => ledger.addToDays(new Map([['2026-11-20', 1]]), lease('slow')),
      () => ledger.recordSilently([onlyChange(assessment())], now, lease('slow')),
    ])
      await expect(write()).rejects.toMatchObject({ code: 'lease-lost' });
    expect(await ledger.known([assessment().id])).toEqual(new Map());
    await ledger.saveDays(days, lease('next'));
    expect(await ledger.calendar([2026])).toEqual(days);
  });

  it('is clean again after a tick that delivered all events, and stays dirty otherwise', async () => {
    await take('a');
    await used().end(lease, now, { baseline: completed });
    expect(await state()).toMatchObject({ dirtySince: now, baseline: completed });
    await take('a', later);
    expect(await state()).toMatchObject({ dirtySince: later });
    await used().end(lease, later, { dirtySince: undefined });
    const after = await state();
    expect(after).toMatchObject({ baseline: completed, heartbeat: later.toString() });
    for (const gone of ['dirtySince', 'leaseUntil']) expect(after).not.toHaveProperty(gone);
  });

  it('is not changed by a tick that has lost its lease', async () => {
    await take('slow');
    const taken = until.add({ seconds: 1 });
    await take('next', taken, until.add({ hours: 1 }));
    const slow = { owner: 'slow', until };
    expect(await used().end(slow, later, { dirtySince: undefined, baseline: completed })).toBe(
      false,
    );
    await save(noLease, 'slow');
    expect(await state()).toMatchObject({ dirtySince: taken, baseline: { status: 'none' } });
    expect(await take('third', until.add({ seconds: 2 }))).toBeUndefined();
  });

  it('gets its lease back from a failed tick, and stays dirty', async () => {
    await take('a');
    await save(noLease, 'a');
    expect(await state()).toMatchObject({ dirtySince: now });
    expect(await state()).not.toHaveProperty('leaseUntil');
    expect(await take('b')).toBeDefined();
  });

  it('has each condition separately, with or without the lease', async () => {
    const held = { since: 5, number: 600, told: { at: 6, number: 300 } };
    const missed = { since: 7, number: 1, owes: 'begins' as const, details: ['12 left'] };
    const change = async (...open: [ConditionName, OpenCondition | undefined][]) => {
      await save({ conditions: new Map(open) });
      return [...(await state()).conditions];
    };
    expect(await change(['held', held])).toEqual([['held', held]]);
    expect(Object.fromEntries(await change(['missing', missed]))).toEqual({
      held,
      missing: missed,
    });
    await change(['held', undefined], ['unproven', held]);
    expect(await change(['missing', undefined])).toEqual([['unproven', held]]);
  });

  it('does not reopen a completed baseline for a late save', async () => {
    await take('a');
    const running = { status: 'running', startDay } as const;
    expect(await save({ baseline: running }, 'a')).toBe(true);
    expect((await state()).baseline).toEqual(running);
    await used().end(lease, now, { baseline: completed });
    expect(await save({ baseline: running }, 'a')).toBe(false);
    expect((await state()).baseline).toEqual(completed);
  });

  const range = { from: startDay.subtract({ days: 40 }), to: startDay };
  const bookmark = { range, offset: 900, anchors: [4, 5] };
  const searching = { from: '2024-02-01', to: '2024-02-29' };
  const cursor = { ...bookmark, isSweep: true, day: '2015-01-01', count: 400 };
  const refusal = { at: 6, until: 7, answered: 12, learned: 12 };
  const ofToday = { day: '2026-11-21', created: 1, updated: 2, withdrawn: 3, restored: 4 };

  it('has each field for the next ticks until it is dropped', async () => {
    const fields = {
      ...{
        missing,
        searching,
        cursor,
        digest: { dueAt: later, owedAt: now },
        pulseDigest: 'digest',
      },
      ...{
        backOff: { until: later, failures: 2 },
        pace: { since: 5, sent: 12, refusedSince: 6, refusal },
      },
      ...{ rules: { number: 2, since: 4 }, today: ofToday, gate, unexplained: -1, dueAt: 5 },
      ...{ expected: 12, auditsFrom: 7, reported: ['48213'] },
    };
    expect(await learns(fields)).toMatchObject(fields);
    expect(await learns({ expected: 13 })).toMatchObject({ ...fields, expected: 13 });
    const some = { missing: undefined, searching: undefined, cursor: undefined, digest: undefined };
    const dropped = { ...some, backOff: undefined, pace: undefined, pulseDigest: undefined };
    const left = await learns(dropped);
    for (const field of Object.keys(dropped)) expect(left).not.toHaveProperty(field);
  });

  it.each([{ bookmark }, { before: range.from }])(
    'has the place of a baseline: %o',
    async (place) => {
      const baseline = { status: 'running', startDay, sliceDays: 40, ...place } as const;
      await learns({ baseline });
      await learns({ pulseDigest: 'x' });
      expect((await state()).baseline).toEqual(baseline);
    },
  );

  it.each<[string, StateChanges]>([
    ['missing certifications', { missing }],
    ["gate's memory", { gate }],
  ])('has the %s as soon as the holder of the lease saves it', async (_, changes) => {
    await take('a');
    expect(await save(changes, 'b')).toBe(false);
    const before = await take('a');
    expect([before?.gate, before?.missing]).toEqual([nothingFound, undefined]);
    expect(await save(changes, 'a')).toBe(true);
    expect(await take('a')).toMatchObject(changes);
  });

  it('has the marks of the page for the next holder of the lease, and for none after that', async () => {
    await take('a');
    const agreed = ['aB3dE6gH', 'iJ9lM2oP'];
    await save({ agreed, ...noLease }, 'a');
    expect((await take('b'))?.agreed).toEqual(agreed);
    await save(noLease, 'b');
    expect(await take('c')).not.toHaveProperty('agreed');
  });

  it('has the years of the calendar, each once', async () => {
    for (const days of [['2026-11-20', '2019-02-28'], ['2026-11-21'], []])
      await used().ledger.touch(days);
    expect((await state()).years).toEqual(new Set([2019, 2026]));
  });
});
