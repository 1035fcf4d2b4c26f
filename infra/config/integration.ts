import * as z from 'zod';
import { assessmentFields } from './assessment-fields.ts';
import {
  anyObject,
  fitsOrIsDeferred,
  isDeferred,
  isLoopback,
  keyArn,
  list,
  name,
  oneOf,
  record,
  shortName,
  text,
  whole,
} from './words.ts';

const choiceOfFields = `'all', 'identifiers' or a list of at least one of ${assessmentFields.join(', ')}`;

/** The default does not clash with a longer `every`. */
const defaultRecentMinutes = 15;

export const integration = record({
  name: shortName.describe(
    'Its name for subscribers and ops: it is in the id and the source of every event. A live integration that is renamed is a new one: a new secret, a new baseline.',
  ),
  baseUrl: text(
    'an https host such as "https://partner.example.org" (http on loopback only), without path, query or credentials',
    (value) => isDeferred(value) || isPartnerHost(value),
  )
    .transform((value) => (isDeferred(value) ? value : new URL(value).origin))
    .describe("The partner's host."),
  timeZone: text(
    'the partner\'s IANA time zone, such as "America/Chicago", or "UTC"; no abbreviation, such as "CST", which several zones share',
    isIanaTimeZone,
  ).describe(
    "The time zone of the partner's host, not of the organizations. It decides which day a completion belongs to, and which day is today. Ask the partner.",
  ),
  every: whole('minutes between two ticks', 1, 60)
    .default(1)
    .describe('How often the partner is asked whether anything has changed.'),
  recentDays: whole('days', 1, 30)
    .default(3)
    .describe(
      'How many days before today belong to the recent window, which is read again most often. An earlier completion is announced as `late`.',
    ),
  tokenRequest: oneOf(['form', 'basic', 'json'])
    .default('form')
    .describe('The form in which the partner takes the request for a token.'),
  audit: record({
    recentMinutes: whole('minutes within which every recent day is read again', 1, 1_440)
      .default(defaultRecentMinutes)
      .describe('How soon a content edit in the recent window is noticed at the latest.'),
    historyHours: whole('hours within which every other day is read again', 1, 8_760)
      .default(24)
      .describe(
        'How soon an edit anywhere else is noticed at the latest. Two requests a minute on average go to these days in any case, so most histories are read far sooner; a history that needs more to keep this time gets more.',
      ),
    requestsPerTick: whole('requests that the audits of one tick may make', 1, 1_000)
      .default(20)
      .describe(
        'A limit for the sake of the partner. The recent days may take so many requests in each tick; for the other days, requests are saved up and spent together. If the limit is too low, the two times above cannot be kept; `docs/detection.md` has the arithmetic.',
      ),
  })
    .prefault({})
    .describe(
      'Audits read days again although nothing suggests a change, the longest waiting first. They find changes that the total does not show: edited records, and an addition that an equal removal hides.',
    ),
  requestsPerMinute: whole('requests to the partner within a minute, at most', 3, 60_000)
    .default(6_000)
    .describe(
      'The pace that the partner allows. A tick that has used it up ends, and the next one goes on where it stopped. Refused requests (429) lower the pace automatically, and it rises again slowly. Set it if the partner has named a limit, so that no request is refused. Commands count separately.',
    ),
  holdAbove: whole(
    'changes of a kind within an hour, or edits found by reading days within `audit.historyHours` (and up to a quarter more), above which they are held',
    0,
    1_000_000,
  )
    .default(500)
    .describe(
      "The gate: if more changes of a kind than this are found within an hour (a partner's mass edit, a widened scope), they are held until ops decide. The limit is 1 % of the certifications where that is more, up to 5,000. It also holds for the edits of a mass edit that comes to light little by little, as days are read again; edits on the newest page do not count there. No change is lost. Raise the limit where so many changes an hour are usual; `release --for 12h` lets a single busy day through.",
    ),
  withdrawAfter: whole('minutes', 1, 1_440)
    .default(10)
    .describe(
      'Two looks: a certification that a proven read lacked is withdrawn when a read that began so much later lacks it, too, and its id answers 404. Choose a time longer than the lag of any replica or cache of the partner.',
    ),
  silence: z
    .union([whole('days', 1, 400), z.literal(false)], {
      error: 'days, a whole number from 1 to 400, or false',
    })
    .meta({ allowed: 'days, a whole number from 1 to 400, or `false`' })
    .optional()
    .describe(
      'After more days than this without a certification, operations are asked whether that is right; `false`: never. Without the setting, the limit comes from the history: one and a half times the longest silence of the past 13 months, and three days at least. That needs sixty days of history, and a weekday that has certifications in most weeks.',
    ),
  announce: z
    .union(
      [
        oneOf(['none', 'all']),
        record({
          since: text(
            'a day, YYYY-MM-DD, not after today',
            (value) => z.iso.date().safeParse(value).success && value <= latestToday(),
          ),
        }),
      ],
      { error: "'none', 'all' or an object with since: a day, YYYY-MM-DD, not after today" },
    )
    .meta({ allowed: "'none', 'all' or `{ since: 'YYYY-MM-DD' }`" })
    .default('none')
    .describe('Whether the baseline announces nothing, everything, or completions since a day.'),
  baseline: record({
    atOnce: whole('ranges of days that are read at the same time', 1, 16)
      .default(1)
      .describe(
        'How many ranges of days a tick reads at the same time. More than one is for histories of hundreds of thousands, and a heavier load: ask the partner first. See `docs/detection.md#several-ranges-at-once`.',
      ),
  })
    .prefault({})
    .describe("How the ticks read the baseline. It replaces 'tick' and 'fan-out'."),
  fields: z
    .union(
      [
        oneOf(['all', 'identifiers']),
        list(oneOf(assessmentFields), choiceOfFields, assessmentFields.length),
      ],
      { error: choiceOfFields },
    )
    .meta({ allowed: choiceOfFields })
    .default('all')
    .describe(
      "The fields of an assessment that its events carry. The identifiers `id`, `organization_id`, `assessment_name` and `certified_on` are always among them. Fields that the partner's document does not name are passed on with `'all'` only.",
    ),
  secretName: name(
    'the name (not the ARN) of a secret in this account and region',
    fitsOrIsDeferred(/^[\w/+=.@-]{1,512}$/),
  )
    .optional()
    .describe(
      'An existing secret with `{"client_id": "…", "client_secret": "…"}`. Without it a secret is created, empty, and the deployment prints the command that fills it.',
    ),
  secretKeyArn: keyArn()
    .optional()
    .describe(
      "The customer key that the existing secret is encrypted with, if it is not AWS's own. The functions of the integration may then decrypt with it, through Secrets Manager and for that secret only. It is in the secret's region, and a key of another account must let this account in as well.",
    ),
}).superRefine((value, problems) => {
  const { every, audit } = value;
  if (audit?.recentMinutes < every && audit?.recentMinutes !== defaultRecentMinutes)
    problems.addIssue({
      code: 'custom',
      path: ['audit', 'recentMinutes'],
      message: `at least \`every\` (${every}): nothing is read between two ticks`,
    });
  const hasSecret = value.secretName !== undefined || Reflect.get(value, 'secret') !== undefined;
  if (value.secretKeyArn !== undefined && !hasSecret)
    problems.addIssue({
      code: 'custom',
      path: ['secretKeyArn'],
      message: 'none: it belongs to an existing secret (secretName)',
    });
}, anyObject);

/**
 * The latest day that is today anywhere: the day at UTC+14. By `Date`, since apps that use the construct may not have
 * Temporal.
 */
function latestToday(): string {
  return new Date(Date.now() + 14 * 3_600_000).toISOString().slice(0, 10);
}

function isPartnerHost(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  return (
    (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(value))) &&
    url.href === `${url.origin}/` &&
    !/[?#@]/.test(value)
  );
}

function isIanaTimeZone(value: string): boolean {
  // Intl also accepts offsets such as "+05:00" and abbreviations such as "EST". Some abbreviations have no summer time,
  // while a partner's days follow a place. `supportedValuesOf` lacks aliases ("Asia/Kolkata").
  if (!/^(utc$|[a-z]+\/)/i.test(value) || /^systemv\//i.test(value)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
