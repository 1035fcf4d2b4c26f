import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { type Assessment, assessmentSchema } from './assessment.ts';
import { briefName, chosen, type FieldChoice, identifiersOf } from './fields.ts';
import { type Invention, inventedAssessment } from './invented.ts';
import { maxMessageBytes, messageOf } from './message.ts';

/** Identifies this version of the contract; within a version fields are only added. */
export const eventSchemaId = 'urn:certification-notifier:schema:certification-event:1' as const;

const envelope = {
  specversion: z.literal('1.0').check(z.describe('Version of CloudEvents.')),
  id: z
    .string()
    .check(
      z.describe(
        '`<integration>/<assessment id>/<revision>`: the same in retries and replays. What has been handled under this id need not be handled again.',
      ),
    ),
  source: z.string().check(z.describe('`urn:certification-notifier:<integration>`.')),
  subject: z.string().check(z.describe("The assessment's id; `test` for a test event.")),
  time: z.iso
    .datetime()
    .check(
      z.describe(
        'When the change was noticed (UTC), not when the assessment was completed: that is `certified_on`.',
      ),
    ),
  datacontenttype: z.literal('application/json'),
  dataschema: z.literal(eventSchemaId).check(z.describe('This version of the contract.')),
  sequence: z
    .string()
    .check(
      z.regex(/^[1-9]\d*$/),
      z.describe(
        'Revision of the certification: a whole number as text. Of one `subject` it only grows, so an event with a smaller one than the last handled is outdated.',
      ),
    ),
};

const announcement = {
  late: z
    .boolean()
    .check(
      z.describe(
        'The assessment was completed longer ago than the recent window: backdated, delayed.',
      ),
    ),
  changed: z
    .array(z.string())
    .check(
      z.describe(
        'Names of the fields that differ from the revision before, also of fields that the event does not carry. Empty unless updated or restored.',
      ),
    ),
  replay: z
    .optional(z.literal(true))
    .check(z.describe('Sent before, and once more on request, under the same id.')),
  truncated: z
    .optional(z.literal(true))
    .check(
      z.describe(
        'Something was left out for want of space: `results`, or everything but the identifiers. The event would have been too large for SNS, or too much of its certification waits here to be sent.',
      ),
    ),
};

/** The identifiers are in every event; the others unless `fields`, the size limit or the platform keep them back. */
const announcedAssessmentSchema = z.looseObject(assessmentSchema.shape).check(
  z.meta({
    id: 'Assessment',
    description:
      'The record under the field names of the Partner Assessment Results API. Only the identifiers (`id`, `organization_id`, `assessment_name`, `certified_on`) are always there: which others leave is a setting of the integration, and the platform may not send them. Null: the platform has sent null, or a value that is not of the documented type. Fields that the API adds pass through.',
  }),
);

const identifiersSchema = z
  .object(
    z.pick(assessmentSchema, {
      id: true,
      organization_id: true,
      assessment_name: true,
      certified_on: true,
    }).shape,
  )
  .check(
    z.meta({
      id: 'WithdrawnAssessment',
      description: 'What is left to say of an assessment that is gone: nothing personal is kept.',
    }),
  );

const announcedData = z.object({ assessment: announcedAssessmentSchema, ...announcement });

function sightingSchema<Type extends string>(type: Type, id: string, description: string) {
  return z
    .object({ ...envelope, type: z.literal(type), data: announcedData })
    .check(z.meta({ id, description }));
}

/**
 * One announcement: a CloudEvents 1.0 event in structured JSON, the body of an SNS message.
 *
 * `id` is `<integration>/<assessment id>/<revision>` and stays the same in retries and replays.
 * `sequence` is the revision: it only grows within one `subject`, so that a consumer can drop
 * what is older than what it has. A withdrawal carries no personal data: none is kept.
 */
export const certificationEventSchema = z.discriminatedUnion('type', [
  sightingSchema(
    'certification.created',
    'CertificationCreated',
    'An assessment that was not there before, however long ago it was completed.',
  ),
  sightingSchema(
    'certification.updated',
    'CertificationUpdated',
    'An assessment whose record has changed; `changed` says which fields.',
  ),
  z
    .object({
      ...envelope,
      type: z.literal('certification.withdrawn'),
      data: z.object({ assessment: identifiersSchema, ...announcement }),
    })
    .check(
      z.meta({
        id: 'CertificationWithdrawn',
        description: 'An assessment that the platform no longer shows: removed, or out of scope.',
      }),
    ),
  sightingSchema(
    'certification.restored',
    'CertificationRestored',
    'An assessment that had been withdrawn and is shown again, perhaps changed.',
  ),
  sightingSchema(
    'certification.test',
    'CertificationTest',
    'Sent on request to try a subscription; the record is invented. To be acknowledged, not handled.',
  ),
]);

export type CertificationEvent = z.infer<typeof certificationEventSchema>;
/** A record as it leaves: what `fields` and the size limit allow. */
export type AnnouncedAssessment = z.infer<typeof announcedAssessmentSchema>;
/** What every event has of an assessment. */
export type Identifiers = z.infer<typeof identifiersSchema>;

interface Announced {
  readonly integration: string;
  readonly revision: number;
  /** When the change was noticed; RFC 3339, UTC. */
  readonly time: { toString(): string };
  readonly late: boolean;
  /** Sent before, and now once more on request. */
  readonly replay?: boolean;
}

export interface SightingAnnounced extends Announced {
  readonly type: 'certification.created' | 'certification.updated' | 'certification.restored';
  readonly assessment: Assessment;
  /** What of the assessment may leave. */
  readonly fields: FieldChoice;
  readonly changed: readonly string[];
  /**
   * Only the identifiers, marked as truncated if more was to be there: for want of space elsewhere
   * than in SNS. Default: as much as SNS takes.
   */
  readonly brief?: boolean;
}

export function sightingEvent(announced: SightingAnnounced): CertificationEvent {
  const { type, assessment, fields, changed, brief = false, late, replay = false } = announced;
  return fitting(chosen(assessment, fields), brief, (assessment, mark) => ({
    ...envelopeOf({ ...announced, subject: String(assessment.id) }),
    type,
    data: { assessment, late, changed: [...changed], ...(replay && { replay }), ...mark },
  }));
}

export interface WithdrawalAnnounced extends Announced {
  readonly assessment: Identifiers;
}

export function withdrawalEvent(announced: WithdrawalAnnounced): CertificationEvent {
  const { late, replay = false } = announced;
  return fitting(identifiersOf(announced.assessment), false, (assessment, mark) => ({
    ...envelopeOf({ ...announced, subject: String(assessment.id) }),
    type: 'certification.withdrawn',
    data: { assessment, late, changed: [], ...(replay && { replay }), ...mark },
  }));
}

export interface TestAnnounced extends Invention {
  readonly integration: string;
  /** Tells this test from others; the last part of the event's id. */
  readonly unique: string;
  readonly time: Temporal.Instant;
  readonly fields: FieldChoice;
  /** Default: false. */
  readonly late?: boolean | undefined;
}

/**
 * An event about nobody, to try a subscription with. Its sequence is the time in milliseconds, so
 * that it grows as that of every subject does.
 */
export function testEvent(announced: TestAnnounced): CertificationEvent {
  const { integration, unique, time, fields, late = false } = announced;
  const { epochMilliseconds: revision } = time;
  const day = time.toZonedDateTimeISO('UTC').toPlainDate().toString();
  return fitting(chosen(inventedAssessment(day, announced), fields), false, (assessment, mark) => ({
    ...envelopeOf({ integration, subject: 'test', unique, revision, time }),
    type: 'certification.test',
    data: { assessment, late, changed: [], ...mark },
  }));
}

/**
 * The largest event that SNS takes: the whole one, else without `results`, else with the identifiers
 * alone, and with the assessment's name cut if it is that which is too long. The last one always
 * fits: it is a few kilobytes, whatever the record has.
 *
 * @param brief begins at the identifiers
 */
function fitting(
  assessment: AnnouncedAssessment,
  brief: boolean,
  eventOf: (assessment: AnnouncedAssessment, mark?: { truncated?: true }) => CertificationEvent,
): CertificationEvent {
  const whole = eventOf(assessment);
  if (!brief && messageOf(whole).bytes <= maxMessageBytes) return whole;
  const identifiers = identifiersOf(assessment);
  const isMore = Object.keys(assessment).some((name) => !(name in identifiers));
  const { results: _, ...withoutResults } = assessment;
  for (const smaller of brief ? [identifiers] : [withoutResults, identifiers]) {
    const event = eventOf(smaller, isMore ? { truncated: true } : {});
    if (messageOf(event).bytes <= maxMessageBytes) return event;
  }
  const assessment_name = briefName(identifiers.assessment_name);
  return eventOf({ ...identifiers, assessment_name }, { truncated: true });
}

interface Envelope {
  readonly integration: string;
  readonly subject: string;
  /** The last part of the id. */
  readonly unique?: string;
  readonly revision: number;
  readonly time: Announced['time'];
}

function envelopeOf({ integration, subject, revision, unique = `${revision}`, time }: Envelope) {
  return {
    specversion: '1.0' as const,
    id: `${integration}/${subject}/${unique}`,
    source: `urn:certification-notifier:${integration}`,
    subject,
    time: time.toString(),
    datacontenttype: 'application/json' as const,
    dataschema: eventSchemaId,
    sequence: String(revision),
  };
}
