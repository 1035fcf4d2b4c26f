import type * as z from 'zod';
import { anyObject, flag, list, name, oneOf, record, shortName, whole } from './words.ts';

/** The last part of an event's `type`. */
const eventTypes = ['created', 'updated', 'withdrawn', 'restored', 'test'] as const;

// "Filter policy constraints" in the Amazon SNS developer guide. The guide also allows five keys at most; a filter here
// has no more settings than that.

/** The limit of the product of the numbers of values. */
const maxCombinations = 150;
/** SNS compares numbers from -10⁹ to 10⁹. */
const maxNumber = 1_000_000_000;
/** Control characters, and characters that XML cannot hold: AWS gets a filter as XML. */
const unsendable = /[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u;
/** With this limit, 150 names stay below a policy's 256 KiB, in any script. */
const maxNameLength = 256;

export const filter = record({
  types: list(oneOf(eventTypes), 'at least one type of event', eventTypes.length)
    .optional()
    .describe(
      'The kinds of change. Test events come only to subscribers that take all types or list `test`.',
    ),
  organizations: list(
    whole('an organization id', 1, maxNumber),
    'at least one organization id',
    maxCombinations,
  )
    .optional()
    .describe("The partner's ids of organizations, not their names."),
  assessments: list(
    name(
      `an assessment name, exactly as the partner shows it, at most ${maxNameLength} characters`,
      (value) => value.trim() !== '' && value.length <= maxNameLength && !unsendable.test(value),
    ),
    'at least one assessment name',
    maxCombinations,
  )
    .optional()
    .describe('Upper and lower case are told apart.'),
  integrations: list(shortName, 'at least one integration name', maxCombinations)
    .optional()
    .describe('Names of configured integrations.'),
  late: flag()
    .optional()
    .describe('`true`: only completions before the recent window; `false`: only the rest.'),
}).superRefine((value, problems) => {
  const refuse = (message: string) => problems.addIssue({ code: 'custom', message });
  if (Object.values(value).every((values) => values === undefined))
    refuse(`at least one of ${Object.keys(filter.shape).join(', ')}; no filter means everything`);
  else if (combinationsOf(value) > maxCombinations)
    refuse(
      `at most ${maxCombinations} combinations, not ${combinationsOf(value)} (SNS multiplies the numbers of values)`,
    );
}, anyObject);

export type FilterConfig = z.output<typeof filter>;

/** SNS's number of combinations of a filter: the product of the numbers of its values. */
function combinationsOf(filter: object): number {
  return Object.values(filter).reduce<number>(
    (product, values) => product * (Array.isArray(values) ? values.length : 1),
    1,
  );
}
