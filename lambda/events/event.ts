import type { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { type Assessment, assessmentSchema, described, type ResultPart } from './assessment.ts';
import { briefName, maxMessageBytes, messageOf } from './sns-message.ts';

/** Identifies this version of the contract; within a version fields are only added. */
export const eventSchemaId = 'urn:certification-notifier:schema:certification-event:1' as const;

const envelope = {
  specversion: described(z.literal('1.0'), 'Version of CloudEvents.'),
  id: described(
    z.string(),
    '`<integration>/<assessment id>/<revision>`: the same in retries and replays. An event that was handled under this id need not be handled again.',
  ),
  source: described(z.string(), '`urn:certification-notifier:<integration>`.'),
  subject: described(z.string(), "The assessment's id; `test` for a test event."),
  time: described(
    z.iso.datetime(),
    'When the change was noticed (UTC, with milliseconds), not when the assessment was completed: that is `certified_on`.',
  ),
  datacontenttype: z.literal('application/json'),
  dataschema: described(z.literal(eventSchemaId), 'This version of the contract.'),
  sequence: described(
    z.string().check(z.regex(/^[1-9]\d*$/)),
    'Revision of the certification: a whole number as text. Within one `subject` it only grows, so an event with a smaller revision than the last handled one is outdated.',
  ),
};

const announcement = {
  late: described(
    z.boolean(),
    'The assessment was completed before the recent window: it was backdated or delayed.',
  ),
  changed: described(
    z.array(z.string()),
    'Names of the fields that differ from the revision before, also of fields that the event does not carry. Empty unless updated or restored.',
  ),
  replay: described(
    z.optional(z.literal(true)),
    'The event was sent before, and is sent again on request under the same id.',
  ),
  truncated: described(
    z.optional(z.literal(true)),
    'The event lacks `results`, or everything but the identifiers, for want of space. It would have been too large for SNS, or too many events of its certification wait to be sent.',
  ),
};

/**
 * The identifiers are in every event. Other fields may be left out by `fields`, the size limit or
 * the partner.
 */
const announcedAssessmentSchema = described(
  z.looseObject(assessmentSchema.shape),
  'The record under the field names of the Partner Assessment Results API. Only the identifiers (`id`, `organization_id`, `assessment_name`, `certified_on`) are always there. A setting of the integration chooses the other fields, and the partner may leave them out. Null: the partner has sent null, or a value that the documented type cannot carry. Fields that the API adds pass through, numbers in the digits that were sent.',
  'Assessment',
);

const { id, organization_id, assessment_name, certified_on } = assessmentSchema.shape;
const identifiersSchema = described(
  z.object({ id, organization_id, assessment_name, certified_on }),
  'The identifiers of an assessment that is gone: nothing personal is stored.',
  'WithdrawnAssessment',
);

const sighting = described(
  z.object({ assessment: announcedAssessmentSchema, ...announcement }),
  'An assessment as it is now, and the names of its changed fields.',
  'CertificationData',
);
const withdrawal = described(
  z.object({ assessment: identifiersSchema, ...announcement }),
  'An assessment that is gone.',
  'WithdrawalData',
);

/** The possible shapes of a test event. */
export const likenesses = [
  'created',
  'updated',
  'withdrawn',
  'restored',
  'late',
  'truncated',
] as const;

const likenessSchema = described(
  z.enum(likenesses),
  'The shape of the test event: an event of this type, one that is late, or one without room for all of its record.',
  'TestLikeness',
);
const trial = described(
  z.extend(sighting, { like: z.optional(likenessSchema) }),
  'An invented assessment.',
  'TestData',
);

const eventSchema = <Type extends string, Data extends z.core.$ZodType>(type: Type, data: Data) =>
  z.object({ ...envelope, type: z.literal(type), data });

/**
 * One announcement: a CloudEvents 1.0 event in structured JSON, the body of an SNS message.
 *
 * `id` is `<integration>/<assessment id>/<revision>` and stays the same in retries and replays.
 * `sequence` is the revision: it only grows within one `subject`, so that a consumer can drop
 * events that are older than its last one. A withdrawal carries no personal data, since none is
 * stored.
 */
export const certificationEventSchema = z.discriminatedUnion('type', [
  described(
    eventSchema('certification.created', sighting),
    'An assessment that was not there before, however long ago it was completed.',
    'CertificationCreated',
  ),
  described(
    eventSchema('certification.updated', sighting),
    'An assessment whose record has changed; `changed` says which fields.',
    'CertificationUpdated',
  ),
  described(
    eventSchema('certification.withdrawn', withdrawal),
    'An assessment that the partner no longer shows: removed, or out of scope.',
    'CertificationWithdrawn',
  ),
  described(
    eventSchema('certification.restored', sighting),
    'An assessment that had been withdrawn and is shown again, perhaps changed.',
    'CertificationRestored',
  ),
  described(
    eventSchema('certification.test', trial),
    'A test event, sent on request to try a subscription. Its record is invented: acknowledge the event, and do not handle it.',
    'CertificationTest',
  ),
]);

export type CertificationEvent = z.infer<typeof certificationEventSchema>;
/** A record as subscribers get it, with the fields that `fields` and the size limit allow. */
export type AnnouncedAssessment = z.infer<typeof announcedAssessmentSchema>;

export interface Announced {
  readonly integration: string;
  readonly type: CertificationEvent['type'];
  readonly assessment: Assessment;
  /**
   * The fields that may leave; of a withdrawn assessment, always the identifiers. Default: the
   * identifiers.
   */
  readonly fields?: FieldChoice;
  readonly revision: number;
  /** When the change was noticed. */
  readonly time: Temporal.Instant;
  readonly late: boolean;
  readonly changed?: readonly string[];
  /** It was sent before, and is sent again on request. */
  readonly replay?: boolean;
  /**
   * Only the identifiers are sent, marked as truncated if there would be more: space is short
   * elsewhere than in SNS. Default: as much as SNS accepts.
   */
  readonly brief?: boolean;
  /** Default: the assessment's id. */
  readonly subject?: string;
  /** The last part of the id. Default: the revision. */
  readonly unique?: string;
}

export function certificationEvent(announced: Announced): CertificationEvent {
  const { integration, type, assessment, revision, late, changed = [], brief } = announced;
  const { subject = `${assessment.id}`, unique = revision, fields = 'identifiers' } = announced;
  const whole = chosen(assessment, type === 'certification.withdrawn' ? 'identifiers' : fields);
  const shown = brief ? chosen(assessment, 'identifiers') : whole;
  const isShort = Object.keys(whole).some((name) => !(name in shown));
  const replay = announced.replay === true && ({ replay: true } as const);
  const truncated = isShort && ({ truncated: true } as const);
  const event = {
    specversion: '1.0',
    id: `${integration}/${subject}/${unique}`,
    source: `urn:certification-notifier:${integration}`,
    subject,
    time: announced.time.toString({ fractionalSecondDigits: 3 }),
    datacontenttype: 'application/json',
    dataschema: eventSchemaId,
    sequence: String(revision),
    type,
    data: { assessment: shown, late, changed: [...changed], ...replay, ...truncated },
  } satisfies CertificationEvent;
  return messageOf(event).bytes <= maxMessageBytes ? event : fitting(event);
}

/**
 * The largest form of the event that SNS accepts: without `results`, else with the identifiers
 * alone, else with the assessment's name cut, too. The last form always fits: it has a few
 * kilobytes.
 */
function fitting(event: CertificationEvent): CertificationEvent {
  const { results: _, ...withoutResults }: AnnouncedAssessment = event.data.assessment;
  const identifiers = chosen(event.data.assessment, 'identifiers');
  const cut = { ...identifiers, assessment_name: briefName(identifiers.assessment_name) };
  const smaller = (assessment: AnnouncedAssessment): CertificationEvent => ({
    ...event,
    data: { ...event.data, assessment, truncated: true },
  });
  const fits = (one: CertificationEvent) => messageOf(one).bytes <= maxMessageBytes;
  return [withoutResults, identifiers].map(smaller).find(fits) ?? smaller(cut);
}

/**
 * The fields of a record that may leave in an event: all, undocumented ones included; the
 * identifiers; or the identifiers and the fields of this list, by the API's names.
 */
export type FieldChoice = 'all' | 'identifiers' | readonly string[];

/**
 * Reduces a record to the fields that may leave. Of `results` in a list, each part has only its
 * documented fields: a list is a promise that nothing else leaves, even if the partner adds a field
 * one day.
 */
export function chosen(assessment: Assessment, fields: FieldChoice): AnnouncedAssessment {
  if (fields === 'all') return assessment;
  const { id, organization_id, assessment_name, certified_on } = assessment;
  const kept: AnnouncedAssessment = { id, organization_id, assessment_name, certified_on };
  if (fields === 'identifiers') return kept;
  for (const field of fields) if (Object.hasOwn(assessment, field)) kept[field] = assessment[field];
  if (kept.results) kept.results = kept.results.map(documentedPart);
  return kept;
}

function documentedPart(part: ResultPart): ResultPart {
  const { assessment_id, assessment_name, certified_on, proctor_id, proctor_name } = part;
  return { assessment_id, assessment_name, certified_on, proctor_id, proctor_name };
}
