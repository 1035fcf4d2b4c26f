import * as z from 'zod';
import { notifierSettings } from './notifier.ts';
import { arn, flag, label, name, record } from './words.ts';

/** AWS's limit for the owner's tags of a resource or a stack. */
const maxTags = 50;

/** "Tag naming limits" in the AWS General Reference. */
const tagCharacters = 'letters, digits, spaces and _ . : / = + - @';

/** A notifier in a stack of its own, as `notifier.config.ts` has it, before clashes between settings are looked for. */
export const deployment = record({
  ...notifierSettings,
  stackName: name(
    'letters, digits and hyphens, starting with a letter, at most 128 characters',
    (value) => /^[A-Za-z][A-Za-z0-9-]{0,127}$/.test(value),
  )
    .default('certification-notifier')
    .describe('The CloudFormation stack. A second deployment in the same account needs another.'),
  permissionsBoundary: name(
    'the name or the ARN of an IAM policy of this account',
    (value) =>
      arn('iam', /policy\/([\w+=,.@-]+\/)*[\w+=,.@-]{1,128}/).test(value) ||
      /^[\w+=,.@-]{1,128}$/.test(value),
  )
    .optional()
    .describe('A managed policy of this account, set on every role of the stack.'),
  terminationProtection: flag().default(true).describe('Whether the stack refuses to be deleted.'),
  tags: z
    .record(
      name(`a tag key of at most 128 ${tagCharacters} that does not start with "aws:"`, (value) =>
        /^(?!aws:)(?=.*\S)[\p{L}\p{N} _.:/=+@-]{1,128}$/iu.test(value),
      ),
      // CloudFormation takes no empty tag value.
      label(`a tag value of 1 to 256 ${tagCharacters}`, (value) =>
        /^[\p{L}\p{N} _.:/=+@-]{1,256}$/u.test(value),
      ),
      { error: 'an object of tag keys and values' },
    )
    .superRefine((tags, problems) => {
      // IAM: "tag keys are not case-sensitive".
      const keys = Object.keys(tags).map((key) => key.toLowerCase());
      Object.keys(tags).forEach((key, index) => {
        if (keys.indexOf(key.toLowerCase()) < index)
          problems.addIssue({
            code: 'custom',
            path: [key],
            message: 'a key that no other tag has (upper and lower case do not count)',
          });
      });
    })
    .refine((tags) => Object.keys(tags).length <= maxTags, { error: `at most ${maxTags} tags` })
    .meta({ allowed: `an object of at most ${maxTags} tag keys and values` })
    .default(() => ({}))
    .describe('Tags for every resource that takes tags.'),
});
