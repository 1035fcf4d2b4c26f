import { oneOf, record, text, whole } from './words.ts';

const timeOfDay = () =>
  text('a time of day, HH:MM from 00:00 to 23:59', (value) =>
    /^([01]\d|2[0-3]):[0-5]\d$/.test(value),
  );

const maxContact = 200;

export const alerts = record({
  detail: oneOf(['names', 'counts'])
    .default('names')
    .describe(
      'Whether a digest names educators, or only counts them. Mail is not encrypted on its way.',
    ),
  maxRows: whole('rows of one digest', 1, 1_000)
    .default(60)
    .describe('The rest is counted: "and 250 more".'),
  digestEvery: whole('minutes that one digest collects', 1, 1_440)
    .optional()
    .describe('Without it, every tick in which something has changed sends its own digest.'),
  quietHours: record({ from: timeOfDay(), to: timeOfDay() })
    .refine(({ from, to }) => from !== to, { error: 'two different times of day' })
    .meta({ allowed: "`{ from: 'HH:MM', to: 'HH:MM' }`, two different times of day" })
    .optional()
    .describe(
      "Times of day, in the integration's time zone, between which no digest is sent. The next one has the events of that time. `{ from: '20:00', to: '06:30' }` is a night. Events for machines, and notices to ops, know no quiet hours.",
    ),
  contact: text(
    `a line of 1 to ${maxContact} characters`,
    (value) =>
      value.trim() === value &&
      /^[^\p{Cc}\p{Zl}\p{Zp}]+$/u.test(value) &&
      value.length <= maxContact,
  )
    .optional()
    .describe(
      'The contact for readers, at the end of each digest: an address, a telephone number, a page. Without it, the digest refers them to the people in their organization who run the stack.',
    ),
});
