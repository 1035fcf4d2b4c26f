import { expect, it } from 'vitest';
import { withdrawal } from '../../../lambda/detection/compare.ts';
import { withdrawalEvent } from '../../../lambda/events/event.ts';
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

  it('of the same new certification by four ticks at once succeeds for exactly one', async () => {
    const change = onlyChange(assessment());
    const owed = await Promise.all([1, 2, 3, 4].map(() => used().commit(change)));
    expect(owed.filter((event) => event !== undefined)).toHaveLength(1);
  });

  it('of an update that another tick has made already changes nothing', async () => {
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

  it('of an update of what is not known changes nothing', async () => {
    await used().create(assessment());
    const known = await used().ledger.known([assessment().id]);
    const change = onlyChange(renamed('Odalys Ashgrove'), known);
    const elsewhere = { ...change, assessment: assessment({ id: 1 }) };
    expect(await used().commit(elsewhere)).toBeUndefined();
    expect((await used().ledger.known([1])).size).toBe(0);
  });

  it('of a move leaves the certification under its new day only', async () => {
    const { ledger } = used();
    const before = assessment();
    await used().create(before);
    await used().update({ ...before, certified_on: '2024-02-29' });
    expect((await ledger.knownOfDay(before.certified_on)).size).toBe(0);
    const there = (await ledger.knownOfDay('2024-02-29')).get(before.id);
    const known = (await ledger.known([before.id])).get(before.id);
    expect(known?.day).toBe('2024-02-29');
    expect(there).toEqual({
      id: before.id,
      fingerprint: known?.fingerprint.whole,
      presence: 'present',
    });
  });

  it('keeps no more of a long name than an item has room for', async () => {
    const read = assessment({ assessment_name: 'Knöts '.repeat(1_000) });
    await used().create(read);
    const known = (await used().ledger.known([read.id])).get(read.id);
    expect(known?.assessment_name).toMatch(/^Knöts .*…$/);
    expect(Buffer.byteLength(known?.assessment_name ?? '')).toBeLessThanOrEqual(1_024);
  });
});

describeLedgers('what is withdrawn', (used) => {
  it('stays known, with its event owed, and can be restored', async () => {
    const { ledger, integration } = used();
    const read = assessment();
    await ledger.recordSilently([onlyChange(read)], now);
    const before = (await ledger.known([read.id])).get(read.id);
    if (before === undefined) throw new Error('it was recorded');
    const { id, organization_id, assessment_name, day: certified_on } = before;
    const event = withdrawalEvent({
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
  it('tells each revision, from the baseline on, newest last', async () => {
    const { ledger } = used();
    const read = assessment();
    await ledger.recordSilently([onlyChange(read)], now);
    await used().update(renamed('Odalys Ashgrove'));
    expect((await ledger.lives([read.id, 1])).get(read.id)).toEqual({
      certification: (await ledger.known([read.id])).get(read.id),
      history: [
        { revision: 1, kind: 'baseline', at: now.toString(), changed: [], decisions: [] },
        {
          revision: 2,
          kind: 'updated',
          at: later.toString(),
          changed: ['name'],
          late: false,
          decisions: [],
        },
      ],
      undelivered: new Map([[2, 'pending']]),
    });
  });

  it('begins with its creation when it was announced', async () => {
    await used().create(assessment({ id: 1 }));
    expect((await used().ledger.lives([1])).get(1)?.history).toEqual([
      {
        revision: 1,
        kind: 'created',
        at: now.toString(),
        changed: [],
        late: false,
        decisions: [],
      },
    ]);
  });

  it('keeps the last fifty revisions', async () => {
    const { id } = assessment();
    await used().create(assessment());
    for (let revision = 2; revision <= 53; revision += 1)
      await used().update(renamed(`Odalys the ${revision}th`));
    const history = (await used().ledger.lives([id])).get(id)?.history ?? [];
    expect(history.map(({ revision }) => revision)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 4),
    );
  });
});

describeLedgers('the baseline', (used) => {
  it('records hundreds of certifications that nobody is owed anything of', async () => {
    const { ledger } = used();
    const read = Array.from({ length: 260 }, (_, index) => assessment({ id: index + 1 }));
    await ledger.recordSilently(changesOf(read), now);
    const known = await ledger.known(read.map(({ id }) => id));
    expect(known.size).toBe(260);
    expect(changesOf(read, known)).toEqual([]);
    expect((await ledger.knownOfDay(assessment().certified_on)).size).toBe(260);
    expect(await used().leftovers()).toEqual([]);
  });

  it('lets what it recorded be updated and announced later', async () => {
    const read = assessment();
    await used().ledger.recordSilently([onlyChange(read)], now);
    const owed = await used().update({ ...read, email: 'new@example.org' });
    expect(await used().leftovers()).toEqual([owed]);
  });
});
