import * as z from 'zod';

const yesOrNo = z.enum(['true', 'false']);

/**
 * What filter policies can rely on. At most ten, because raw delivery to SQS discards a message with
 * more (AWS, "Amazon SNS raw message delivery").
 */
export const messageAttributesSchema = z
  .object({
    type: z.string().describe('`type` of the event.'),
    integration: z.string().describe('Name of the integration that the event comes from.'),
    organization_id: z.int().describe('`data.assessment.organization_id`; a Number to SNS.'),
    assessment_name: z
      .string()
      .min(1)
      .optional()
      .describe(
        '`data.assessment.assessment_name`, cut after 1,024 bytes; absent when it is empty.',
      ),
    late: yesOrNo.describe('`data.late`.'),
    replay: yesOrNo.describe('Whether the event was sent before and is sent again on request.'),
  })
  .meta({ id: 'MessageAttributes', description: 'SNS message attributes, for filter policies.' });

export type MessageAttributeValues = z.infer<typeof messageAttributesSchema>;
