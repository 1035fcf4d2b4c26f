import { expect, it } from 'vitest';
import { describeLedgers } from './ledgers.ts';

describeLedgers('the calendar', (used) => {
  const proof = { kind: 'key-seam', at: 1_795_000_000_000, count: 2 } as const;

  it('has counts, proofs and digests by day, over months and years', async () => {
    const { ledger } = used();
    const entries = new Map([
      ['2019-12-31', { count: 3, readAt: 1, proof, digest: 'a' }],
      ['2026-01-01', { count: 0, readAt: 2 }],
      ['2026-11-20', { count: 250, readAt: 3, proof }],
      ['2026-11-21', { count: 251, readAt: 4, unprovenSince: 3, dueAt: 5 }],
    ]);
    await ledger.saveDays(entries);
    expect(await ledger.calendar([2019, 2026])).toEqual(entries);
    expect(await ledger.calendar([2026])).toEqual(new Map([...entries].slice(1)));
    expect(await ledger.calendar([])).toEqual(new Map());
  });

  it('replaces an entry whole: a proof does not outlive the read that lost it', async () => {
    const { ledger } = used();
    await ledger.saveDays(new Map([['2026-11-20', { count: 2, readAt: 3, proof, digest: 'a' }]]));
    const unproven = new Map([['2026-11-20', { count: 2, readAt: 4, unprovenSince: 4 }]]);
    await ledger.saveDays(unproven);
    expect(await ledger.calendar([2026])).toEqual(unproven);
  });

  it('adds to the count of a day, whether or not it has the day, also of the first centuries', async () => {
    const { ledger } = used();
    await ledger.saveDays(new Map([['2026-11-20', { count: 2, readAt: 3, proof }]]));
    const days = ['2026-11-20', '2026-11-21', '2026-11-22', '0019-02-03'] as const;
    await ledger.addToDays(
      new Map([-1, 4, 0, 1].map((delta, index) => [days[index] ?? '', delta])),
    );
    expect(await ledger.calendar([2026, 19])).toEqual(
      new Map([
        [days[0], { count: 1, readAt: 3, proof }],
        [days[1], { count: 4, readAt: 0 }],
        [days[2], { count: 0, readAt: 0 }],
        [days[3], { count: 1, readAt: 0 }],
      ]),
    );
  });
});
