import * as z from 'zod/mini';

const yesOrNo = z.enum(['true', 'false']);

/**
 * What filter policies can rely on. At most ten, because raw delivery to SQS discards a message with
 * more (AWS, "Amazon SNS raw message delivery").
 */
export const messageAttributesSchema = z
  .object({
    type: z.string().check(z.describe('`type` of the event.')),
    integration: z.string().check(z.describe('Name of the integration that the event comes from.')),
    organization_id: z
      .optional(z.int())
      .check(
        z.describe('`data.assessment.organization_id`; a Number to SNS; absent when it is null.'),
      ),
    assessment_name: z
      .optional(z.string().check(z.minLength(1)))
      .check(
        z.describe(
          '`data.assessment.assessment_name`, cut after 1,024 bytes; absent when it is empty or null.',
        ),
      ),
    late: yesOrNo.check(z.describe('`data.late`.')),
    replay: yesOrNo.check(
      z.describe('Whether the event was sent before and is sent again on request.'),
    ),
  })
  .check(
    z.meta({
      id: 'MessageAttributes',
      description: 'SNS message attributes, for filter policies.',
    }),
  );

export type MessageAttributeValues = z.infer<typeof messageAttributesSchema>;
