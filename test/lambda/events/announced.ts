import { Temporal } from 'temporal-polyfill';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import {
  type Announced,
  type CertificationEvent,
  certificationEvent,
} from '../../../lambda/events/event.ts';
import type { OwedEvent } from '../../../lambda/events/owed-event.ts';
import { assessment } from '../../support/assessments.ts';

export const announcedAt = Temporal.Instant.from('2026-11-21T08:00:04.12Z');

/** An event about a record, with all its fields: a new certification unless `more` says otherwise. */
export const eventOf = (
  record: Assessment = assessment(),
  more: Partial<Announced> = {},
): CertificationEvent =>
  certificationEvent({
    integration: 'district-a',
    type: 'certification.created',
    fields: 'all',
    revision: 1,
    late: false,
    time: announcedAt,
    assessment: record,
    ...more,
  });

/** New certifications with the ids from 1 on, which nobody has been told of. */
export function owedEvents(count: number, more?: Partial<Announced>, name = 'Odalys'): OwedEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const certificationId = index + 1;
    const event = eventOf(assessment({ id: certificationId, name }), more);
    return { certificationId, revision: 1, event, owes: 'event-and-digest' };
  });
}
