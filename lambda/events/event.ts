import * as z from 'zod';
import { type Assessment, assessmentSchema } from './assessment.ts';

const eventTypes = ['certification.created', 'certification.updated'] as const;

/** Identifies this version of the contract; within a version fields are only added. */
const dataSchema = 'urn:certification-notifier:schema:certification-event:1';

/**
 * One announcement: a CloudEvents 1.0 event in structured JSON, the body of an SNS message.
 *
 * `id` is `<integration>/<assessment id>/<revision>` and stays the same in retries and replays.
 * `sequence` is the revision: it only grows within one `subject`, so that a consumer can drop
 * what is older than what it has.
 */
export const certificationEventSchema = z.object({
  specversion: z.literal('1.0'),
  id: z.string(),
  type: z.enum(eventTypes),
  source: z.string(),
  /** The assessment's id. */
  subject: z.string(),
  /** When the change was recorded here (RFC 3339, UTC), not when the assessment was completed. */
  time: z.iso.datetime(),
  datacontenttype: z.literal('application/json'),
  dataschema: z.literal(dataSchema),
  sequence: z.string().regex(/^[1-9]\d*$/),
  data: z.object({
    assessment: assessmentSchema,
    /** Completed before the recent window: a backdated or much delayed record. */
    late: z.boolean(),
    /** Names of the fields that differ from the revision before; empty for `created`. */
    changed: z.array(z.string()),
  }),
});

export type CertificationEvent = z.infer<typeof certificationEventSchema>;
export type EventType = CertificationEvent['type'];

export interface Announcement {
  readonly integration: string;
  readonly type: EventType;
  readonly assessment: Assessment;
  readonly revision: number;
  readonly changed: readonly string[];
  readonly late: boolean;
  readonly time: { toString(): string };
}

export function certificationEvent(announcement: Announcement): CertificationEvent {
  const { integration, type, assessment, revision, changed, late, time } = announcement;
  return {
    specversion: '1.0',
    id: `${integration}/${assessment.id}/${revision}`,
    type,
    source: `urn:certification-notifier:${integration}`,
    subject: String(assessment.id),
    time: time.toString(),
    datacontenttype: 'application/json',
    dataschema: dataSchema,
    sequence: String(revision),
    data: { assessment, late, changed: [...changed] },
  };
}
