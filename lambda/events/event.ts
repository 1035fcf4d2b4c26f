import * as z from 'zod';
import { type Assessment, assessmentSchema } from './assessment.ts';

/** Identifies this version of the contract; within a version fields are only added. */
const dataSchema = 'urn:certification-notifier:schema:certification-event:1' as const;

const envelope = {
  specversion: z.literal('1.0'),
  id: z.string(),
  source: z.string(),
  /** The assessment's id. */
  subject: z.string(),
  /** When the change was recorded here (RFC 3339, UTC), not when the assessment was completed. */
  time: z.iso.datetime(),
  datacontenttype: z.literal('application/json'),
  dataschema: z.literal(dataSchema),
  sequence: z.string().regex(/^[1-9]\d*$/),
};

/** Completed before the recent window: a backdated or much delayed record. */
const late = z.boolean();

const sightingEventSchema = z.object({
  ...envelope,
  type: z.enum(['certification.created', 'certification.updated', 'certification.restored']),
  data: z.object({
    assessment: assessmentSchema,
    late,
    /** Names of the fields that differ from the revision before; empty for `created`. */
    changed: z.array(z.string()),
  }),
});

/** What is left to say of an assessment that is gone; nothing personal. */
const remainsSchema = assessmentSchema
  .pick({ id: true, organization_id: true, assessment_name: true, certified_on: true })
  .strip();

const withdrawalEventSchema = z.object({
  ...envelope,
  type: z.literal('certification.withdrawn'),
  data: z.object({ assessment: remainsSchema, late, changed: z.array(z.string()).length(0) }),
});

/**
 * One announcement: a CloudEvents 1.0 event in structured JSON, the body of an SNS message.
 *
 * `id` is `<integration>/<assessment id>/<revision>` and stays the same in retries and replays.
 * `sequence` is the revision: it only grows within one `subject`, so that a consumer can drop
 * what is older than what it has. A withdrawal carries no personal data: none is kept.
 */
export const certificationEventSchema = z.discriminatedUnion('type', [
  sightingEventSchema,
  withdrawalEventSchema,
]);

export type CertificationEvent = z.infer<typeof certificationEventSchema>;
type Remains = z.infer<typeof remainsSchema>;

interface Announced {
  readonly integration: string;
  readonly revision: number;
  readonly late: boolean;
  readonly time: { toString(): string };
}

export interface SightingAnnounced extends Announced {
  readonly type: z.infer<typeof sightingEventSchema>['type'];
  readonly assessment: Assessment;
  readonly changed: readonly string[];
}

export function sightingEvent(announced: SightingAnnounced): CertificationEvent {
  const { type, assessment, changed, late } = announced;
  return {
    ...envelopeOf(announced, assessment.id),
    type,
    data: { assessment, late, changed: [...changed] },
  };
}

export interface WithdrawalAnnounced extends Announced {
  readonly assessment: Remains;
}

export function withdrawalEvent(announced: WithdrawalAnnounced): CertificationEvent {
  const { assessment, late } = announced;
  return {
    ...envelopeOf(announced, assessment.id),
    type: 'certification.withdrawn',
    data: { assessment, late, changed: [] },
  };
}

function envelopeOf({ integration, revision, time }: Announced, id: number) {
  return {
    specversion: '1.0' as const,
    id: `${integration}/${id}/${revision}`,
    source: `urn:certification-notifier:${integration}`,
    subject: String(id),
    time: time.toString(),
    datacontenttype: 'application/json' as const,
    dataschema: dataSchema,
    sequence: String(revision),
  };
}
