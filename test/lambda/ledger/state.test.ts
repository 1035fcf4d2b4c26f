import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import type { ConditionName, OpenCondition } from '../../../lambda/detection/conditions.ts';
import { type GateMemory, nothingFound } from '../../../lambda/detection/gate.ts';
import type { Missing } from '../../../lambda/detection/missing.ts';
import type { Pace } from '../../../lambda/detection/pace.ts';
import { type LeasedState, noLease, type StateChanges } from '../../../lambda/ports/state.ts';
import { describeLedgers, later, now } from './ledgers.ts';

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

describeLedgers('the state', (used) => {
  const state = () => used().ledger.state();
  const take = (owner: string, at = now, end = until) =>
    used().ledger.takeLease({ owner, until: end }, at);
  /** Ends a tick with these changes. @returns the state for the next holder of the lease */
  async function learns(changes: StateChanges) {
    await take('a');
    expect(await used().end(lease, now, { dirtySince: undefined, ...changes })).toBe(true);
    return leased();
  }
  async function leased(): Promise<LeasedState> {
    const known = await take('a');
    if (known === undefined) throw new Error('somebody else has the lease');
    return known;
  }

  it('is made once, by the first of several ticks', async () => {
    expect(await used().ledger.recordedState()).toBeUndefined();
    const [one, two] = await Promise.all([state(), state()]);
    expect(one).toEqual(two);
    expect(one).toMatchObject({ baseline: { status: 'none' }, expected: 0 });
    expect(one.years).toEqual(new Set());
    expect(await used().ledger.recordedState()).toEqual(one);
  });

  it('has the heartbeat of a quiet tick', async () => {
    await state();
    await used().ledger.saveState({ heartbeat: now.toString() });
    expect(await state()).toMatchObject({ heartbeat: now.toString() });
  });

  it('gives the lease to exactly one of several ticks, and is dirty from then on', async () => {
    const before = await state();
    const taken = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => take(owner)));
    expect(taken.filter((one) => one !== undefined)).toEqual([{ ...before, gate: nothingFound }]);
    expect(await state()).toMatchObject({ dirtySince: now, leaseUntil: until });
  });

  it('gives the lease to its holder again', async () => {
    await state();
    await take('a');
    expect(await take('a', later, until.add({ minutes: 1 }))).toMatchObject({ dirtySince: now });
    expect(await state()).toMatchObject({
      dirtySince: later,
      leaseUntil: until.add({ minutes: 1 }),
    });
  });

  it('gives the lease of a dead tick to the next one, after it has run out', async () => {
    await state();
    await take('dead');
    const end = until.add({ seconds: 65 });
    expect(await take('next', until, end)).toBeUndefined();
    expect(await take('next', until.add({ milliseconds: 1 }), end)).toMatchObject({
      dirtySince: now,
    });
  });

  it('is clean again after a tick that delivered all events, and stays dirty otherwise', async () => {
    await state();
    await take('a');
    await used().end(lease, now, { baseline: completed });
    expect(await state()).toMatchObject({ dirtySince: now, baseline: completed });
    await take('a', later);
    expect(await state()).toMatchObject({ dirtySince: later });
    await used().end(lease, later, { dirtySince: now });
    expect(await state()).toMatchObject({ dirtySince: now });
    await take('a');
    await used().end(lease, now, { dirtySince: undefined });
    const after = await state();
    expect(after).toMatchObject({ baseline: completed, heartbeat: now.toString() });
    expect(after).not.toHaveProperty('dirtySince');
    expect(after).not.toHaveProperty('leaseUntil');
  });

  it('is not changed by a tick that has lost its lease', async () => {
    const { ledger } = used();
    await state();
    await take('slow');
    const taken = until.add({ seconds: 1 });
    await take('next', taken, until.add({ hours: 1 }));
    const slow = { owner: 'slow', until };
    expect(await used().end(slow, later, { dirtySince: undefined, baseline: completed })).toBe(
      false,
    );
    await ledger.saveState(noLease, slow);
    expect(await state()).toMatchObject({ dirtySince: taken, baseline: { status: 'none' } });
    expect(await take('third', until.add({ seconds: 2 }))).toBeUndefined();
  });

  it('gets its lease back from a failed tick, and stays dirty', async () => {
    await state();
    await take('a');
    await used().ledger.saveState(noLease, lease);
    expect(await state()).toMatchObject({ dirtySince: now });
    expect(await state()).not.toHaveProperty('leaseUntil');
    expect(await take('b')).toBeDefined();
  });

  it('has each condition separately, with or without the lease', async () => {
    const { ledger } = used();
    expect((await state()).conditions.size).toBe(0);
    const held = { since: 5, number: 600, told: { at: 6, number: 300 } };
    const missing = { since: 7, number: 1, owes: 'begins' as const, details: ['12 left'] };
    await ledger.saveState({ conditions: new Map([['held', held]]) });
    await ledger.saveState({ conditions: new Map([['missing', missing]]) });
    expect((await state()).conditions).toEqual(
      new Map<ConditionName, OpenCondition>([
        ['held', held],
        ['missing', missing],
      ]),
    );
    await ledger.saveState({
      conditions: new Map<ConditionName, OpenCondition | undefined>([
        ['held', undefined],
        ['unproven', held],
      ]),
    });
    await ledger.saveState({ conditions: new Map([['missing', undefined]]) });
    expect([...(await state()).conditions.keys()]).toEqual(['unproven']);
  });

  it('has the progress of the baseline', async () => {
    await state();
    const before = startDay.subtract({ days: 40 });
    const bookmark = { range: { from: before, to: startDay }, offset: 900, anchors: [4, 5] };
    const running = { status: 'running', startDay, before, sliceDays: 40, bookmark } as const;
    await used().ledger.saveState({ baseline: running });
    expect((await state()).baseline).toEqual(running);
    const { bookmark: _, ...beyond } = running;
    await used().ledger.saveState({ baseline: beyond });
    expect((await state()).baseline).toEqual(beyond);
  });

  it('does not reopen a completed baseline for a late save', async () => {
    await state();
    await take('a');
    const running = { status: 'running', startDay } as const;
    expect(await used().ledger.saveState({ baseline: running }, lease)).toBe(true);
    expect((await state()).baseline).toEqual(running);
    await used().end(lease, now, { baseline: completed });
    expect(await used().ledger.saveState({ baseline: running }, lease)).toBe(false);
    expect((await state()).baseline).toEqual(completed);
  });

  it("has the tick's changes for the next one, and keeps all other fields", async () => {
    await state();
    const learned = {
      baseline: { status: 'running', startDay, before: startDay, sliceDays: 40 },
      expected: 12,
      unexplained: -1,
      missing,
      today: { day: '2026-11-21', created: 1, updated: 2, withdrawn: 3, restored: 4 },
      pulseDigest: 'digest',
      searching: { from: '2024-02-01', to: '2024-02-29' },
      gate,
      dueAt: 5,
      auditsFrom: 7,
      reported: ['48213'],
    } as const;
    expect(await learns(learned)).toMatchObject(learned);
    expect(await learns({ expected: 13 })).toMatchObject({ ...learned, expected: 13 });
  });

  it('drops ended work', async () => {
    await state();
    expect(await learns({ missing })).toMatchObject({ missing });
    const searching = { from: '2024-02-01', to: '2024-02-29' };
    expect(await learns({ searching })).toMatchObject({ searching });
    const after = await learns({ missing: undefined, searching: undefined });
    expect(after).not.toHaveProperty('searching');
    expect(after).not.toHaveProperty('missing');
  });

  it('has missing certifications as soon as they are noted by the holder of the lease', async () => {
    await state();
    expect(await take('a')).toBeDefined();
    expect(await used().ledger.saveState({ missing }, { owner: 'b', until: later })).toBe(false);
    expect(await leased()).not.toHaveProperty('missing');
    expect(await used().ledger.saveState({ missing }, { owner: 'a', until: later })).toBe(true);
    expect((await leased()).missing).toEqual(missing);
    expect((await state()).missing).toMatchObject({ total: 412, tooManySince: 3, lookAt: 9 });
  });

  it("has the gate's memory as soon as the holder of the lease saves it", async () => {
    await state();
    expect((await leased()).gate).toEqual(nothingFound);
    expect(await take('a')).toBeDefined();
    expect(await used().ledger.saveState({ gate }, { owner: 'b', until: later })).toBe(false);
    expect((await leased()).gate).toEqual(nothingFound);
    expect(await used().ledger.saveState({ gate }, { owner: 'a', until: later })).toBe(true);
    expect((await leased()).gate).toEqual(gate);
  });

  it('has the marks of the page for the next holder of the lease, and for none after that', async () => {
    await state();
    await take('a');
    const agreed = ['aB3dE6gH', 'iJ9lM2oP'];
    await used().ledger.saveState({ agreed, ...noLease }, { owner: 'a', until: later });
    expect((await take('b'))?.agreed).toEqual(agreed);
    await used().ledger.saveState(noLease, { owner: 'b', until: later });
    expect(await take('c')).not.toHaveProperty('agreed');
  });

  it('has the cursor of a day until it has been read', async () => {
    await state();
    const range = { to: startDay };
    const sweep = { range, offset: 270, anchors: [], isSweep: true, day: '2015-01-01', count: 400 };
    expect((await learns({ cursor: sweep })).cursor).toEqual(sweep);
    expect((await learns({})).cursor).toEqual(sweep);
    expect(await learns({ cursor: undefined })).not.toHaveProperty('cursor');
  });

  it('has the time of the next mail, until no event waits for it', async () => {
    await state();
    const digest = { dueAt: later, owedAt: now };
    expect((await learns({ digest })).digest).toEqual(digest);
    expect(await learns({ digest: undefined })).not.toHaveProperty('digest');
  });

  it('has the time until which the partner is left alone', async () => {
    const { ledger } = used();
    await state();
    await ledger.saveState({ backOff: { until: later, failures: 2 } });
    expect((await state()).backOff).toEqual({ until: later, failures: 2 });
    await ledger.saveState({ backOff: undefined });
    expect(await state()).not.toHaveProperty('backOff');
  });

  it.each<[string, Pace]>([
    ['a minute without requests left', { since: 5, sent: 12 }],
    [
      'a refusal',
      { since: 5, sent: 12, learned: 12, refusedAt: 6, refusedSince: 6, closedUntil: 7 },
    ],
  ])('has the pace: %s', async (_, pace) => {
    const { ledger } = used();
    await state();
    await ledger.saveState({ pace });
    expect((await state()).pace).toEqual(pace);
    await ledger.saveState({ pace: undefined });
    expect(await state()).not.toHaveProperty('pace');
  });

  it('has the years of the calendar, each once', async () => {
    await state();
    await used().ledger.touch(['2026-11-20', '2019-02-28']);
    await used().ledger.touch(['2026-11-21']);
    await used().ledger.touch([]);
    expect((await state()).years).toEqual(new Set([2019, 2026]));
  });
});
