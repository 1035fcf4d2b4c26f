import type { Assessment } from '../../lambda/events/assessment.ts';
import { scramble } from './random.ts';
import type { Switches } from './switches.ts';
import type { Damage } from './world-schema.ts';

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

/** Longer than what a reader of the API may be ready to take. */
const hugeText = '.'.repeat(3 * 1024 * 1024);

/** A record as the switches, and the damage done to it in particular, want it shown. */
export function blemish(
  record: Assessment,
  switches: Switches,
  damage: Damage | undefined,
): unknown {
  let shown: Assessment = record;
  if (switches.extraFields) {
    shown = {
      ...record,
      external_reference: `EXT-${record.id}`,
      badge: { level: 1 + (record.id % 3), issued: true },
      results: record.results.map((part) => ({ ...part, attempt: 1 })),
    };
  }
  if (scramble(record.id, 3) / 2 ** 32 < switches.hugeRows) shown = { ...shown, remarks: hugeText };
  if (damage !== undefined) {
    const { omit = [], set = {} } = damage;
    const kept = Object.entries(shown).filter(([field]) => !omit.includes(field));
    return { ...Object.fromEntries(kept), ...set };
  }
  return scramble(record.id, 2) / 2 ** 32 < switches.malformed ? malform(shown) : shown;
}
