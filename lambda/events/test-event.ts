import type { Temporal } from 'temporal-polyfill';
import {
  type CertificationEvent,
  certificationEvent,
  type FieldChoice,
  type likenesses,
} from './event.ts';

export interface TestAnnounced {
  readonly integration: string;
  /** Tells this test from others; the last part of the event's id. */
  readonly unique: string;
  readonly time: Temporal.Instant;
  readonly fields: FieldChoice;
  /** Its shape. Default: created. */
  readonly like?: (typeof likenesses)[number] | undefined;
  /** The values of the invented record that decide whether it passes a subscriber's filter. */
  readonly organization_id?: number | undefined;
  readonly assessment_name?: string | undefined;
}

/** Fits 32 bits; no partner's ids have come that far. */
const inventedId = 999_999_999;

/**
 * An event about nobody, for trying a subscription. Its sequence is the time in milliseconds, so
 * that it grows as that of every subject does.
 */
export function testEvent(announced: TestAnnounced): CertificationEvent {
  const { integration, unique, time, like } = announced;
  const { organization_id = inventedId, assessment_name = 'Test Assessment' } = announced;
  const today = time.toZonedDateTimeISO('UTC').toPlainDate();
  const late = like === 'late';
  const certified_on = (late ? today.subtract({ years: 1 }) : today).toString();
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
  // A truncated event was meant to have all fields; a withdrawn one has only identifiers.
  const fields = { withdrawn: 'identifiers', truncated: 'all' } as const;
  const event = certificationEvent({
    ...{ ...of, assessment },
    fields: like === 'withdrawn' || like === 'truncated' ? fields[like] : announced.fields,
    changed: like === 'updated' ? ['results'] : [],
    brief: like === 'truncated',
  });
  return like === undefined ? event : { ...event, type, data: { ...event.data, like } };
}
