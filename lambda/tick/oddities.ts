import { createHash } from 'node:crypto';
import type { Facts } from '../detection/conditions.ts';
import { oddPaths } from '../detection/fingerprint.ts';
import type { PartnerReader, PulseRead, QuarantinedRecord } from '../ports/partner-reader.ts';
import type { State } from '../ports/state.ts';

/** A record that stays malformed is reported once; beyond so many, they are only counted. */
const reportedKept = 50;

/** The same partner; the records in its answers that are not as documented are noted. */
export function watching(partner: PartnerReader, { quarantined, oddFields }: Facts): PartnerReader {
  const noting =
    <Asked extends unknown[], Shown extends Omit<PulseRead, 'count'>>(
      ask: (...asked: Asked) => Promise<Shown>,
    ) =>
    async (...asked: Asked) => {
      const shown = await ask(...asked);
      for (const record of shown.quarantined) quarantined.set(nameOf(record), record);
      for (const assessment of shown.assessments)
        for (const path of oddPaths(assessment))
          oddFields.set(path, (oddFields.get(path) ?? new Set()).add(assessment.id));
      return shown;
    };
  const get = noting(async (...asked: Parameters<PartnerReader['get']>) => {
    const record = await partner.get(...asked);
    return { record, assessments: typeof record === 'object' ? [record] : [], quarantined: [] };
  });
  return {
    ...partner,
    pulse: noting(partner.pulse),
    tail: noting(partner.tail),
    prove: noting(partner.prove),
    get: async (...asked) => (await get(...asked)).record,
  };
}

/** Malformed records that no tick has reported yet. */
export function unreported({ quarantined }: Facts, { reported }: State) {
  return [...quarantined]
    .filter(([name]) => !reported.includes(name))
    .slice(0, reportedKept - reported.length);
}

/** Short, because the state is written by every tick. */
function nameOf({ id, problems }: QuarantinedRecord): string {
  return id === undefined
    ? createHash('sha256').update(problems.join(';')).digest('base64url').slice(0, 6)
    : String(id);
}
