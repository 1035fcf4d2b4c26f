import type { Assessment } from './assessment.ts';

/** What of the invented record decides whether it passes a subscriber's filter. */
export interface Invention {
  readonly organization_id?: number | undefined;
  readonly assessment_name?: string | undefined;
}

/** Fits 32 bits; no platform has come that far. */
const inventedId = 999_999_999;

/** A record of nobody, for test events. */
export function inventedAssessment(
  day: string,
  { organization_id = inventedId, assessment_name = 'Test Assessment' }: Invention,
): Assessment {
  return {
    id: inventedId,
    seid: 'TEST-000000',
    name: 'Testa Sample',
    first_name: 'Testa',
    last_name: 'Sample',
    email: 'testa.sample@example.org',
    organization_id,
    organization_name: 'Test Organization',
    assessment_name,
    certified_on: day,
    results: [
      {
        assessment_id: inventedId,
        assessment_name,
        certified_on: day,
        proctor_id: inventedId,
        proctor_name: 'Proctor Sample',
      },
    ],
  };
}
