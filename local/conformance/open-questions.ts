import { NotifierError } from '../../lambda/errors.ts';
import { documentedRecordSchema } from '../documented-record.ts';
import { fitsOf, nameOrders } from './name-orders.ts';
import { newestFirst, type Samples } from './samples.ts';
import { busyDay, splitAt } from './sections/list-dates.ts';

/** A question that the document leaves open, and that matters to the notifier. */
export interface OpenQuestion {
  readonly question: string;
  /** Why the answer matters. */
  readonly matters: string;
  /** The answer has counts, days, statuses and field names, but never a record's value. */
  readonly ask: (samples: Samples) => Promise<string>;
}

export interface OpenQuestionAnswer {
  readonly question: string;
  readonly matters: string;
  readonly answer: string;
}

export async function answerTo(open: OpenQuestion, samples: Samples): Promise<OpenQuestionAnswer> {
  const { question, matters, ask } = open;
  try {
    return { question, matters, answer: await ask(samples) };
  } catch (error) {
    if (!(error instanceof NotifierError)) throw error;
    return { question, matters, answer: `cannot tell: ${error.message}` };
  }
}

/** Blocks of rows with the same day, without the last block, which the page may cut. */
function tieBlocks(rows: readonly { readonly id: number; readonly certified_on: string }[]) {
  const blocks = Map.groupBy(rows, ({ certified_on }) => certified_on);
  const last = rows.at(-1)?.certified_on;
  return [...blocks].flatMap(([day, block]) =>
    day === last || block.length < 2 ? [] : [block.map(({ id }) => id)],
  );
}

async function areTiesStable(samples: Samples): Promise<string> {
  const pages = [await samples.newest()];
  while (pages.length < 3) pages.push(await samples.pageNow(newestFirst));
  const [blocks, ...repeated] = pages.map(({ records }) => tieBlocks(records));
  if (blocks === undefined || blocks.length === 0) return 'cannot tell: no records tie';
  const members = (all: readonly (readonly number[])[]) =>
    JSON.stringify(all.map((ids) => ids.toSorted((one, other) => one - other)));
  if (repeated.some((again) => members(again) !== members(blocks))) {
    return 'cannot tell: the data changed while it was asked';
  }
  return repeated.every((again) => JSON.stringify(again) === JSON.stringify(blocks))
    ? 'yes, in 3 of 3 requests (which is no promise)'
    : 'no: tied rows came in another order when asked again';
}

/** An answer "no" that rests on several counts has to come three times with the same counts. */
async function unlessItMoves(
  ask: () => Promise<{ readonly yes: string } | { readonly no: string }>,
): Promise<string> {
  const denials = new Set<string>();
  for (let round = 0; round < 3; round++) {
    const answer = await ask();
    if ('yes' in answer) return answer.yes;
    denials.add(answer.no);
  }
  const [only = ''] = denials;
  return denials.size === 1 ? only : 'cannot tell: the count changed while it was asked';
}

async function doDaysAddUp(samples: Samples): Promise<string> {
  const days = [...new Set((await samples.records()).map(({ certified_on }) => certified_on))];
  days.sort();
  const bounds = [0.2, 0.4, 0.6, 0.8].flatMap((part) => days[Math.floor(days.length * part)] ?? []);
  const ranges = splitAt([...new Set(bounds)]);
  if (days.length === 0) return 'cannot tell: there are no records';
  return await unlessItMoves(async () => {
    const all = await samples.countNow();
    let sum = 0;
    for (const range of ranges) sum += await samples.countNow(range);
    return sum === all
      ? { yes: `yes: ${ranges.length} ranges sum to ${all}` }
      : { no: `no: ${all} in all, ${sum} by days` };
  });
}

async function areBoundsIncluded(samples: Samples): Promise<string> {
  const day = await busyDay(samples);
  if (day === undefined) return 'cannot tell: there are no records';
  const [start, end] = ['filter[start_date]', 'filter[end_date]'];
  return await unlessItMoves(async () => {
    const all = await samples.countNow();
    const own = await samples.countNow({ [start]: day, [end]: day });
    const from = await samples.countNow({ [start]: day });
    const until = await samples.countNow({ [end]: day });
    // If both bounds include the day, adding the counts from both sides counts its records twice.
    return from + until - all === own && own > 0
      ? { yes: `yes, both: ${own} records of ${day} count twice` }
      : { no: `no: ${own} on ${day}, ${from} from it on, ${until} up to it, ${all} in all` };
  });
}

/** The effect of a value outside the document. */
function outside(name: 'page' | 'offset', value: string) {
  return async (samples: Samples): Promise<string> => {
    const params = name === 'page' ? { page: value } : { page: '5', offset: value };
    const { status } = await samples.answer(params);
    if (status !== 200) return `status ${status}`;
    const { rows, page, offset } = await samples.page(params);
    return `status 200 with ${rows.length} rows; meta says page ${page}, offset ${offset}`;
  };
}

async function whatUserNameCompares(samples: Samples): Promise<string> {
  const pages = [
    await samples.page({ sort: 'user_name', order: 'ASC', page: '100' }),
    await samples.page({ sort: 'user_name', order: 'DESC', page: '100' }),
    await samples.page({
      sort: 'user_name',
      order: 'ASC',
      page: '100',
      offset: String(await samples.middleOffset()),
    }),
  ];
  const fits = pages.map(({ records }, index) =>
    fitsOf(records, 'user_name', index === 1 ? 'DESC' : 'ASC'),
  );
  const sums = nameOrders.user_name.map(({ title }) => {
    const own = fits.flatMap((fit) => fit.filter((each) => each.title === title));
    const sum = (of: 'unequal' | 'wrong') => own.reduce((total, fit) => total + fit[of], 0);
    return { title, unequal: sum('unequal'), wrong: sum('wrong') };
  });
  if (sums.every(({ unequal }) => unequal === 0)) return 'cannot tell: the names do not differ';
  const perfect = sums.filter(({ unequal, wrong }) => unequal > 0 && wrong === 0);
  if (perfect.length > 0) {
    return `as far as three pages show: ${perfect.map(({ title }) => title).join('; or ')}`;
  }
  const [best] = sums.toSorted((one, other) => one.wrong - other.wrong);
  return `none of ${sums.length} guesses; the nearest is ${best?.title} (${best?.wrong} of ${best?.unequal} neighbours the wrong way round)`;
}

const enoughToNameFields = 10;

/** A field that every record has belongs to the shape; a field that few have might be personal data. */
async function whichFieldsAreExtra(samples: Samples): Promise<string> {
  const records = await samples.records();
  if (records.length < enoughToNameFields) return 'cannot tell: there are too few records';
  const counts = new Map<string, number>();
  for (const field of records.flatMap(Object.keys)) {
    if (!(field in documentedRecordSchema.shape)) counts.set(field, (counts.get(field) ?? 0) + 1);
  }
  const shared = [...counts].flatMap(([field, count]) => (count === records.length ? [field] : []));
  if (counts.size === 0) return 'none';
  const rest = counts.size - shared.length;
  return [...shared, ...(rest > 0 ? [`${rest} that not every record has`] : [])].join(', ');
}

async function doTokensCoexist({ host }: Samples): Promise<string> {
  const first = host.grants.find(({ token }) => token !== undefined)?.token;
  const second = await host.anotherToken();
  if (first === undefined || second === undefined) return 'cannot tell: no second token';
  if (first === second) return 'the same token is given again while it lives';
  const { status } = await host.withAuthorization(`Bearer ${first}`);
  return status === 200 ? 'yes' : `no: status ${status} for the earlier one`;
}

function howBasicIsRead({ host }: Samples): string {
  const grant = host.grants.find(({ form }) => form === 'basic');
  if (grant === undefined) return 'not tried';
  if (grant.token === undefined) return 'cannot tell: HTTP Basic gave no token';
  if (grant.basic === undefined) return 'cannot tell: these credentials look the same either way';
  return grant.basic === 'verbatim'
    ? 'as they are: such credentials work in the other forms only'
    : 'form-decoded (RFC 6749, 2.3.1), as the client sends them';
}

export const openQuestions: readonly OpenQuestion[] = [
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
    ask: outside('page', '0'),
  },
  {
    question: 'What does a negative page do?',
    matters: 'The client refuses it; another one of the same integration might not.',
    ask: outside('page', '-1'),
  },
  {
    question: 'What does a negative offset do?',
    matters: 'A seam steps back: below zero it has to stop by itself.',
    ask: outside('offset', '-1'),
  },
  {
    question: 'Is there a rate-limit header?',
    matters: 'The audit spends requests without knowing the limit.',
    ask: async ({ host }) => host.rateLimitHeaders.join(', ') || 'none in any answer',
  },
  {
    question: 'Does an earlier token live on when another is issued?',
    matters: 'If not, two processes of one integration take the token from each other.',
    ask: doTokensCoexist,
  },
  {
    question: 'How are HTTP Basic credentials read?',
    matters: 'It decides whether the Basic form works with special characters in the secret.',
    ask: async (samples) => howBasicIsRead(samples),
  },
  {
    question: 'Which fields does the document not name?',
    matters: 'They are passed on to subscribers.',
    ask: whichFieldsAreExtra,
  },
  {
    question: "How far is the host's clock ahead?",
    matters: 'Retry-After dates are read against it.',
    ask: async ({ host }) => {
      const skew = host.skewSeconds;
      if (skew === undefined) return 'cannot tell: no Date header';
      // The header has whole seconds only.
      return Math.abs(skew) <= 1 ? 'it agrees with this one' : `${skew} s`;
    },
  },
];
