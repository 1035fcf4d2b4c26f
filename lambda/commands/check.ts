import { Temporal } from 'temporal-polyfill';
import * as z from 'zod/mini';
import { alarmed, noticed, putBack } from '../condition-table.ts';
import { daysFrom, recentWindow } from '../decisions/days.ts';
import type { PulseRead } from '../decisions/partner-reads.ts';
import { problemOf } from '../describe-error.ts';
import { isRefusal, reachOf } from '../errors.ts';
import { type ExpectedSubscription, type TopicName, topicNames } from '../names.ts';
import { deadlineOf } from '../tick/time.ts';
import { define } from './definition.ts';
import { unseenFilters } from './filters.ts';
import {
  type Check,
  checked,
  checkNames,
  type Finding,
  failed,
  ok,
  skipped,
  warning,
} from './finding.ts';
import { keys } from './keys.ts';
import { knownState } from './lease.ts';
import type { OperationParts } from './parts.ts';
import { ifPaused } from './pause.ts';
import { isLeftAlone, noteSelfCheck } from './self-check.ts';
import { by } from './shapes.ts';
import { isBehind } from './status.ts';
import { confirmOrSubscribeAgain, subscriptions, unconfirmed } from './subscriptions.ts';
import { flag } from './words.ts';

const expectedSubscription = z.object({
  topic: z.enum(topicNames),
  protocol: z.string(),
  endpoint: z.optional(z.string()),
  name: z.string(),
  organizations: z.optional(z.readonly(z.array(z.int()))),
  assessments: z.optional(z.readonly(z.array(z.string()))),
  integrations: z.optional(z.readonly(z.array(z.string()))),
}) satisfies z.ZodMiniType<ExpectedSubscription>;

const nothingToTry = skipped('There is no record to try it with.');
/** The list goes on changing between two questions, but a real difference comes twice. */
const attempts = 2;
/**
 * If a subscriber of the configuration has ended the subscription, a deployment would see no
 * change.
 */
const subscribeSomebody = `If the configuration has no subscriber, add one to subscriptions, and deploy. ${confirmOrSubscribeAgain}`;
/** How many organizations, and kinds of assessment, are named. */
const named = 20;

/**
 * Tries everything that a first deployment can get wrong, in order, as far as that is possible from
 * inside AWS. It only reads, and notes failures if it is asked to. A check that an earlier failure
 * makes impossible is skipped.
 */
export const check = define({
  does: 'Tries everything that a first deployment can get wrong, and explains each failure.',
  command: z.strictObject({
    command: z.literal('check'),
    /**
     * The schedule sets this once a day: failures are noted for the ticks, which tell ops. The
     * partner is not asked during a pause or a back-off.
     */
    note: flag(
      'note failures, as the daily self-check does; a partner that is left alone is not asked',
      { changes: true, isForPeople: true },
    ),
    /** The subscriptions of the configuration; absent: not known, so they are not looked for. */
    subscriptions: z.optional(z.readonly(z.array(expectedSubscription))),
    /** Absent: the caller is the schedule, which is in no history. */
    by,
  }),
  /** In the order in which they were made: one after a failure may be skipped because of it. */
  result: z.object({ checks: z.array(checked) }),
  changes: ({ note, by }) => note && by !== undefined,
  async carry(parts, command, { time }) {
    const deadline = deadlineOf(time);
    const { name } = parts.settings;
    const found = new Map<Check['name'], Finding>();
    const look = async (name: Check['name'], at: () => Promise<Finding> | Finding) => {
      found.set(name, await Promise.resolve().then(at).catch(failure));
    };
    await look('ledger', () => ledger(parts));
    await look('topics', () => topics(parts, command.subscriptions));
    await look('subscriptions', () => subscriptions(parts, command.subscriptions));
    await look('keys', () => keys(parts, command.subscriptions));
    await look('secret', async () => {
      await parts.credentials();
      return ok('The secret holds a client ID and a secret.');
    });
    const hasSecret = found.get('secret')?.outcome === 'ok';
    const isAsked = hasSecret && !(command.note && (await isLeftAlone(parts)));
    const pulse = isAsked ? await firstAnswer(parts, deadline, found) : undefined;
    if (pulse !== undefined) {
      found.set('scope', scope(pulse, unseenFilters(command.subscriptions ?? [], name, pulse)));
      found.set('records', records(pulse));
      found.set('time-zone', timeZone(parts, pulse));
      await look('day-bounds', () => dayBounds(parts, deadline));
      await look('single-record', () => singleRecord(parts, pulse, deadline));
    }
    // The self-check that knows the configuration's subscriptions is the one that tells of the
    // topics.
    if (command.note) await noteSelfCheck(parts, found, command.subscriptions !== undefined);
    const notTried = skipped(
      hasSecret && !isAsked
        ? 'Not tried: the integration is paused, or the partner is left alone after refusals.'
        : 'Not tried, because an earlier check has failed.',
    );
    const checks = checkNames.map((name) => ({ name, ...(found.get(name) ?? notTried) }));
    return { result: { checks } };
  },
});

function failure(error: unknown): Finding {
  const { code, message, whatToDo, retryHelps } = problemOf(error, 'command');
  return { ...failed(message, whatToDo), code, isPassing: retryHelps };
}

/** The newest page; if it is refused, the findings about the token and the scope. */
async function firstAnswer(
  { partner }: OperationParts,
  deadline: Temporal.Instant,
  found: Map<Check['name'], Finding>,
): Promise<PulseRead | undefined> {
  // The partner may issue a token, and still refuse its use.
  const isGood = ok('The partner issues a token, and its API accepts it.');
  try {
    const pulse = await partner.pulse(deadline);
    found.set('token', isGood);
    return pulse;
  } catch (error) {
    const finding = failure(error);
    const isScope = isRefusal(error) && finding.code === 'not-provisioned';
    if (isScope) found.set('scope', finding);
    const said = isRefusal(error) ? '' : 'The partner gave no usable answer: ';
    found.set('token', isScope ? isGood : { ...finding, found: `${said}${finding.found}` });
    return undefined;
  }
}

async function ledger(parts: OperationParts): Promise<Finding> {
  const state = await knownState(parts);
  const { paused } = ifPaused(state);
  if (paused !== undefined) {
    const { since, by = 'somebody', reason = 'no reason given' } = paused;
    const at = since === undefined ? '' : ` at ${since}`;
    const found = `${by} has paused the integration${at}: ${reason}.`;
    return { ...warning(found, noticed.paused.toDo), code: 'paused' };
  }
  if (state === undefined)
    return warning(
      'The ledger answers; no tick has ever begun its work.',
      'If the schedule is enabled, wait for a minute and look again.',
    );
  const found = `The ledger answers; the last completed tick ended at ${state.heartbeat ?? '(none yet)'}.`;
  const { title, toDo } = alarmed()['no-completed-tick'];
  return isBehind(state, parts) ? warning(`${found.slice(0, -1)}: ${title}.`, toDo) : ok(found);
}

async function topics(
  parts: OperationParts,
  expected: readonly ExpectedSubscription[] | undefined,
): Promise<Finding> {
  const all = await parts.topics();
  const missing = all.filter(({ problem }) => problem !== undefined);
  if (missing.length > 0)
    return failed(
      missing.map(({ topic, problem }) => `${topic}: ${problem}`).join('; '),
      `A topic, its policy or the role of the operate function was changed. ${putBack}`,
    );
  // A chat hears of operations by a topic of its own.
  const countOf = (name: TopicName) => all.find(({ topic }) => topic === name)?.confirmed;
  const isUnheard = (name: 'operations' | 'alerts') =>
    countOf(name) === 0 && !countOf(`chat-${name}`);
  if (isUnheard('operations'))
    return failed(
      'Nobody is subscribed to operations.',
      `Notices and alarms reach nobody. ${subscribeSomebody}`,
    );
  const waiting = await Promise.all(all.map((one) => unconfirmed(parts, one, expected)));
  const told = waiting.filter((one) => one !== undefined);
  if (told.length > 0) return warning(told.join('; '), confirmOrSubscribeAgain);
  const nobody = all.filter(
    ({ topic, confirmed }) =>
      confirmed === 0 && ((topic !== 'alerts' && topic !== 'operations') || isUnheard(topic)),
  );
  if (nobody.length > 0)
    return warning(
      `Nobody is subscribed to: ${nobody.map(({ topic }) => topic).join(', ')}.`,
      subscribeSomebody,
    );
  return ok(all.map(({ topic, confirmed }) => `${topic}: ${confirmed} subscribed`).join('; '));
}

/** The scope as the newest page shows it, since no answer of the API states it. */
function scope({ count, assessments }: PulseRead, unseen: readonly string[]): Finding {
  if (count === 0)
    return warning(
      'The partner shows no assessments at all.',
      'If there should be some, ask the partner which organizations and assessments the integration may read.',
    );
  // An organization that was renamed is still one.
  const organizations = new Map(
    assessments.flatMap(({ organization_id: id, organization_name: name }) =>
      id === null ? [] : [[id, `${id} ${name ?? 'without a name'}`] as const],
    ),
  );
  const kinds = assessments.flatMap(({ assessment_name }) => assessment_name ?? []);
  const shown = `${counted(organizations.values(), 'organization')} and ${counted(kinds, 'kind of assessment', 'kinds of assessment')}`;
  const found = `${count} ${count === 1 ? 'assessment' : 'assessments'}; the newest ${assessments.length} are of ${shown}.`;
  if (unseen.length === 0) return ok(found);
  return warning(
    `${found} Not among them: ${unseen.join('; ')}.`,
    'Write the values of filters exactly as the partner shows them, and deploy. A value may be right if its records are older, or of another integration.',
  );
}

function counted(all: Iterable<string>, one: string, several = `${one}s`): string {
  const different = [...new Set(all)].sort();
  if (different.length === 0) return `no ${several}`;
  const more = different.length > named ? ', …' : '';
  return `${different.length} ${different.length === 1 ? one : several} (${different.slice(0, named).join(', ')}${more})`;
}

function records({ quarantined, assessments }: PulseRead): Finding {
  const [first] = quarantined;
  if (first === undefined) return ok(`The newest ${assessments.length} are as documented.`);
  return warning(
    `${quarantined.length} of the newest are malformed, the first (${first.id ?? 'without an id'}): ${first.problems.join('; ')}.`,
    noticed.quarantined.toDo,
  );
}

/** A record of tomorrow says that the zone is wrong; one of today says little. */
function timeZone({ settings, clock }: OperationParts, pulse: PulseRead): Finding {
  const newest = newestDay(pulse);
  if (newest === undefined) return nothingToTry;
  const { today } = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
  const found = `The newest record is of ${newest}; in ${settings.timeZone} it is ${today}.`;
  if (newest <= today.toString()) return ok(found);
  return warning(
    found,
    'Ask the partner for its time zone, set `timeZone` of the integration to it, and deploy. A record that is dated in the future by mistake looks the same.',
  );
}

/** Before, on and after a day: together that is everything, if both bounds include their own day. */
async function dayBounds(
  parts: OperationParts,
  deadline: Temporal.Instant,
  attempt = 1,
): Promise<Finding> {
  const { partner } = parts;
  const pulse = await partner.pulse(deadline);
  const day = newestDay(pulse);
  if (day === undefined) return nothingToTry;
  const date = Temporal.PlainDate.from(day);
  const [earlier, later] = [daysFrom(date, -1), daysFrom(date, 1)];
  const before = earlier ? await partner.count({ to: earlier }, deadline) : 0;
  const on = await partner.count({ from: date, to: date }, deadline);
  const after = later ? await partner.count({ from: later }, deadline) : 0;
  const shown = pulse.assessments.filter(({ certified_on }) => certified_on === day).length;
  // A malformed record counts, and may be of a later day.
  if (before + on + after === pulse.count && on >= shown)
    return ok(`Filters by day include their bounds: ${before} before ${day}, ${on} on it.`);
  if (attempt < attempts) return dayBounds(parts, deadline, attempt + 1);
  return failed(
    `Filters by day do not add up: ${before} before ${day}, ${on} on it, ${after} after it, of ${pulse.count}; the newest page shows ${shown} of that day.`,
    'Show the partner these numbers: without these filters nothing can be proven.',
  );
}

async function singleRecord(
  { partner }: OperationParts,
  { assessments: [newest] }: PulseRead,
  deadline: Temporal.Instant,
): Promise<Finding> {
  if (newest === undefined) return nothingToTry;
  let found: Awaited<ReturnType<typeof partner.get>>;
  try {
    found = await partner.get(newest.id, deadline);
  } catch (error) {
    if (reachOf(error) !== 'request') throw error;
    // The list has just been answered: an endpoint that always fails looks like one that may recover.
    const { toDo: whatToDo } = noticed['unanswered-by-id'];
    return { ...failure(error), whatToDo, code: 'unanswered-by-id', isPassing: false };
  }
  if (found !== undefined && found !== 'unreadable')
    return ok(`A record of the list (${newest.id}) can be fetched by its id.`);
  const problem = found === undefined ? 'answered with 404' : 'malformed';
  return failed(
    `A record of the list (${newest.id}) is ${problem} when it is asked for by its id.`,
    'Tell the partner. A certification that two looks lack is announced as withdrawn, since its 404 cannot be told from any other.',
  );
}

function newestDay({ assessments }: PulseRead): string | undefined {
  return assessments
    .map(({ certified_on }) => certified_on)
    .sort()
    .at(-1);
}
