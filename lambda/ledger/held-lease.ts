import { Temporal } from 'temporal-polyfill';
import type { Lease } from '../decisions/state.ts';
import { ledgerKeys } from '../names.ts';
import { LeaseLostError } from './errors.ts';
import type { Check, Table } from './table.ts';

/** An older answer proves nothing: the machine may have slept before it was read. */
const freshMs = 5_000;

/**
 * For writes without a condition. Each of their requests goes out only while the lease is ours, by
 * our clock and by the state item, which is asked just before. A holder that wakes under
 * another's lease would otherwise overwrite an event that is owed.
 *
 * @param lease absent: nobody else writes
 */
export function underLease(
  table: Table,
  integration: string,
  lease: Lease | undefined,
): Check | undefined {
  if (lease === undefined) return undefined;
  const { clock } = table;
  const key = ledgerKeys.state(integration);
  return async () => {
    for (;;) {
      const asked = clock.now();
      if (Temporal.Instant.compare(asked, lease.until) >= 0) throw new LeaseLostError();
      const state = await table.get(key);
      if (state?.['lease_owner'] !== lease.owner) throw new LeaseLostError();
      if (clock.now().since(asked).total('milliseconds') < freshMs) return;
    }
  };
}
