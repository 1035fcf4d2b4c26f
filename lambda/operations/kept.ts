import { Temporal } from 'temporal-polyfill';
import type { Change } from '../detection/compare.ts';
import type { KeptEvent } from '../ports/ledger.ts';
import type { Selection } from './contract.ts';

/** Whether an event that waits for ops is among those that a command speaks of. */
export function isSelected(kept: KeptEvent, selection: Selection): boolean {
  const { organizations, years, types, ids, until } = selection;
  const { time, data } = kept.event;
  return (
    (organizations?.some((id) => id === data.assessment.organization_id) ?? true) &&
    (years?.includes(yearOf(kept)) ?? true) &&
    (types?.includes(kindOf(kept)) ?? true) &&
    (ids?.includes(kept.certificationId) ?? true) &&
    (until === undefined || Temporal.Instant.compare(time, until) <= 0)
  );
}

/** Of its `certified_on`. */
export function yearOf({ event }: KeptEvent): number {
  return Number(event.data.assessment.certified_on.slice(0, 4));
}

/** A test event never gets into an outbox. */
export function kindOf({ event }: KeptEvent): Change['kind'] {
  switch (event.type) {
    case 'certification.updated':
      return 'updated';
    case 'certification.withdrawn':
      return 'withdrawn';
    case 'certification.restored':
      return 'restored';
    default:
      return 'created';
  }
}
