import { describe, it } from 'vitest';
import { district, expectOneLine, type Refusal } from './settings.ts';

describe('a wrong setting of a deployment is named with its place, its value and the allowed values', () => {
  it.each<Refusal>([
    [
      'a boundary that is no policy',
      { integrations: [district], permissionsBoundary: 'arn:aws:iam::111122223333:role/x' },
      'permissionsBoundary: "arn:aws:iam::111122223333:role/x" found',
      'the name or the ARN of an IAM policy of this account',
    ],
    [
      'a tag without a value',
      { integrations: [district], tags: { team: '' } },
      'tags.team: "" found',
      'a tag value of 1 to 256 letters, digits, spaces and _ . : / = + - @',
    ],
    [
      'a tag without a key',
      { integrations: [district], tags: { ' ': 'certification' } },
      'tags. : not usable',
      'a tag key',
    ],
    [
      'tags that IAM takes for the same',
      { integrations: [district], tags: { Team: 'a', team: 'b' } },
      'tags.team: "b" found',
      'no other tag has (upper and lower case do not count)',
    ],
    [
      'more tags than AWS takes',
      {
        integrations: [district],
        tags: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`tag ${index}`, 'x'])),
      },
      'tags: an object found',
      'at most 50 tags',
    ],
    [
      'a stack name with a dot',
      { integrations: [district], stackName: 'a.b' },
      'stackName: "a.b" found',
      'letters, digits and hyphens',
    ],
    [
      'a flag as text',
      { integrations: [district], terminationProtection: 'yes' },
      'terminationProtection: "yes" found',
      'true or false',
    ],
    [
      'a reserved tag',
      { integrations: [district], tags: { 'aws:x': 'y' } },
      'tags.aws:x:',
      'does not start with "aws:"',
    ],
  ])('%s', (_what, input, found, allowed) => expectOneLine(input, found, allowed));
});
