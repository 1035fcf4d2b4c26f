import { createHash } from 'node:crypto';
import { type Observations, quarantineSeen } from '../detection/conditions.ts';
import { oddPaths } from '../detection/odd-fields.ts';
import type { Assessment } from '../events/assessment.ts';
import type { PartnerReader, QuarantinedRecord } from '../ports/partner-reader.ts';
import type { State } from '../ports/state.ts';
import type { TickParts } from './parts.ts';

/** A record that stays malformed is reported once; beyond so many, they are only counted. */
const reportedKept = 50;

/** The records that are not as documented, among all that the partner shows. */
export interface Oddities {
  /** Malformed ones, by a short name. */
  readonly quarantined: Map<string, QuarantinedRecord>;
  /** The ids of announceable ones, by the path of a field. */
  readonly oddFields: Map<string, Set<number>>;
}

/** The same partner; what is odd about its answers is noted. */
export function watching(partner: PartnerReader, oddities: Oddities): PartnerReader {
  const noted = <Shown extends Partial<Answer>>(shown: Shown): Shown => {
    for (const record of shown.quarantined ?? []) oddities.quarantined.set(nameOf(record), record);
    for (const assessment of shown.assessments ?? [])
      for (const path of oddPaths(assessment)) {
        const ids = oddities.oddFields.get(path) ?? new Set();
        oddities.oddFields.set(path, ids.add(assessment.id));
      }
    return shown;
  };
  return {
    ...partner,
    pulse: async (deadline) => noted(await partner.pulse(deadline)),
    tail: async (pulse, deadline) => noted(await partner.tail(pulse, deadline)),
    prove: async (range, deadline, bookmark) =>
      noted(await partner.prove(range, deadline, bookmark)),
    get: async (id, deadline) => {
      const record = await partner.get(id, deadline);
      if (typeof record === 'object') noted({ assessments: [record] });
      return record;
    },
  };
}

interface Answer {
  readonly assessments: readonly Assessment[];
  readonly quarantined: readonly QuarantinedRecord[];
}

/** Malformed records that no tick has reported yet. */
export function unreported(
  { quarantined }: Oddities,
  { reported }: State,
): [name: string, record: QuarantinedRecord][] {
  return [...quarantined]
    .filter(([name]) => !reported.includes(name))
    .slice(0, reportedKept - reported.length);
}

/** @param total of all that were reported, with these */
export function quarantineTold(
  { journal }: Pick<TickParts, 'journal'>,
  malformed: ReturnType<typeof unreported>,
  total: number,
): Observations {
  for (const [, { id, problems }] of malformed)
    journal.warn('record quarantined', { id, problems });
  return quarantineSeen(
    malformed.map(([, record]) => record),
    total,
  );
}

/** Short, because the state is written by every tick. */
function nameOf({ id, problems }: QuarantinedRecord): string {
  return id === undefined
    ? createHash('sha256').update(problems.join(';')).digest('base64url').slice(0, 6)
    : String(id);
}
