import type { ConditionName } from './decisions/conditions.ts';
import type { Fault } from './errors.ts';
import { metrics } from './names.ts';

/** The texts about a condition, for all places that show one. Its section of the runbook has its name. */
export interface Condition {
  /** Follows "<whose>: " in subjects and alarms; SNS takes fewer than 100 characters in all. */
  readonly title: string;
  /** Where it is to be mended. */
  readonly fault: Fault;
  readonly happened: string;
  /** Its effect on subscribers. */
  readonly impact: string;
  /** Its usual cause. */
  readonly likely?: string;
  /** By when somebody has to act. */
  readonly act: Urgency;
  /** Whole sentences, which hold without the command. */
  readonly toDo: string;
  readonly command?: AdvisedCommand;
  /** It is over when ... */
  readonly over: string;
  /** The metric of ours that its alarm counts. */
  readonly metric?: (typeof metrics)[keyof typeof metrics];
  /** The alarm that rings for it: its own, or one that several conditions share. */
  readonly alarm?: AlarmName;
}

/**
 * `now`: as long as it lasts, all subscribers may hear of changes late. It rings the pager, by itself
 * or once no tick completes. Waiting for the time that another one names loses nothing for good.
 */
export type Urgency =
  | 'now'
  | 'now for operations, otherwise in the morning'
  | 'in the morning'
  | 'within 24 hours'
  | 'within 14 days';

/** Conditions with an alarm of their own. */
export const alarmNames = [
  'failing',
  'no-completed-tick',
  'undelivered',
  'undeliverable',
  'held',
  'quarantined',
  'refused',
  'unproven',
  'unexplained',
  'throttled',
  'ticks-not-started',
  'dead-letters',
  'not-delivered',
  'dead-letters-lost',
  'not-forwarded',
  'archive-late',
  'paged',
] as const;

export type AlarmName = (typeof alarmNames)[number];

/** Conditions that no tick can tell by a notice. */
type AlarmedName =
  | Exclude<AlarmName, ConditionName>
  | 'access-denied'
  | 'schedule-disabled'
  | 'schedule-removed';

/** Ticks send a notice when it begins and one when it is over. */
export interface NoticedCondition extends Condition {
  /** The title when there is more of it; absent: as it begins, "and more". */
  readonly grows?: string;
  /** The title when it is over. */
  readonly ends: string;
  /** The label of the number. */
  readonly counts?: string;
}

export type Advice = Pick<Condition, 'toDo' | 'command'>;

/** A command of this project's command line, without its place. */
export interface AdvisedCommand {
  readonly ops: string;
}

/** The deployment that a command is for. */
export interface CommandPlace {
  /** Options; also the region and the profile that the reader has given. */
  readonly at: `--stack ${string}` | '--local';
  /** As the reader starts this project's command line. Absent: by npx. */
  readonly program?: string;
  /** Absent: for all of them. */
  readonly integration?: string | undefined;
}

/** A command as it is typed. */
export function commandLine(
  command: AdvisedCommand,
  { at, program = 'npx certification-notifier', integration }: CommandPlace,
): string {
  const which = integration === undefined ? '' : ` --integration ${integration}`;
  return `${program} ${command.ops} ${at}${which}`;
}

/** On one line. */
export function adviceOn({ toDo, command }: Advice, place: CommandPlace): string {
  return command ? `${toDo} ${commandLine(command, place)}` : toDo;
}

/** A plain deployment would not do so: it compares templates only. */
export const putBack = 'Undo manual changes and removals with npx cdk deploy --revert-drift.';

const untouched = 'Nothing new is announced meanwhile, and nothing is lost.';
const leftAlone = `${untouched} The notifier tries again by itself, at the latest after an hour.`;
const triedAgain = `${untouched} Every tick tries again.`;
const late = 'Changes are announced late; none is lost.';
const othersAsEver = 'New and changed certifications are announced as ever.';
const oneUntold = 'This subscriber has not been told; all others have.';
const mendReceiver = 'Mend the receiver: its policy, its key or its code.';
const storeThem =
  'Store {"client_id": "...", "client_secret": "..."}, as the partner issued them, as the value of the secret.';
const store: AdvisedCommand = { ops: 'credentials set' };
const tried: AdvisedCommand = { ops: 'check' };

export const noticed: Readonly<Record<ConditionName, NoticedCondition>> = {
  paused: {
    title: 'paused for more than a day',
    fault: 'ops',
    grows: 'still paused',
    ends: 'no longer paused',
    over: 'it is resumed',
    happened: 'Somebody has paused this integration: the partner is not asked anything.',
    impact:
      'Nothing is announced. Changes meanwhile are found and announced once it is resumed, unless they came and went. Many at once are held as a flood.',
    counts: 'Days so far',
    act: 'in the morning',
    toDo: 'Resume it when the pause is no longer wanted: status says who has asked for it.',
    command: { ops: 'resume' },
  },
  'credentials-not-set': {
    title: 'the credentials are not stored yet',
    fault: 'ops',
    ends: 'the credentials are stored',
    over: 'a tick finds credentials',
    happened: 'The secret is still as the deployment made it: without client ID and secret.',
    impact: triedAgain,
    act: 'now',
    toDo: storeThem,
    command: store,
    alarm: 'refused',
  },
  'credentials-malformed': {
    title: 'the stored credentials are not readable as such',
    fault: 'ops',
    ends: 'the stored credentials are readable',
    over: 'a tick finds credentials',
    happened: 'The value of the secret does not have the form of credentials.',
    impact: triedAgain,
    act: 'now',
    toDo: storeThem,
    command: store,
    alarm: 'refused',
  },
  'secret-gone': {
    title: 'the secret of the credentials does not exist',
    fault: 'ops',
    ends: 'the credentials can be read again',
    over: 'a tick can read them',
    happened:
      'Secrets Manager has no value of the secret: it was deleted, or is marked for deletion.',
    impact: triedAgain,
    likely: 'a secret that was deleted by hand, or one of your own that never had a value.',
    act: 'now',
    toDo: 'While it is only marked for deletion, bring it back with aws secretsmanager restore-secret. If it is gone, make it again: the one of the stack with npx cdk deploy --revert-drift. Then store the credentials, unless they came back with it.',
    command: store,
    alarm: 'refused',
  },
  'secret-unreadable': {
    title: 'the credentials cannot be read',
    fault: 'aws',
    ends: 'the credentials can be read again',
    over: 'a tick can read them',
    happened: 'Secrets Manager does not give out the secret.',
    impact: triedAgain,
    act: 'now',
    toDo: `If AWS denies access, a role or the policy of a key was changed. ${putBack} Otherwise see whether Secrets Manager is disturbed, and whether the key of the secret is enabled.`,
    command: tried,
    alarm: 'refused',
  },
  'credentials-refused': {
    title: 'the partner refuses the credentials',
    fault: 'partner',
    ends: 'the partner accepts the credentials again',
    over: 'the partner issues a token',
    happened:
      "The partner's token endpoint refuses the client ID or the secret, also after the secret was read afresh.",
    impact: leftAlone,
    act: 'now',
    toDo: 'Compare client_id and client_secret with those that the partner issued, and correct them if they differ. If they agree, ask the partner whether the secret was rotated or the integration was switched off.',
    command: store,
    alarm: 'refused',
  },
  'unsupported-grant': {
    title: 'the partner refuses to issue tokens',
    fault: 'partner',
    ends: 'the partner issues tokens again',
    over: 'the partner issues a token',
    happened:
      "The partner's token endpoint does not accept the grant type client_credentials as it is sent.",
    impact: leftAlone,
    act: 'now',
    toDo: 'Set `tokenRequest` of the integration to the form that the host accepts (form, basic or json), and deploy. If none works, ask the partner whether the integration allows the client_credentials grant.',
    command: tried,
    alarm: 'refused',
  },
  'token-refused-twice': {
    title: 'the partner refuses the tokens that it issues',
    fault: 'partner',
    ends: 'the partner accepts its tokens again',
    over: "the partner's API answers",
    happened:
      "The partner's API refuses tokens that its own token endpoint has issued a moment before.",
    impact: leftAlone,
    act: 'now',
    toDo: 'If it lasts for more than a few minutes, tell the partner so, and ask whether the integration is enabled on this host.',
    command: tried,
    alarm: 'refused',
  },
  'not-provisioned': {
    title: 'the partner has assigned no scope',
    fault: 'partner',
    ends: 'the partner has assigned a scope',
    over: "the partner's API shows a list",
    happened:
      "The partner's API answers 400 to the list without any filter: the integration has no organizations or no assessments assigned.",
    impact: leftAlone,
    act: 'now',
    toDo: "Contact the partner's support: name the client ID, say that the assessments API answers 400 to the list without any filter, and ask them to assign the integration its organizations and its assessments.",
    command: tried,
    alarm: 'refused',
  },
  'partner-silent': {
    title: 'the partner does not answer',
    fault: 'partner',
    ends: 'the partner answers again',
    over: 'the partner answers',
    happened:
      "The partner's API answers no tick to its end: it is down, slow or not to be reached.",
    impact: triedAgain,
    act: 'now',
    toDo: 'Check the base URL and the way to the host, then ask the partner about an outage.',
    command: tried,
    alarm: 'failing',
  },
  'rate-limited': {
    title: 'the partner allows too few requests',
    fault: 'partner',
    ends: 'the partner allows enough requests again',
    over: 'no request was refused for an hour',
    happened:
      'The partner refuses requests because there are too many of them (429). The ticks have slowed down to the pace that it allows.',
    impact:
      'Nothing is lost: each tick goes on where the last one stopped. But it takes longer until changes are found.',
    act: 'in the morning',
    toDo: 'Ask the partner how many requests a minute this integration may send, and for more if that is little. Set `requestsPerMinute` of the integration to that number, and deploy: then no request is refused any more.',
  },
  'credentials-shared': {
    title: 'somebody else uses these credentials',
    fault: 'ops',
    ends: 'nobody else uses these credentials any more',
    over: 'for an hour, fewer than three tokens have ended early',
    happened:
      'Within an hour, three tokens that had worked were refused before their end. At this host a new token ends the one before it, and somebody else asks for tokens with the same credentials.',
    impact:
      'Two users of the credentials get their work done, though each takes more requests. With more of them, ticks fail now and then, and changes are announced late; none is lost.',
    likely:
      'a second deployment, a script, or an open console of this deployment, whose commands have tokens of their own.',
    act: 'in the morning',
    toDo: 'Find who else has this client ID, and ask the partner for credentials of their own. If nobody has, ask the partner why its tokens end early, and whether the secret has leaked.',
  },
  'odd-numbers': {
    title: 'numbers of the host are not believed',
    fault: 'partner',
    grows: 'more numbers of the host are not believed',
    ends: 'all numbers of the host are believed again',
    over: 'none has come for a day',
    happened:
      'The host has sent numbers that are absent or outside of any sensible range, such as how long a token lasts.',
    impact: `They are ignored, and documented or own values take their place. ${othersAsEver}`,
    counts: 'Numbers so far',
    act: 'in the morning',
    toDo: 'Tell the partner which they are.',
  },
  missing: {
    title: 'many certifications are missing at the partner',
    fault: 'partner',
    grows: 'more certifications are missing at the partner',
    ends: 'the missing certifications are back, few or accepted',
    over: 'they are back, few enough, or accepted',
    happened:
      'The list does not show many certifications any more: too many at once for news. It looks like a changed scope or a fault of the host.',
    impact: `Nobody is told that they are withdrawn. If they come back, nobody is told, either. ${othersAsEver}`,
    counts: 'Certifications missing so far',
    act: 'in the morning',
    toDo: 'Ask the partner whether the scope of this integration was narrowed. If it was, accept with accept-total the total that status shows: the missing certifications are then withdrawn.',
    command: { ops: 'status' },
  },
  unexplained: {
    title: 'the total is not the sum of its days',
    fault: 'partner',
    ends: 'the total is the sum of its days again',
    over: 'the total is the sum of its days',
    happened:
      'The partner counts more or fewer assessments than it shows on all days together, and a search of all days has found nothing.',
    impact: 'Certifications of no day would not be announced. All others are announced as ever.',
    counts: 'Assessments by which the two differ',
    likely: 'assessments without a day, or a total that is not kept up at the partner.',
    act: 'in the morning',
    toDo: 'Ask the partner whether there are assessments without a day of certification, and which of the two numbers that status shows is right.',
    command: { ops: 'status' },
    metric: metrics.unexplainedDifference,
    alarm: 'unexplained',
  },
  held: {
    title: 'a flood of changes is held',
    fault: 'partner',
    ends: 'nothing is held any more',
    over: 'all of it is released or discarded',
    happened:
      'So much has changed at once at the partner that it is not announced: the events are held.',
    impact:
      'Nothing is lost: a held event waits until it is released or discarded, and so do later events of the same certification.',
    counts: 'Certifications with held events',
    likely: 'a new school year, an import, a widened scope or replaced ids at the partner.',
    act: 'in the morning',
    toDo: 'Find out whether it is a mass edit, a changed scope or real news: the partner knows. Then release the held events, or discard them.',
    command: { ops: 'holds' },
    metric: metrics.eventsHeld,
    alarm: 'held',
  },
  undeliverable: {
    title: 'SNS refuses events for good',
    fault: 'record',
    ends: 'no event is undeliverable any more',
    over: 'all of them are released or discarded',
    happened: 'SNS has called some events invalid, so they are not sent again.',
    impact: 'Their subscribers have not heard of them. All other events are delivered as ever.',
    counts: 'Certifications with events set aside',
    likely: 'a record that SNS cannot carry, or a defect of this program.',
    act: 'in the morning',
    toDo: 'Look for "event undeliverable" in the log of the poll function: it has the code that SNS gave and the id of an event. Once it is mended, release them to try again, or discard them.',
    command: { ops: 'holds --undeliverable' },
    metric: metrics.eventsUndeliverable,
    alarm: 'undeliverable',
  },
  quarantined: {
    title: 'the partner sends malformed records',
    fault: 'record',
    ends: 'no record is malformed any more',
    over: 'no tick meets one, and every day of the calendar is proven',
    happened: 'Records have no usable id or no valid certified_on.',
    impact:
      'They are not announced until they are mended at the partner, and their days cannot be proven complete. All other records are announced as ever.',
    counts: 'Records so far',
    likely: 'an id or a certified_on that is missing or mistyped at the partner.',
    act: 'in the morning',
    toDo: 'Tell the partner the ids of these records and the paths that are wrong. The log of the poll function has them beside "record quarantined".',
    metric: metrics.recordsQuarantined,
    alarm: 'quarantined',
  },
  'one-id-twice': {
    title: 'the partner shows one id twice',
    fault: 'partner',
    grows: 'the partner shows more ids twice',
    ends: 'the partner shows each id once again',
    over: 'a whole read of their days shows each of these ids once, or with the same content',
    happened: 'The partner shows one id with different content, at once or in turn.',
    impact:
      'Nobody can tell which content is right. Each of these certifications is announced once. Changes of its content are not announced meanwhile.',
    counts: 'Ids',
    act: 'in the morning',
    toDo: 'Tell the partner these ids, and ask which of the two records is right.',
  },
  'odd-fields': {
    title: 'fields of records are not as documented',
    fault: 'record',
    grows: 'more fields of records are not as documented',
    ends: 'all fields of records are as documented again',
    over: 'every day was read since a tick last met such a record',
    happened: 'Fields that the document of the API promises are null, missing or of another type.',
    impact:
      'The records are announced all the same: null and missing as they came, an integer or a boolean as the promised text, any other value as null.',
    counts: 'Fields so far',
    act: 'in the morning',
    toDo: 'Tell the partner which fields they are. The log of the poll function has the ids of some such records beside "odd field".',
  },
  'baseline-unread': {
    title: 'the baseline could not read some days',
    fault: 'partner',
    grows: 'the baseline could not read more days',
    ends: 'the baseline has read all days',
    over: 'each of these days was read without a contradiction; they are read again all the time',
    happened:
      'The partner counts more assessments on some days than it shows, or its answers contradict each other in another way.',
    impact: `Nobody can tell news from history there, so certifications that appear on these days are held. ${othersAsEver}`,
    counts: 'Days',
    act: 'in the morning',
    toDo: 'Tell the partner the days and the numbers. Release held certifications of these days that are new, and discard those that were there before.',
    command: { ops: 'holds' },
  },
  'shown-by-id': {
    title: 'the list lacks records that their ids show',
    fault: 'partner',
    ends: 'the list and the single records agree again',
    over: 'no such certification is left; they are asked for again with the audits of their days',
    happened:
      'The list does not show some certifications any more, and GET /api/v1/ax/assessments/:id still does.',
    impact: `They are not announced as withdrawn as long as it does. ${othersAsEver}`,
    counts: 'Certifications',
    act: 'in the morning',
    toDo: 'Tell the partner their ids, and ask which of the two is right.',
    command: tried,
  },
  'unanswered-by-id': {
    title: 'missing records cannot be asked for by their ids',
    fault: 'partner',
    grows: 'more missing records cannot be asked for by their ids',
    ends: 'missing records can be asked for by their ids again',
    over: 'each of their ids has an answer, or the list shows them again',
    happened:
      'The list lacks some certifications, and for an hour GET /api/v1/ax/assessments/:id has failed for them.',
    impact: `Nobody can tell whether they are gone: they are not announced as withdrawn meanwhile. ${othersAsEver}`,
    counts: 'Certifications',
    likely: 'an endpoint that fails, or that this integration may not use.',
    act: 'in the morning',
    toDo: 'Tell the partner that the single-record endpoint fails for this integration, with the status that check shows. Each id is asked for again every hour.',
    command: tried,
  },
  silent: {
    title: 'no certification for unusually long',
    fault: 'partner',
    ends: 'no unusual silence any more',
    over: 'the next certification comes, or `silence` allows so many days',
    happened:
      'The partner answers, and shows no certification of the last days. That is longer than is usual, or than `silence` allows.',
    impact:
      'It may well be so: a holiday, the end of a season. If certifications do not reach the API, nobody is told of them.',
    act: 'in the morning',
    toDo: 'Ask those who certify, or the partner, whether there was nothing. If there was something, ask the partner why its API does not show it to this integration. If such a silence is usual, set `silence` of the integration, and deploy.',
    command: { ops: 'status' },
  },
  unproven: {
    title: 'days cannot be proven complete',
    fault: 'partner',
    ends: 'no day has stayed unproven',
    over: 'every such day is proven',
    happened:
      'For more than a day, no read of some days could be proven to have seen every assessment.',
    impact:
      'Seen certifications are announced, and overlooked ones when a later read sees them. Nothing of these days is announced as withdrawn.',
    counts: 'Days',
    likely: 'a malformed record, or lists in an order that cannot be relied on.',
    act: 'in the morning',
    toDo: 'Have malformed records mended first: each leaves its day unproven. Otherwise ask the partner about the order of its lists.',
    command: { ops: 'status' },
    metric: metrics.daysUnproven,
    alarm: 'unproven',
  },
  'check-failed': {
    title: 'the daily self-check fails',
    fault: 'ops',
    grows: 'more of the daily self-check fails',
    ends: 'the daily self-check passes again',
    over: 'a self-check passes',
    happened:
      'Once a day, the operate function tries everything that subscribers rely on and ticks do not need. Some of it has failed, or no self-check has come to its end for 26 hours.',
    impact: 'Somebody may not hear of a certification. The ledger has all events.',
    likely: 'a subscription that somebody has ended, or that nobody has confirmed in time.',
    counts: 'Failures since it passed last',
    act: 'in the morning',
    toDo: 'Mend each failure that the check shows. With --note, it then ends this at once. If it shows none, find out why its schedule does not run it to its end.',
    command: { ops: 'check --note' },
  },
};

export const adviceOnDenied = (what: string) =>
  `${putBack} If that does not help, grant the role of this function ${what}, in the policy that denies it: the role's, the resource's, its key's or the organization's.`;

export const adviceOnUnusable = `It was deleted or disabled, or its key was. A deleted table first comes back from its backup, as the runbook says under "Restore the ledger". ${putBack}`;

/** A function, so that the function that runs ticks is bundled without these texts. */
export const alarmed = (): Readonly<Record<AlarmedName, Condition>> => ({
  failing: {
    title: 'ticks fail',
    fault: 'partner',
    happened: 'Three of the last five ticks have ended with an error.',
    impact: late,
    likely: 'the partner down, the credentials refused, the ledger or the topics denied.',
    act: 'now',
    over: 'fewer than three of the last five ticks have failed',
    toDo: 'Read the newest "tick failed" in the log of the poll function: it has the cause and the remedy.',
    command: { ops: 'status' },
    alarm: 'failing',
  },
  'access-denied': {
    title: 'AWS denies a tick an action',
    fault: 'aws',
    happened: 'AWS denies the role of a function an action that its work needs.',
    impact: late,
    act: 'now',
    over: 'ticks are denied nothing any more',
    toDo: adviceOnDenied('the denied action'),
    alarm: 'failing',
  },
  'no-completed-tick': {
    title: 'ticks do not come to their end',
    fault: 'ops',
    happened: 'No tick has completed for three periods or more.',
    impact: 'Nothing is announced; committed events go out later, and none is lost.',
    likely:
      'the schedule switched off, the credentials refused, every request refused with 429, the function throttled or failing, ticks that run out of time.',
    act: 'now',
    over: 'a tick completes',
    toDo: 'Mend each failure that the check shows. If it shows none, the newest "tick failed" in the log of the poll function has the cause; ticks that did not start are in their queue.',
    command: tried,
    metric: metrics.ticksCompleted,
    alarm: 'no-completed-tick',
  },
  'schedule-disabled': {
    title: 'the schedule is disabled, so no tick is started',
    fault: 'ops',
    happened: 'Somebody has switched the schedule off by hand: no tick is started.',
    impact: untouched,
    act: 'now',
    over: 'a tick completes',
    toDo: `${putBack} To have ticks do nothing for a while, use the command pause.`,
    alarm: 'no-completed-tick',
  },
  'schedule-removed': {
    title: 'the schedule does not exist, so no tick is started',
    fault: 'ops',
    happened: 'Somebody has removed the schedule: no tick is started.',
    impact: untouched,
    act: 'now',
    over: 'a tick completes',
    toDo: putBack,
    alarm: 'no-completed-tick',
  },
  undelivered: {
    title: 'SNS does not accept events',
    fault: 'aws',
    happened: 'For a quarter of an hour no tick could bring all its events or digests to SNS.',
    impact: 'Subscribers or people are not told; every tick tries again, and none is lost.',
    likely: 'a topic or its key denied to the poll function; SNS disturbed.',
    act: 'now',
    over: 'SNS has accepted all of them',
    toDo: `Read "event refused" and "digest refused" in the log of the poll function: they have SNS's code. If it says that access is denied, a topic, a key or a role was changed. ${putBack}`,
    metric: metrics.eventsUndelivered,
    alarm: 'undelivered',
  },
  refused: {
    title: 'credentials or scope are missing',
    fault: 'partner',
    happened: 'The credentials are missing, unreadable or refused, or nothing is assigned to them.',
    impact: leftAlone,
    likely: 'credentials not stored yet, or revoked by the partner; a scope taken away.',
    act: 'now',
    over: 'a tick has read the list',
    toDo: 'Read the notice on the operations topic: it says which it is, and whom to ask.',
    command: tried,
    metric: metrics.refused,
    alarm: 'refused',
  },
  throttled: {
    title: 'ticks cannot start',
    fault: 'ops',
    happened: 'Three of the last five ticks could not start, because others were still running.',
    impact: late,
    likely: 'ticks that take longer than their period: a slow partner, a long baseline.',
    act: 'in the morning',
    over: 'fewer than three of the last five ticks could not start',
    toDo: `Look at the duration of ticks on the dashboard: a longer "every" helps. Somebody may have taken the reserved concurrency away. ${putBack}`,
    alarm: 'throttled',
  },
  'ticks-not-started': {
    title: 'the scheduler could not start ticks',
    fault: 'aws',
    happened: 'The scheduler could not start ticks, and has left them in this queue.',
    impact: 'Nothing is missed once a tick has completed: it does the work of the missed ones.',
    likely: 'a function deleted, or a role changed, by hand; AWS disturbed.',
    act: 'in the morning',
    over: 'this queue is empty',
    toDo: `Read the attributes ERROR_CODE and ERROR_MESSAGE of the entries in this queue. ${putBack} Then purge the queue.`,
    alarm: 'ticks-not-started',
  },
  'dead-letters': {
    title: 'a subscriber did not accept a delivery',
    fault: 'ops',
    happened:
      'Events or notices could not be delivered to a subscriber, or could not be handled there.',
    impact: `${oneUntold} The dead letters stay for 14 days.`,
    likely: 'a receiver that is gone, refuses SNS in its policy, or fails.',
    act: 'within 14 days',
    over: 'this queue is empty',
    toDo: `${mendReceiver} Then bring it the dead letters of this queue, or replay the events to it.`,
    alarm: 'dead-letters',
  },
  'not-delivered': {
    title: 'SNS could not deliver to a subscriber',
    fault: 'ops',
    happened: 'SNS has tried to deliver to a subscriber of this topic, in vain.',
    impact: `${oneUntold} A webhook may still be: SNS goes on trying.`,
    likely:
      'a queue or function that is gone, or whose policy or key does not let SNS in; a webhook that is away.',
    act: 'now for operations, otherwise in the morning',
    over: 'nothing has failed for five minutes, mended or not',
    toDo: `See whose dead letters have grown; if nobody's, look for a subscription without any. ${mendReceiver}`,
    alarm: 'not-delivered',
  },
  'dead-letters-lost': {
    title: 'SNS has lost a delivery to a subscriber',
    fault: 'ops',
    happened: 'SNS could deliver neither to a subscriber nor to its dead letters.',
    impact:
      'This subscriber has not been told, and SNS does not try again. The ledger has the events.',
    likely: 'a dead-letter queue that is gone, or whose policy or key does not let SNS in.',
    act: 'now for operations, otherwise in the morning',
    over: 'nothing was lost for five minutes, mended or not',
    toDo: `${putBack} ${mendReceiver} Then replay the events to this subscriber. For the operations topic, status shows the notices.`,
    alarm: 'dead-letters-lost',
  },
  'not-forwarded': {
    title: 'events wait to be passed on',
    fault: 'ops',
    happened: 'For a quarter of an hour, a pipe has not taken the events from its queue.',
    impact: 'Subscribers behind it are not told. Events wait for 14 days, here or as dead letters.',
    likely:
      'a bus that is gone, a role or a key that was changed, or a pipe that AWS has stopped after many such failures.',
    act: 'within 14 days',
    over: 'the pipe has emptied its queue',
    toDo: `Look at the pipe in the console of EventBridge, under Pipes: a stopped one says why. ${putBack} Then start it there. If it fails again, set its log level to ERROR there, and read the reason of the next failure.`,
    alarm: 'not-forwarded',
  },
  'archive-late': {
    title: 'the archive does not get its events',
    fault: 'ops',
    happened: 'For an hour, Firehose could not write its oldest event into the bucket.',
    impact:
      'Subscribers are told as ever. Firehose tries for 24 hours; after that, the archive lacks these events.',
    likely: 'a bucket, a key or a role that was changed.',
    act: 'within 24 hours',
    over: 'Firehose has written all events older than an hour',
    toDo: `${putBack} A replay to everybody brings back the events that it lacks.`,
    alarm: 'archive-late',
  },
  paged: {
    title: 'changes at the partner are not announced',
    fault: 'ops',
    happened: 'At least one of the urgent alarms of this integration is on.',
    impact: 'Subscribers hear of changes late; none is lost, at any hour.',
    act: 'now',
    over: 'none of these alarms is on',
    toDo: 'List the alarms that are on: aws cloudwatch describe-alarms --state-value ALARM. Their descriptions have the advice, and the notices on the operations topic say more.',
    alarm: 'paged',
  },
});

export const conditions = (): Readonly<Record<AlarmedName | ConditionName, Condition>> => ({
  ...noticed,
  ...alarmed(),
});
