import { documentedRecordSchema } from '../documented-record.ts';
import { sumOf, unlessChanged } from './expectations.ts';
import { type Exchange, type Grant, type TestedHost, tokenIn } from './host.ts';
import { type Fit, fitsOf } from './name-orders.ts';
import {
  ask,
  askAgain,
  count,
  type ListPage,
  look,
  middleOf,
  type Next,
  newestFirst,
  page,
} from './question.ts';
import { authorized, list, type Params } from './requests.ts';
import { onBusyDay, splitAt } from './sections/filters.ts';
import { type CheckVerdict, cannotTell, mismatch, noRecords, observed } from './verdict.ts';

/** A question that the document leaves open, and that matters to the notifier. */
export interface OpenQuestion {
  readonly question: string;
  /** Why the answer matters. */
  readonly matters: string;
  /** A pass or a mismatch, whose `seen` is the answer: counts, days, statuses and field names. */
  readonly ask: () => Next;
}

/** Blocks of rows with the same day, without the last block, which the page may cut. */
function tieBlocks({ records }: ListPage): number[][] {
  const last = records.at(-1)?.certified_on;
  return [...Map.groupBy(records, ({ certified_on }) => certified_on)].flatMap(([day, block]) =>
    day === last || block.length < 2 ? [] : [block.map(({ id }) => id)],
  );
}

function stabilityOf(pages: readonly ListPage[]): CheckVerdict {
  const all = pages.map(tieBlocks);
  if (all[0]?.length === 0) return cannotTell('no records tie');
  const members = all.map((blocks) => blocks.map((ids) => ids.toSorted((a, b) => a - b)));
  if (differ(members)) return cannotTell('the data changed while it was asked');
  return observed(
    differ(all)
      ? 'no: tied rows came in another order when asked again'
      : `yes, in ${pages.length} of ${pages.length} requests (which is no promise)`,
  );
}

const differ = (values: readonly unknown[]): boolean =>
  new Set(values.map((value) => JSON.stringify(value))).size > 1;

const areTiesStable = (): Next =>
  page(newestFirst, (one) =>
    askAgain(
      page(newestFirst, (two) =>
        askAgain(page(newestFirst, (three) => stabilityOf([one, two, three]))),
      ),
    ),
  );

const doDaysAddUp = (): Next =>
  look(({ records }) => {
    if (records.length === 0) return noRecords;
    const days = [...new Set(records.map(({ certified_on }) => certified_on))].sort();
    const bounds = [0.2, 0.4, 0.6, 0.8].flatMap(
      (part) => days[Math.floor(days.length * part)] ?? [],
    );
    const ranges = splitAt([...new Set(bounds)]);
    return count({}, (all) =>
      sumOf(ranges, (sum) =>
        sum === all
          ? observed(`yes: ${ranges.length} ranges sum to ${all}`)
          : unlessChanged(all, mismatch('yes', `no: ${all} in all, ${sum} by days`)),
      ),
    );
  });

/** If both bounds include the day, adding the counts from both sides counts its records twice. */
const areBoundsIncluded = (): Next =>
  onBusyDay((day) => {
    const [from, until] = [{ 'filter[start_date]': day }, { 'filter[end_date]': day }];
    return count({}, (all) =>
      count({ ...from, ...until }, (own) =>
        count(from, (after) =>
          count(until, (before) => {
            if (after + before - all === own && own > 0) {
              return observed(`yes, both: ${own} records of ${day} count twice`);
            }
            const seen = `no: ${own} on ${day}, ${after} from it on, ${before} up to it, ${all} in all`;
            return unlessChanged(all, mismatch('yes', seen));
          }),
        ),
      ),
    );
  });

/** The effect of a value outside the document. */
const outside = (params: Params) => (): Next =>
  ask(list(params), ({ status }) =>
    status === 200
      ? page(params, ({ rows, page, offset }) =>
          observed(`status 200 with ${rows.length} rows; meta says page ${page}, offset ${offset}`),
        )
      : observed(`status ${status}`),
  );

const byName = { sort: 'user_name', page: '100' } as const;

const whatUserNameCompares = (): Next =>
  page({ ...byName, order: 'ASC' }, (up) =>
    page({ ...byName, order: 'DESC' }, (down) =>
      look(({ first }) =>
        page({ ...byName, order: 'ASC', offset: String(middleOf(first)) }, (middle) =>
          nearestTo([
            ...fitsOf(up.records, 'user_name', 'ASC'),
            ...fitsOf(down.records, 'user_name', 'DESC'),
            ...fitsOf(middle.records, 'user_name', 'ASC'),
          ]),
        ),
      ),
    ),
  );

function nearestTo(fits: readonly Fit[]): CheckVerdict {
  const guesses = [...Map.groupBy(fits, ({ title }) => title)].map(([title, own]) => {
    const sum = (of: 'unequal' | 'wrong') => own.reduce((total, fit) => total + fit[of], 0);
    return { title, unequal: sum('unequal'), wrong: sum('wrong') };
  });
  const telling = guesses.filter(({ unequal }) => unequal > 0);
  const [best] = telling.toSorted((one, other) => one.wrong - other.wrong);
  if (best === undefined) return cannotTell('the names do not differ');
  if (best.wrong === 0) {
    const perfect = telling.flatMap(({ title, wrong }) => (wrong === 0 ? [title] : []));
    return observed(`as far as three pages show: ${perfect.join('; or ')}`);
  }
  return observed(
    `none of ${guesses.length} guesses; the nearest is ${best.title} (${best.wrong} of ${best.unequal} neighbours the wrong way round)`,
  );
}

const enoughToNameFields = 10;

/** A field that every record has belongs to the shape; a field that few have might be personal data. */
const whichFieldsAreExtra = (): Next =>
  look(({ records }) => {
    if (records.length < enoughToNameFields) return cannotTell('there are too few records');
    const fields = records.flatMap(Object.keys);
    const extra = fields.filter((field) => !(field in documentedRecordSchema.shape));
    const groups = [...Map.groupBy(extra, (field) => field)];
    const shared = groups.flatMap(([field, all]) => (all.length === records.length ? [field] : []));
    const rest = groups.length - shared.length;
    const texts = [...shared, ...(rest > 0 ? [`${rest} that not every record has`] : [])];
    return observed(texts.join(', ') || 'none');
  });

const doTokensCoexist = (grants: readonly Grant[]): Next => {
  const granted = grants.filter((grant) => 'token' in grant);
  const [first, last] = [granted[0], granted.at(-1)];
  if (!first || !last) return cannotTell('no second token');
  return ask(last.request, ({ body }) => {
    const second = tokenIn(body);
    if (second === undefined) return cannotTell('no second token');
    if (second === first.token) return observed('the same token is given again while it lives');
    const earlier = authorized(list({ page: '1' }), `Bearer ${first.token}`);
    return ask(earlier, ({ status }) =>
      observed(status === 200 ? 'yes' : `no: status ${status} for the earlier one`),
    );
  });
};

const howBasicIsRead = (grants: readonly Grant[]): CheckVerdict => {
  const grant = grants.find(({ form }) => form === 'basic');
  if (grant === undefined) return observed('not tried');
  if (!('token' in grant)) return cannotTell('HTTP Basic gave no token');
  if (grant.basic === undefined) return cannotTell('these credentials look the same either way');
  return observed(
    grant.basic === 'verbatim'
      ? 'as they are: such credentials work in the other forms only'
      : 'form-decoded (RFC 6749, 2.3.1), as the client sends them',
  );
};

/** Headers that announce a rate limit: the fields of the IETF draft, and earlier ones. */
const rateLimitHeader =
  /^(ratelimit(-policy)?|(x-)?rate-?limit-(limit|remaining|reset)|retry-after)$/;

function rateLimitHeadersIn(log: readonly Exchange[]): CheckVerdict {
  const names = new Set(log.flatMap(({ headers }) => Object.keys(headers)));
  const known = [...names].filter((name) => rateLimitHeader.test(name));
  return observed(known.join(', ') || 'none in any answer');
}

function clockIn(log: readonly Exchange[]): CheckVerdict {
  const skews = log.map(({ headers, endedAt }) =>
    Math.round((Date.parse(headers['date'] ?? '') - endedAt.epochMilliseconds) / 1000),
  );
  const skew = skews.find((seconds) => !Number.isNaN(seconds));
  if (skew === undefined) return cannotTell('no Date header');
  // The header has whole seconds only.
  return observed(Math.abs(skew) <= 1 ? 'it agrees with this one' : `${skew} s`);
}

export const openQuestions = ({ grants, log }: TestedHost): readonly OpenQuestion[] => [
  {
    question: 'Are ties stable from one request to the next?',
    matters: 'If not, reading page after page loses records; the seam of a proven read does not.',
    ask: areTiesStable,
  },
  {
    question: 'Is count the sum of its days?',
    matters: 'Changes are located by comparing the counts of ranges of days.',
    ask: doDaysAddUp,
  },
  {
    question: 'Do day bounds include both ends?',
    matters: 'Ranges of days have to meet without a gap or an overlap.',
    ask: areBoundsIncluded,
  },
  {
    question: 'What does user_name compare?',
    matters: 'Rows that tie for this order are read together; an unknown order makes more of them.',
    ask: whatUserNameCompares,
  },
  {
    question: 'What does page=0 do?',
    matters: 'A request for a count alone would be cheaper than page=1.',
    ask: outside({ page: '0' }),
  },
  {
    question: 'What does a negative page do?',
    matters: 'The client refuses it; another one of the same integration might not.',
    ask: outside({ page: '-1' }),
  },
  {
    question: 'What does a negative offset do?',
    matters: 'A seam steps back: below zero it has to stop by itself.',
    ask: outside({ page: '5', offset: '-1' }),
  },
  {
    question: 'Is there a rate-limit header?',
    matters: 'The audit spends requests without knowing the limit.',
    ask: () => rateLimitHeadersIn(log),
  },
  {
    question: 'Does an earlier token live on when another is issued?',
    matters: 'If not, two processes of one integration take the token from each other.',
    ask: () => doTokensCoexist(grants),
  },
  {
    question: 'How are HTTP Basic credentials read?',
    matters: 'It decides whether the Basic form works with special characters in the secret.',
    ask: () => howBasicIsRead(grants),
  },
  {
    question: 'Which fields does the document not name?',
    matters: 'They are passed on to subscribers.',
    ask: whichFieldsAreExtra,
  },
  {
    question: "How far is the host's clock ahead?",
    matters: 'Retry-After dates are read against it.',
    ask: () => clockIn(log),
  },
];
