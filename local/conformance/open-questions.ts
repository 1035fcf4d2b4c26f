import { documentedRecordSchema } from '../documented-record.ts';
import { onDay, sums } from './expectations.ts';
import { type Exchange, type Grant, isGranted, type TestedHost, tokenIn } from './host.ts';
import { fitOf, nameOrders } from './name-orders.ts';
import {
  ask,
  askAgain,
  count,
  dayOf,
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

/** A question that the document leaves open. */
interface OpenQuestion {
  /** Why the answer matters to the notifier. */
  readonly matters: string;
  /** A pass or a mismatch, whose `seen` is the answer: counts, days, statuses and field names. */
  readonly ask: Next;
}

/** Blocks of rows with the same day, without the last block, which the page may cut. */
function tieBlocks({ records }: ListPage): number[][] {
  const last = records.at(-1)?.certified_on;
  return [...Map.groupBy(records, dayOf)].flatMap(([day, block]) =>
    day === last || block.length < 2 ? [] : [block.map(({ id }) => id)],
  );
}

const differ = (values: readonly unknown[]): boolean =>
  new Set(values.map((value) => JSON.stringify(value))).size > 1;

function stabilityOf(pages: readonly ListPage[]): CheckVerdict {
  const all = pages.map(tieBlocks);
  if (all[0]?.length === 0) return cannotTell('no records tie');
  const members = all.map((blocks) => blocks.map((ids) => ids.toSorted((a, b) => a - b)));
  if (differ(members)) return cannotTell('the data changed while it was asked');
  if (differ(all)) return observed('no: tied rows came in another order when asked again');
  return observed('yes, in 3 of 3 requests (which is no promise)');
}

const again = (judge: (page: ListPage) => Next) => askAgain(page(newestFirst, judge));
const areTiesStable = page(newestFirst, (one) =>
  again((two) => again((three) => stabilityOf([one, two, three]))),
);

const doDaysAddUp = look(({ records }) => {
  const days = [...new Set(records.map(dayOf))].sort();
  const fifths = [0.2, 0.4, 0.6, 0.8].flatMap((part) => days[Math.floor(days.length * part)] ?? []);
  const ranges = splitAt([...new Set(fifths)]);
  if (days.length === 0) return noRecords;
  return sums({}, ranges, (all, sum) =>
    sum === all
      ? observed(`yes: ${ranges.length} ranges sum to ${all}`)
      : mismatch('yes', `no: ${all} in all, ${sum} by days`),
  );
});

/** If both bounds include the day, adding the counts from both sides counts its records twice. */
const areBoundsIncluded = onBusyDay((day) =>
  count(onDay(day), (own) =>
    sums({}, [{ 'filter[start_date]': day }, { 'filter[end_date]': day }], (all, sum) =>
      sum - all === own && own > 0
        ? observed(`yes, both: ${own} records of ${day} count twice`)
        : mismatch('yes', `no: ${own} on ${day}, ${sum} from it on and up to it, ${all} in all`),
    ),
  ),
);

/** The effect of a value outside the document. */
const outside = (params: Params): Next =>
  ask(list(params), ({ status }) => {
    if (status !== 200) return observed(`status ${status}`);
    return page(params, ({ rows, page, offset }) =>
      observed(`status 200 with ${rows.length} rows; meta says page ${page}, offset ${offset}`),
    );
  });

const byName = { sort: 'user_name', page: '100' } as const;
const whatUserNameCompares = page({ ...byName, order: 'ASC' }, (up) =>
  page({ ...byName, order: 'DESC' }, (down) =>
    page({ ...byName, order: 'ASC', offset: String(middleOf(up)) }, (middle) =>
      nearestTo([up, middle], down),
    ),
  ),
);

function nearestTo(ascending: readonly ListPage[], descending: ListPage): CheckVerdict {
  const guesses = nameOrders.user_name.map(({ title, compare }) => {
    const up = ascending.map(({ records }) => fitOf(records, compare, 'ASC'));
    const fits = [...up, fitOf(descending.records, compare, 'DESC')];
    const sum = (of: 'unequal' | 'wrong') => fits.reduce((total, fit) => total + fit[of], 0);
    return { title, unequal: sum('unequal'), wrong: sum('wrong') };
  });
  const telling = guesses.filter(({ unequal }) => unequal > 0);
  const [best] = telling.toSorted((one, other) => one.wrong - other.wrong);
  if (best === undefined) return cannotTell('the names do not differ');
  if (best.wrong === 0) {
    const perfect = telling.flatMap(({ title, wrong }) => (wrong === 0 ? [title] : []));
    return observed(`as far as three pages show: ${perfect.join('; or ')}`);
  }
  const wrong = `${best.wrong} of ${best.unequal} neighbours the wrong way round`;
  return observed(`none of ${guesses.length} guesses; the nearest is ${best.title} (${wrong})`);
}

const enoughToNameFields = 10;

/** A field that every record has belongs to the shape; a field that few have might be personal data. */
const whichFieldsAreExtra = look(({ records }) => {
  if (records.length < enoughToNameFields) return cannotTell('there are too few records');
  const fields = records.flatMap(Object.keys);
  const extra = fields.filter((field) => !(field in documentedRecordSchema.shape));
  const groups = [...Map.groupBy(extra, (field) => field)];
  const shared = groups.flatMap(([field, all]) => (all.length === records.length ? [field] : []));
  const rest = groups.length - shared.length;
  if (rest > 0) shared.push(`${rest} that not every record has`);
  return observed(shared.join(', ') || 'none');
});

function doTokensCoexist(grants: readonly Grant[]): Next {
  const granted = grants.filter(isGranted);
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
}

function howBasicIsRead(grants: readonly Grant[]): CheckVerdict {
  const grant = grants.find(({ form }) => form === 'basic');
  if (grant === undefined) return observed('not tried');
  if (!isGranted(grant)) return cannotTell('HTTP Basic gave no token');
  if (grant.basic === undefined) return cannotTell('these credentials look the same either way');
  if (grant.basic === 'form-decoded')
    return observed('form-decoded (RFC 6749, 2.3.1), as the client sends them');
  return observed('as they are: such credentials work in the other forms only');
}

/** Headers that announce a rate limit: the fields of the IETF draft, and earlier ones. */
const rateLimitHeader =
  /^(ratelimit(-policy)?|(x-)?ratelimit-(limit|remaining|reset)|x-rate-limit-(limit|remaining|reset)|retry-after)$/;

function rateLimitHeadersIn(log: readonly Exchange[]): CheckVerdict {
  const names = new Set(log.flatMap(({ headers }) => Object.keys(headers)));
  const known = [...names].filter((name) => rateLimitHeader.test(name));
  return observed(known.join(', ') || 'none in any answer');
}

function clockIn(log: readonly Exchange[]): CheckVerdict {
  const ahead = log.map(({ headers, endedAt }) =>
    Math.round((Date.parse(headers['date'] ?? '') - endedAt.epochMilliseconds) / 1000),
  );
  const skew = ahead.find((seconds) => !Number.isNaN(seconds));
  if (skew === undefined) return cannotTell('no Date header');
  // The header has whole seconds only.
  return observed(Math.abs(skew) <= 1 ? 'it agrees with this one' : `${skew} s`);
}

/** By the question. */
export const openQuestions = ({
  grants,
  log,
}: TestedHost): Readonly<Record<string, OpenQuestion>> => ({
  'Are ties stable from one request to the next?': {
    matters: 'If not, reading page after page loses records; the seam of a proven read does not.',
    ask: areTiesStable,
  },
  'Is count the sum of its days?': {
    matters: 'Changes are located by comparing the counts of ranges of days.',
    ask: doDaysAddUp,
  },
  'Do day bounds include both ends?': {
    matters: 'Ranges of days have to meet without a gap or an overlap.',
    ask: areBoundsIncluded,
  },
  'What does user_name compare?': {
    matters: 'Rows that tie for this order are read together; an unknown order makes more of them.',
    ask: whatUserNameCompares,
  },
  'What does page=0 do?': {
    matters: 'A request for a count alone would be cheaper than page=1.',
    ask: outside({ page: '0' }),
  },
  'What does a negative page do?': {
    matters: 'The client refuses it; another one of the same integration might not.',
    ask: outside({ page: '-1' }),
  },
  'What does a negative offset do?': {
    matters: 'A seam steps back: below zero it has to stop by itself.',
    ask: outside({ page: '5', offset: '-1' }),
  },
  'Is there a rate-limit header?': {
    matters: 'The audit spends requests without knowing the limit.',
    ask: ask(list({}), () => rateLimitHeadersIn(log)),
  },
  'Does an earlier token live on when another is issued?': {
    matters: 'If not, two processes of one integration take the token from each other.',
    ask: doTokensCoexist(grants),
  },
  'How are HTTP Basic credentials read?': {
    matters: 'It decides whether the Basic form works with special characters in the secret.',
    ask: howBasicIsRead(grants),
  },
  'Which fields does the document not name?': {
    matters: 'They are passed on to subscribers.',
    ask: whichFieldsAreExtra,
  },
  "How far is the host's clock ahead?": {
    matters: 'Retry-After dates are read against it.',
    ask: clockIn(log),
  },
});
