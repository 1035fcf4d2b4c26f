import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import { leaseSeen } from '../../../lambda/decisions/lease.ts';

const now = Temporal.Instant.from('2026-11-21T08:00:00Z');
const at = (seconds: number | undefined) =>
  seconds === undefined ? undefined : now.add({ seconds });

it.each<[string, number | undefined, number | undefined, number | undefined]>([
  ['over', undefined, undefined, undefined],
  ['held', -60, 0, undefined],
  ['over', -66, -1, undefined],
  ['held', 60, 120, undefined],
  ['doubted', 61, 121, undefined],
  ['doubted', 7_200, 7_260, -64],
  ['over', 7_200, 7_260, -65],
  // The note of a reader whose own clock is ahead.
  ['doubted', 7_200, 7_260, 7_200],
  // However long it claims to be.
  ['doubted', -905, 7_200, undefined],
  ['over', -906, 7_200, undefined],
  // By an earlier version.
  ['held', undefined, 965, undefined],
  ['doubted', undefined, 966, undefined],
])(
  'a lease is %s, taken at %j, until %j and doubted at %j s from now',
  (seen, taken, until, doubted) => {
    const lease = { leaseTakenAt: at(taken), leaseUntil: at(until), leaseDoubtedAt: at(doubted) };
    expect(leaseSeen(lease, now)).toBe(seen);
  },
);
