import type { DocumentedRecord } from '../documented-record.ts';
import { scramble } from './random.ts';
import type { Switches } from './switches.ts';
import type { Damage } from './world-schema.ts';

/** Ways in which a record can lack a usable id or a valid day. The record's id decides which one. */
const breakages: readonly ((record: DocumentedRecord) => unknown)[] = [
  ({ id: _, ...rest }) => rest,
  (record) => ({ ...record, id: String(record.id) }),
  (record) => ({ ...record, certified_on: null }),
  (record) => ({ ...record, certified_on: '2026-02-31' }),
  ({ certified_on: _, ...rest }) => rest,
];

/** Fields of a record or a part that may be null, missing or of another type, against the document. */
const contents = [
  ...['name', 'first_name', 'last_name', 'email'],
  ...['organization_id', 'organization_name', 'assessment_name', 'results'],
] as const;
const contentsOfParts = ['assessment_name', 'certified_on', 'proctor_id', 'proctor_name'] as const;
const forms = ['null', 'missing', 'another type'] as const;

/** Spoils one field of the content. For the same record it is always the same field, in the same way. */
function nullify(record: DocumentedRecord): unknown {
  const choice = scramble(record.id, 4) % (contents.length + contentsOfParts.length);
  const form = forms[scramble(record.id, 5) % forms.length] ?? 'null';
  const [field, ofParts] = [contents[choice], contentsOfParts[choice - contents.length]];
  if (field !== undefined) return without(record, field, form);
  if (ofParts === undefined) return record;
  return { ...record, results: record.results.map((part) => without(part, ofParts, form)) };
}

function without(fields: object, field: string, form: (typeof forms)[number]): object {
  if (form === 'null') return { ...fields, [field]: null };
  if (form === 'another type') return { ...fields, [field]: { value: 'of another type' } };
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== field));
}

/** Spoils the id or the day. For the same record always in the same way. */
export function malform(record: DocumentedRecord): unknown {
  const breakage = breakages[scramble(record.id, 1) % breakages.length];
  return breakage?.(record);
}

/** Longer than a reader of the API may accept. */
const hugeText = '.'.repeat(3 * 1024 * 1024);

/** A record as the switches, and its own damage, require it to be shown. */
export function blemish(
  record: DocumentedRecord,
  switches: Switches,
  damage: Damage | undefined,
): unknown {
  let shown: DocumentedRecord = record;
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
  if (scramble(record.id, 2) / 2 ** 32 < switches.malformed) return malform(shown);
  return scramble(record.id, 6) / 2 ** 32 < switches.nulls ? nullify(shown) : shown;
}
