import { expect, it } from 'vitest';
import { compare, withdrawal } from '../../../lambda/detection/compare.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { certificationEvent } from '../../../lambda/events/event.ts';
import { assessment } from '../../support/assessments.ts';
import { changesOf, describeLedgers, later, now, onlyChange } from './ledgers.ts';

const renamed = (name: string) => assessment({ name });

describeLedgers('a commit', (used) => {
  it('makes a certification known and its event owed', async () => {
    const read = assessment();
    const owed = await used().create(read);
    expect(owed).toMatchObject({ certificationId: read.id, revision: 1, owes: 'event-and-digest' });
    expect(owed).not.toHaveProperty('behind');
    expect(await used().leftovers()).toEqual([owed]);
    const known = await used().ledger.known([read.id, 1, read.id]);
    expect([...known.keys()]).toEqual([read.id]);
    expect(known.get(read.id)).toEqual({
      id: read.id,
      day: read.certified_on,
      fingerprint: onlyChange(read).fingerprint,
      revision: 1,
      presence: 'present',
      organization_id: read.organization_id,
      assessment_name: read.assessment_name,
    });
  });

  it('accepts a certification without organization and names', async () => {
    const nobody = { organization_id: null, assessment_name: null, name: null, results: null };
    const read = { ...assessment({ id: 5 }), ...nobody };
    const owed = await used().create(read);
    expect(owed?.event.data.assessment).toEqual(read);
    expect(await used().leftovers()).toEqual([owed]);
    const known = (await used().ledger.known([5])).get(5);
    expect(known).toMatchObject({ organization_id: null, assessment_name: null });
  });

  it('of one new certification by four ticks at once succeeds for exactly one', async () => {
    const change = onlyChange(assessment());
    const owed = await Promise.all([1, 2, 3, 4].map(() => used().commit(change)));
    expect(owed.filter((event) => event !== undefined)).toHaveLength(1);
  });

  it('of an update that another tick has already made changes nothing', async () => {
    await used().create(assessment());
    const known = await used().ledger.known([assessment().id]);
    const change = onlyChange(renamed('Odalys Ashgrove'), known);
    expect(await used().commit(change, later)).toBeDefined();
    const other = onlyChange(renamed('Odalys Birchwood'), known);
    expect(await used().commit(other, later)).toBeUndefined();
    expect((await used().leftovers()).map(({ event }) => event.sequence)).toEqual(['1', '2']);
    const after = (await used().ledger.known([assessment().id])).get(assessment().id);
    expect(after?.fingerprint).toEqual(change.fingerprint);
  });

  it('of an update of an unknown certification changes nothing', async () => {
    await used().create(assessment());
    const known = await used().ledger.known([assessment().id]);
    const change = onlyChange(renamed('Odalys Ashgrove'), known);
    const elsewhere = { ...change, id: 1, assessment: assessment({ id: 1 }) };
    expect(await used().commit(elsewhere)).toBeUndefined();
    expect((await used().ledger.known([1])).size).toBe(0);
  });

  it('keeps the replaced fingerprint for as long as a replica may answer with it', async () => {
    await used().create(assessment());
    const id = assessment().id;
    const first = (await used().ledger.known([id])).get(id);
    const nowMs = later.epochMilliseconds;
    const before = await used().ledger.known([id]);
    const { changes } = compare([renamed('Odalys Ashgrove')], before, 'salt', nowMs, 600_000);
    const [change] = changes;
    if (change === undefined) throw new Error('nothing changed');
    await used().commit(change, later);
    const known = (await used().ledger.known([id])).get(id);
    expect(known?.earlier).toEqual([
      { fingerprint: first?.fingerprint.whole, until: nowMs + 600_000 },
    ]);
  });

  it('of a move leaves the certification only under its new day', async () => {
    const { ledger } = used();
    const before = assessment();
    await used().create(before);
    await used().update({ ...before, certified_on: '2024-02-29' });
    expect((await ledger.knownOfDay(before.certified_on)).size).toBe(0);
    const there = (await ledger.knownOfDay('2024-02-29')).get(before.id);
    const known = (await ledger.known([before.id])).get(before.id);
    expect(known?.day).toBe('2024-02-29');
    expect(there).toEqual({ fingerprint: known?.fingerprint.whole, presence: 'present' });
  });

  it('cuts a long name to the room of an item', async () => {
    const read = assessment({ assessment_name: 'Knöts '.repeat(1_000) });
    await used().create(read);
    const known = (await used().ledger.known([read.id])).get(read.id);
    expect(known?.assessment_name).toMatch(/^Knöts .*…$/);
    expect(Buffer.byteLength(known?.assessment_name ?? '')).toBeLessThanOrEqual(1_024);
  });
});

describeLedgers('a withdrawn certification', (used) => {
  it('stays known, with its event owed, and can be restored', async () => {
    const { ledger, integration } = used();
    const read = assessment();
    await ledger.recordSilently([onlyChange(read)], now);
    const before = (await ledger.known([read.id])).get(read.id);
    if (before === undefined) throw new Error('it was recorded');
    const { id, organization_id, assessment_name, day: certified_on } = before;
    const event = certificationEvent({
      type: 'certification.withdrawn',
      integration,
      revision: 2,
      late: false,
      time: later,
      assessment: { id, organization_id, assessment_name, certified_on },
    });
    const owed = await ledger.commit(withdrawal(before), event, later, 'pending');
    expect(await used().leftovers()).toEqual([owed]);
    const known = await ledger.known([id]);
    expect(known.get(id)).toEqual({ ...before, presence: 'withdrawn', revision: 2 });
    expect((await ledger.knownOfDay(certified_on)).get(id)?.presence).toBe('withdrawn');
    expect(await ledger.commit(withdrawal(before), event, later, 'pending')).toBeUndefined();
    expect(await used().update(read)).toMatchObject({
      revision: 3,
      event: { type: 'certification.restored' },
    });
    expect((await ledger.knownOfDay(certified_on)).get(id)?.presence).toBe('present');
  });
});

describeLedgers('the history of a certification', (used) => {
  it('has each revision, from the baseline on, newest last', async () => {
    const { ledger } = used();
    const read = assessment();
    await ledger.recordSilently([onlyChange(read)], now);
    await used().update(renamed('Odalys Ashgrove'));
    expect((await ledger.lives([read.id, 1])).get(read.id)).toEqual({
      certification: (await ledger.known([read.id])).get(read.id),
      firstSeen: now.toString(),
      revisions: [
        {
          ...{ revision: 1, kind: 'baseline', at: now.toString(), changed: [], decisions: [] },
          isBehind: false,
        },
        {
          revision: 2,
          kind: 'updated',
          at: later.toString(),
          changed: ['name'],
          late: false,
          decisions: [],
          waits: 'pending',
          isBehind: false,
        },
      ],
    });
  });

  it('begins with its creation when it was announced', async () => {
    await used().create(assessment({ id: 1 }));
    expect((await used().ledger.lives([1])).get(1)?.revisions).toEqual([
      {
        revision: 1,
        kind: 'created',
        at: now.toString(),
        changed: [],
        late: false,
        decisions: [],
        waits: 'pending',
        isBehind: false,
      },
    ]);
  });

  it('has the last fifty revisions', async () => {
    const { id } = assessment();
    await used().create(assessment());
    for (let revision = 2; revision <= 53; revision += 1)
      await used().update(renamed(`Odalys the ${revision}th`));
    const history = (await used().ledger.lives([id])).get(id)?.revisions ?? [];
    expect(history.map(({ revision }) => revision)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 4),
    );
  });
});

describeLedgers('the baseline', (used) => {
  it('records hundreds of certifications without an event', async () => {
    const { ledger } = used();
    const read = Array.from({ length: 260 }, (_, index) => assessment({ id: index + 1 }));
    await ledger.recordSilently(changesOf(read), now);
    const known = await ledger.known(read.map(({ id }) => id));
    expect(known.size).toBe(260);
    expect(changesOf(read, known)).toEqual([]);
    expect((await ledger.knownOfDay(assessment().certified_on)).size).toBe(260);
    expect(await used().leftovers()).toEqual([]);
  });

  it('lets a recorded certification be updated and announced later', async () => {
    const read = assessment();
    await used().ledger.recordSilently([onlyChange(read)], now);
    const owed = await used().update({ ...read, email: 'new@example.org' });
    expect(await used().leftovers()).toEqual([owed]);
  });
});

describeLedgers('an outbox whose held events are undone', (used) => {
  const { id } = assessment();
  const knownOf = async () => {
    const known = (await used().ledger.known([id])).get(id);
    if (known === undefined) throw new Error('it was recorded');
    return known;
  };
  const change = async (read: Assessment, destiny: 'pending' | 'held' = 'pending') =>
    used().commit(onlyChange(read, new Map([[id, await knownOf()]])), later, destiny);
  const withdraw = (destiny: 'pending' | 'held' = 'pending') => used().withdraw(id, destiny);
  const undone = async () =>
    (await used().opsLedger.story(id))?.revisions.flatMap((one) =>
      one.undone ? one.revision : [],
    );
  const recorded = () => used().ledger.recordSilently([onlyChange(assessment())], now);

  it('is emptied, and the next change is announced', async () => {
    await recorded();
    await change(renamed('Odalys Ashgrove'), 'held');
    await change(renamed('Odalys Birchwood'), 'held');
    expect(await knownOf()).toMatchObject({ isHeld: true });
    expect(await change(assessment())).toBe('undone');
    expect(await used().waitingForOps('held')).toEqual([]);
    expect(await used().ledger.countWaitingForOps('held')).toBe(0);
    expect(await undone()).toEqual([2, 3, 4]);
    expect(await knownOf()).not.toHaveProperty('isHeld');
    expect(await knownOf()).toMatchObject({
      revision: 4,
      fingerprint: onlyChange(assessment()).fingerprint,
    });
    const next = await change(renamed('Odalys Ashgrove'));
    expect(next).toMatchObject({ revision: 5, event: { type: 'certification.updated' } });
    expect(next).not.toHaveProperty('behind');
    expect(await used().leftovers()).toEqual([next]);
  });

  it('is emptied whole, also if more was held than the history has', async () => {
    await recorded();
    for (let revision = 2; revision <= 61; revision += 1)
      await change(renamed(`Odalys the ${revision}th`), 'held');
    expect(await change(assessment())).toBe('undone');
    expect(await used().waitingForOps('held')).toEqual([]);
    expect(await undone()).toEqual(Array.from({ length: 50 }, (_, index) => index + 13));
  });

  it('stays until the certification is as subscribers were last told', async () => {
    await recorded();
    await change(renamed('Odalys Ashgrove'), 'held');
    expect(await change(renamed('Odalys Birchwood'))).toMatchObject({ behind: 'held' });
    expect(await withdraw()).toMatchObject({ behind: 'held' });
    expect(await undone()).toEqual([]);
    expect(await change(assessment())).toBe('undone');
    expect(await undone()).toEqual([2, 3, 4, 5]);
    expect(await knownOf()).toMatchObject({ presence: 'present' });
  });

  it('is emptied for a withdrawn certification that is withdrawn again', async () => {
    await recorded();
    const gone = await withdraw();
    if (typeof gone !== 'object') throw new Error('it was there');
    await used().ledger.settle([gone], 'nothing');
    await change(renamed('Odalys Ashgrove'), 'held');
    expect(await withdraw()).toBe('undone');
    expect(await change(assessment())).toMatchObject({
      revision: 5,
      event: { type: 'certification.restored' },
    });
  });

  it('is emptied for a certification never told, which is created when it returns', async () => {
    await used().create(assessment(), now, 'held');
    expect(await withdraw('held')).toBe('undone');
    expect(await knownOf()).toMatchObject({ presence: 'withdrawn', isUntold: true });
    await change(assessment(), 'held');
    expect(await knownOf()).not.toHaveProperty('isUntold');
    expect(await withdraw()).toBe('undone');
    const created = await change(assessment());
    expect(created).toMatchObject({ revision: 5, event: { type: 'certification.created' } });
    expect(await knownOf()).not.toHaveProperty('isUntold');
    if (typeof created !== 'object') throw new Error('it is news');
    await used().ledger.settle([created], 'nothing');
    expect(await withdraw()).toMatchObject({ event: { type: 'certification.withdrawn' } });
    expect(await change(assessment())).toMatchObject({
      event: { type: 'certification.restored' },
    });
  });

  it('stays if one of its events was offered to SNS', async () => {
    await recorded();
    await change(renamed('Odalys Ashgrove'));
    await change(renamed('Odalys Birchwood'), 'held');
    expect(await knownOf()).not.toHaveProperty('isHeld');
    expect(await change(renamed('Odalys Ashgrove'))).toMatchObject({ behind: 'held' });
    expect(await change(assessment())).toMatchObject({ revision: 5 });
    expect(await undone()).toEqual([]);
  });

  it('stays if its event was released between the read and the commit', async () => {
    await recorded();
    await change(renamed('Odalys Ashgrove'), 'held');
    const seen = new Map([[id, await knownOf()]]);
    await used().opsLedger.decide(id, 'held', 'released', () => true, later);
    const back = await used().commit(onlyChange(assessment(), seen), later);
    expect(back).toMatchObject({ revision: 3, behind: 'pending' });
    expect(await used().leftovers()).toHaveLength(2);
  });

  it('is emptied at the state that was told last, also after a partial release', async () => {
    await recorded();
    await change(renamed('Odalys Ashgrove'), 'held');
    await change(renamed('Odalys Birchwood'), 'held');
    await used().opsLedger.decide(id, 'held', 'released', ({ revision }) => revision === 2, later);
    const [released] = await used().leftovers();
    if (released === undefined) throw new Error('it was released');
    await used().ledger.settle([released], 'nothing');
    expect(await change(assessment(), 'held')).toMatchObject({ revision: 4 });
    expect(await change(renamed('Odalys Ashgrove'))).toBe('undone');
  });
});
