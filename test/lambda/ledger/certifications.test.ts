import { expect, it } from 'vitest';
import { compare, withdrawal } from '../../../lambda/decisions/compare.ts';
import { fingerprintOf } from '../../../lambda/decisions/fingerprint.ts';
import { assessment } from '../../support/assessments.ts';
import { changesOf, describeLedgers, later, now, onlyChange } from './ledgers.ts';

const renamed = (name: string) => assessment({ name });
const { id } = assessment();

describeLedgers('a commit', (used) => {
  const known = async (one = id) => (await used().ledger.known([one])).get(one);

  it('makes a certification known and its event owed', async () => {
    const read = assessment();
    const owed = await used().create(read);
    expect(owed).toMatchObject({ certificationId: id, revision: 1, owes: 'event-and-digest' });
    expect(await used().leftovers()).toEqual([owed]);
    const certification = {
      ...{ id, day: read.certified_on, fingerprint: onlyChange(read).fingerprint },
      ...{ revision: 1, presence: 'present', organization_id: read.organization_id },
      assessment_name: read.assessment_name,
    };
    expect(await used().ledger.known([id, 1, id])).toEqual(new Map([[id, certification]]));
  });

  it('accepts a certification without organization and names', async () => {
    const nobody = { organization_id: null, assessment_name: null, name: null, results: null };
    const read = { ...assessment({ id: 5 }), ...nobody };
    const owed = await used().create(read);
    expect(owed.event.data.assessment).toEqual(read);
    expect(await used().leftovers()).toEqual([owed]);
    expect(await known(5)).toMatchObject({ organization_id: null, assessment_name: null });
  });

  it('of one new certification by four ticks at once succeeds for exactly one', async () => {
    const change = onlyChange(assessment());
    const owed = await Promise.all([1, 2, 3, 4].map(() => used().commit(change)));
    expect(owed.filter((event) => event !== undefined)).toHaveLength(1);
  });

  it('of an update that another tick has already made changes nothing', async () => {
    await used().create(assessment());
    const seen = await used().ledger.known([id]);
    const change = onlyChange(renamed('Odalys Ashgrove'), seen);
    expect(await used().commit(change, later)).toBeDefined();
    const other = onlyChange(renamed('Odalys Birchwood'), seen);
    expect(await used().commit(other, later)).toBeUndefined();
    expect((await used().leftovers()).map(({ event }) => event.sequence)).toEqual(['1', '2']);
    expect(await known()).toMatchObject({ fingerprint: change.fingerprint });
    const elsewhere = { ...change, id: 1, assessment: assessment({ id: 1 }) };
    expect(await used().commit(elsewhere)).toBeUndefined();
    expect(await known(1)).toBeUndefined();
  });

  it('keeps the replaced fingerprint for as long as a replica may answer with it', async () => {
    await used().create(assessment());
    const seen = await used().ledger.known([id]);
    const nowMs = later.epochMilliseconds;
    const [change] = compare([renamed('Ann')], seen, 'salt', nowMs, 600_000).changes;
    if (change) await used().commit(change, later);
    const fingerprint = seen.get(id)?.fingerprint.whole;
    expect((await known())?.earlier).toEqual([{ fingerprint, until: nowMs + 600_000 }]);
  });

  it('of a move leaves the certification only under its new day', async () => {
    const { ledger } = used();
    await used().create(assessment());
    await used().update({ ...assessment(), certified_on: '2024-02-29' });
    expect((await ledger.knownOfDay(assessment().certified_on)).size).toBe(0);
    const moved = await known();
    expect(moved?.day).toBe('2024-02-29');
    expect(await ledger.knownOfDay('2024-02-29')).toEqual(
      new Map([[id, { fingerprint: moved?.fingerprint.whole, presence: 'present' }]]),
    );
  });

  it('of a withdrawal leaves it known, so that it can be restored', async () => {
    const { ledger } = used();
    const read = assessment();
    await ledger.recordSilently([onlyChange(read)], now);
    const before = await known();
    const gone = await used().withdraw(id);
    if (before === undefined || typeof gone !== 'object') throw new Error('it was recorded');
    expect(await used().leftovers()).toEqual([gone]);
    expect(await known()).toEqual({ ...before, presence: 'withdrawn', revision: 2 });
    const presence = async () => (await ledger.knownOfDay(read.certified_on)).get(id)?.presence;
    expect(await presence()).toBe('withdrawn');
    const again = await ledger.commit(withdrawal(before), gone.event, later, 'pending');
    expect(again).toBeUndefined();
    expect((await used().update(read)).event.type).toBe('certification.restored');
    expect(await presence()).toBe('present');
  });
});

describeLedgers('hashes by newer rules', (used) => {
  it('replace those of a certification that is as it was compared', async () => {
    const { ledger } = used();
    const { fingerprint } = onlyChange(assessment());
    const old = fingerprintOf(assessment(), 'salt-of-the-tests', 1);
    await ledger.recordSilently([{ ...onlyChange(assessment()), fingerprint: old }], now);
    const [before] = (await ledger.known([id])).values();
    if (before === undefined) throw new Error('it was recorded');
    await ledger.rehash([{ before: { ...before, revision: 2 }, fingerprint }]);
    expect((await ledger.known([id])).get(id)).toEqual(before);
    await ledger.rehash([{ before, fingerprint }]);
    expect((await ledger.known([id])).get(id)).toEqual({ ...before, fingerprint });
  });
});

describeLedgers('the history of a certification', (used) => {
  it('has each revision, from the baseline on, newest last', async () => {
    const { ledger } = used();
    const found = { in: 'baseline', proof: 'single-page' } as const;
    await ledger.recordSilently([{ ...onlyChange(assessment()), found }], now);
    await used().update(renamed('Odalys Ashgrove'));
    const updated = { kind: 'updated', at: later.toString(), changed: ['name'], late: false };
    expect((await ledger.lives([id, 1])).get(id)).toEqual({
      certification: (await ledger.known([id])).get(id),
      firstSeen: now.toString(),
      revisions: [
        {
          ...{ revision: 1, kind: 'baseline', at: now.toString(), changed: [], found },
          ...{ decisions: [], isBehind: false },
        },
        { revision: 2, ...updated, decisions: [], waits: 'pending', isBehind: false },
      ],
    });
  });
});

describeLedgers('the baseline', (used) => {
  it('records hundreds of certifications without an event', async () => {
    const { ledger } = used();
    const read = Array.from({ length: 260 }, (_, index) => assessment({ id: index + 1 }));
    await ledger.recordSilently(changesOf(read), now);
    const known = await ledger.known(read.map((one) => one.id));
    expect(known.size).toBe(260);
    expect(changesOf(read, known)).toEqual([]);
    expect((await ledger.knownOfDay(assessment().certified_on)).size).toBe(260);
    expect(await used().leftovers()).toEqual([]);
  });
});
