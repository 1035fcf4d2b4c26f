import { expect, it } from 'vitest';
import type { LastEvent } from '../../../lambda/commands/ops-ledger.ts';
import { assessment } from '../../support/assessments.ts';
import { changesOf, describeLedgers, type LedgerInUse, later, now } from './ledgers.ts';

const any = (_: LastEvent) => true;
const of = (id: number, name = 'Odalys') => assessment({ id, name });
const daysAgo = (days: number) => now.subtract({ hours: days * 24 });

const pagesOf = (used: LedgerInUse, from = daysAgo(31), isWanted = any) =>
  Array.fromAsync(used.opsLedger.latest(from, later, isWanted));

/** Ids and revisions, in the order of the pages. */
const latest = async (used: LedgerInUse, from?: typeof now) =>
  (await pagesOf(used, from)).flatMap(({ lives }) =>
    lives.map(({ certification: { id, revision } }) => `${id}/${revision}`),
  );

const since = async (used: LedgerInUse, from: typeof now, isWanted = any) =>
  (await Array.fromAsync(used.opsLedger.latestSince(from, later, isWanted))).flatMap(({ lives }) =>
    lives.map(({ certification: { id } }) => id),
  );

describeLedgers('certifications by their last event', (used) => {
  it('include one from its first event on, and none of the baseline', async () => {
    await used().ledger.recordSilently(changesOf([of(1), of(2)]), now);
    expect(await latest(used())).toEqual([]);
    await used().update(of(2, 'Odile'), later);
    expect(await latest(used())).toEqual(['2/2']);
    const [page] = await pagesOf(used());
    expect(page?.lives).toEqual([(await used().ledger.lives([2])).get(2)]);
  });

  it('move with a held event, and with one that undoes held ones', async () => {
    await used().create(of(1), now);
    await used().ledger.settle([{ certificationId: 1, revision: 1 }], 'nothing');
    await used().update(of(1, 'Odile'), now.add({ seconds: 1 }), 'held');
    expect(await latest(used(), now.add({ seconds: 1 }))).toEqual(['1/2']);
    const [back] = changesOf([of(1)], await used().ledger.known([1]));
    expect(back && (await used().commit(back, later))).toBe('undone');
    expect(await latest(used(), later)).toEqual(['1/3']);
  });

  it('reach as far back as requested, across months, newest or oldest first', async () => {
    for (const [index, days] of [0, 10, 25, 25, 40].entries())
      await used().create(of(index + 1), daysAgo(days).subtract({ seconds: index }));
    expect(await latest(used(), daysAgo(60))).toEqual(['1/1', '2/1', '3/1', '4/1', '5/1']);
    const third = daysAgo(25).subtract({ seconds: 2 });
    expect(await latest(used(), third)).toEqual(['1/1', '2/1', '3/1']);
    expect(await latest(used(), daysAgo(1))).toEqual(['1/1']);
    expect(await since(used(), third)).toEqual([3, 2, 1]);
    expect(await since(used(), third, ({ id }) => id === 1)).toEqual([1]);
    expect(await since(used(), third.subtract({ seconds: 1 }))).toEqual([4, 3, 2, 1]);
    expect(await since(used(), later)).toEqual([]);
  });

  it('come in pages that say how far they reach, also over unwanted ones', async () => {
    const many = 250;
    for (let id = 1; id <= many; id += 1)
      await used().create(of(id), now.subtract({ milliseconds: id }));
    const seen: LastEvent[] = [];
    let place = Number.POSITIVE_INFINITY;
    const pages = await pagesOf(used(), daysAgo(31), (last) => {
      seen.push(last);
      return last.id % 2 === 1;
    });
    for (const { lives, reached } of pages) {
      for (const { revisions } of lives) {
        const at = Date.parse(revisions.at(-1)?.at ?? '');
        expect(at).toBeLessThanOrEqual(place);
        expect(at).toBeGreaterThanOrEqual(reached);
      }
      place = reached;
    }
    expect(pages.filter(({ lives }) => lives.length > 0).length).toBeGreaterThan(1);
    expect(pages.flatMap(({ lives }) => lives)).toHaveLength(many / 2);
    expect(seen.map(({ id, revision, at }) => [id, revision, at])).toEqual(
      Array.from({ length: many }, (_, n) => [n + 1, 1, now.epochMilliseconds - n - 1]),
    );
  });
});
