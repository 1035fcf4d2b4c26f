import { expect, it } from 'vitest';
import type { LastEvent } from '../../../lambda/operations/ops-ledger.ts';
import { assessment } from '../../support/assessments.ts';
import { changesOf, describeLedgers, type LedgerInUse, later, now } from './ledgers.ts';

const any = () => true;
const of = (id: number, name = 'Odalys') => assessment({ id, name });
const monthAgo = now.subtract({ hours: 31 * 24 });

const pagesOf = (
  used: LedgerInUse,
  from = monthAgo,
  isWanted: (last: LastEvent) => boolean = any,
) => Array.fromAsync(used.opsLedger.latest(from, later, isWanted));

/** Ids and revisions, in the order of the pages. */
async function latest(...[used, from, isWanted]: Parameters<typeof pagesOf>) {
  const pages = await pagesOf(used, from, isWanted);
  return pages.flatMap(({ lives }) =>
    lives.map(({ certification: { id, revision } }) => `${id}/${revision}`),
  );
}

describeLedgers('certifications by their last event', (used) => {
  it('include one from its first event on, with its history', async () => {
    await used().create(of(1), now);
    await used().update(of(1, 'Odile'), later);
    const lives = (await pagesOf(used())).flatMap((page) => page.lives);
    expect(lives.map(({ revisions }) => revisions.map(({ at }) => at))).toEqual([
      [now.toString(), later.toString()],
    ]);
  });

  it('do not include one of the baseline, which makes no event', async () => {
    await used().ledger.recordSilently(changesOf([of(1), of(2)]), now);
    expect(await latest(used())).toEqual([]);
    await used().update(of(2, 'Odile'), later);
    expect(await latest(used())).toEqual(['2/2']);
  });

  it('move with a held event, and with one that undoes held ones', async () => {
    await used().create(of(1), now);
    await used().ledger.settle([{ certificationId: 1, revision: 1 }], 'nothing');
    await used().update(of(1, 'Odile'), now.add({ seconds: 1 }), 'held');
    expect(await latest(used(), now.add({ seconds: 1 }))).toEqual(['1/2']);
    const known = await used().ledger.known([1]);
    const [back] = changesOf([of(1)], known);
    expect(back && (await used().commit(back, later))).toBe('undone');
    expect(await latest(used(), later)).toEqual(['1/3']);
  });

  it('reach as far back as requested, across months', async () => {
    for (const [index, days] of [0, 10, 25, 40].entries())
      await used().create(of(index + 1), now.subtract({ hours: days * 24 }));
    expect(await latest(used(), now.subtract({ hours: 60 * 24 }))).toEqual([
      ...['1/1', '2/1', '3/1', '4/1'],
    ]);
    expect(await latest(used(), now.subtract({ hours: 25 * 24 }))).toEqual(['1/1', '2/1', '3/1']);
    expect(await latest(used(), now.subtract({ hours: 24 }))).toEqual(['1/1']);
  });

  it('come in pages that say how far they reach, also over unwanted ones', async () => {
    const many = 250;
    for (let id = 1; id <= many; id += 1)
      await used().create(of(id), now.subtract({ milliseconds: id }));
    const seen: LastEvent[] = [];
    let place = Number.POSITIVE_INFINITY;
    const isOdd = (last: LastEvent) => {
      seen.push(last);
      return last.id % 2 === 1;
    };
    const pages = await pagesOf(used(), monthAgo, isOdd);
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

  it('also come oldest first, from a moment on and across months', async () => {
    for (const [index, days] of [0, 10, 25, 25, 40].entries())
      await used().create(of(index + 1), now.subtract({ hours: days * 24, milliseconds: index }));
    const since = async (from: typeof now, isWanted: typeof isFirst = any) => {
      const pages = await Array.fromAsync(used().opsLedger.latestSince(from, later, isWanted));
      return pages.flatMap(({ lives }) => lives.map(({ certification: { id } }) => id));
    };
    const isFirst = ({ id }: LastEvent) => id === 1;
    const from = now.subtract({ hours: 25 * 24, milliseconds: 2 });
    expect(await since(from)).toEqual([3, 2, 1]);
    expect(await since(from, isFirst)).toEqual([1]);
    expect(await since(from.subtract({ milliseconds: 1 }))).toEqual([4, 3, 2, 1]);
    expect(await since(later)).toEqual([]);
  });

  it('appear at their old place or above it if they move between two pages', async () => {
    for (let id = 1; id <= 150; id += 1)
      await used().create(of(id), now.subtract({ milliseconds: id }));
    const pages = used().opsLedger.latest(monthAgo, later, any)[Symbol.asyncIterator]();
    await pages.next();
    await used().update(of(150, 'Odile'), later);
    const since = Array.fromAsync(used().opsLedger.latestSince(now, later, any));
    expect(
      (await since).flatMap(({ lives }) => lives.map(({ certification: { id } }) => id)),
    ).toEqual([150]);
    await pages.return?.();
  });
});
