import type { Temporal } from 'temporal-polyfill';
import { type CertificationEvent, certificationEvent, type FieldChoice } from './event.ts';

export interface TestAnnounced {
  readonly integration: string;
  /** Tells this test from others; the last part of the event's id. */
  readonly unique: string;
  readonly time: Temporal.Instant;
  readonly fields: FieldChoice;
  /** Default: false. */
  readonly late?: boolean | undefined;
  /** What of the invented record decides whether it passes a subscriber's filter. */
  readonly organization_id?: number | undefined;
  readonly assessment_name?: string | undefined;
}

/** Fits 32 bits; no platform has come that far. */
const inventedId = 999_999_999;

/**
 * An event about nobody, to try a subscription with. Its sequence is the time in milliseconds, so
 * that it grows as that of every subject does.
 */
export function testEvent(announced: TestAnnounced): CertificationEvent {
  const { integration, unique, time, fields, late = false } = announced;
  const { organization_id = inventedId, assessment_name = 'Test Assessment' } = announced;
  const certified_on = time.toZonedDateTimeISO('UTC').toPlainDate().toString();
  const completed = { assessment_name, certified_on };
  const assessment = {
    id: inventedId,
    seid: 'TEST-000000',
    name: 'Testa Sample',
    first_name: 'Testa',
    last_name: 'Sample',
    email: 'testa.sample@example.org',
    organization_id,
    organization_name: 'Test Organization',
    ...completed,
    results: [
      {
        assessment_id: inventedId,
        ...completed,
        proctor_id: inventedId,
        proctor_name: 'Proctor Sample',
      },
    ],
  };
  const revision = time.epochMilliseconds;
  const type = 'certification.test';
  const of = { integration, type, subject: 'test', unique, revision, time, late } as const;
  return certificationEvent({ ...of, assessment, fields });
}
