import type { Assessment } from '../../lambda/events/assessment.ts';
import { scramble } from './random.ts';
import type { Switches } from './switches.ts';

/** Ways for a record to break the documented shape; which one depends on its id alone. */
const breakages: readonly ((record: Assessment) => unknown)[] = [
  ({ id: _, ...rest }) => rest,
  (record) => ({ ...record, id: String(record.id) }),
  (record) => ({ ...record, certified_on: null }),
  (record) => ({ ...record, certified_on: '2026-02-31' }),
  (record) => ({ ...record, results: null }),
  (record) => ({ ...record, organization_id: 'none' }),
  ({ last_name: _, ...rest }) => rest,
];

/** Breaks a record for good measure: the same record, the same way, every time. */
export function malform(record: Assessment): unknown {
  const breakage = breakages[scramble(record.id, 1) % breakages.length];
  return breakage?.(record);
}

/** A record as the switches want it shown. */
export function blemish(record: Assessment, switches: Switches): unknown {
  const shown: Assessment = switches.extraFields
    ? {
        ...record,
        external_reference: `EXT-${record.id}`,
        badge: { level: 1 + (record.id % 3), issued: true },
        results: record.results.map((part) => ({ ...part, attempt: 1 })),
      }
    : record;
  return scramble(record.id, 2) / 2 ** 32 < switches.malformed ? malform(shown) : shown;
}
