import type { ConditionName } from './detection/conditions.ts';
import { metrics } from './names.ts';

/** All that is said of a condition, wherever it is said. */
export interface ConditionEntry {
  /** What its alarm counts, if it has one of its own: one is for all that is in the way of every tick. */
  readonly metric?: (typeof metrics)[keyof typeof metrics];
  /** Follows "<integration>: " in the subject, which has to stay below 100 characters. */
  readonly begins: string;
  /** When there is more of it; absent: as it begins, "and more". */
  readonly grows?: string;
  readonly ends: string;
  /** What happened, and what it does to subscribers. */
  readonly means: string;
  /** What the number counts. */
  readonly counts?: string;
  readonly toDo: string;
  readonly command?: (settings: NoticeSettings) => string;
}

/** What notices and the commands in them are written with. */
export interface NoticeSettings {
  readonly name: string;
  /** IANA name of the partner's time zone. */
  readonly timeZone: string;
  readonly resources: { readonly stack: string; readonly secret: string };
}

const leftAlone =
  'Nothing new is announced meanwhile, and nothing is lost. The notifier tries again by itself, at the latest after an hour.';
const tryAgain = 'Nothing new is announced meanwhile, and nothing is lost. Every tick tries again.';
const store = ({ resources: { secret } }: NoticeSettings) =>
  `aws secretsmanager put-secret-value --secret-id ${secret} --secret-string file://credentials.json`;
/** As docs/operations.md has it. */
const ops = (command: string, { name, resources: { stack } }: NoticeSettings) =>
  `npx certification-notifier ${command} --stack ${stack} --integration ${name}`;
const checkedByHand = () =>
  'npm run conformance -- --base-url https://<host> --credentials credentials.json';

export const conditionTable: Readonly<Record<ConditionName, ConditionEntry>> = {
  paused: {
    begins: 'paused for more than a day',
    grows: 'still paused',
    ends: 'no longer paused',
    means:
      'Somebody has paused this integration: the partner is not asked anything, and nothing is announced. What happens meanwhile is found and announced once it is resumed, unless it came and went; much of it at once is held as a flood.',
    counts: 'Days so far',
    toDo: 'Find out whether the pause is still wanted: status says who has asked for it. If it is not:',
    command: (settings) => ops('resume', settings),
  },
  'credentials-not-set': {
    begins: 'the credentials are not stored yet',
    ends: 'the credentials are stored',
    means: `The secret is still as the deployment made it: without client ID and secret. ${tryAgain}`,
    toDo: 'Write {"client_id": "...", "client_secret": "..."}, as the partner issued them, to credentials.json, store it, and delete the file.',
    command: store,
  },
  'credentials-malformed': {
    begins: 'the stored credentials are not readable as such',
    ends: 'the stored credentials are readable',
    means: `The value of the secret is not {"client_id": "...", "client_secret": "..."}. ${tryAgain}`,
    toDo: 'Write the credentials in this form to credentials.json, store it, and delete the file.',
    command: store,
  },
  'secret-unreadable': {
    begins: 'the credentials cannot be read',
    ends: 'the credentials can be read again',
    means: `Secrets Manager does not give out the secret. ${tryAgain}`,
    toDo: 'Look at the newest error in the log of the poll function: if access was denied, its role or the key policy was changed: npx cdk deploy --revert-drift puts it back. Otherwise see whether Secrets Manager is disturbed. This shows whether the secret exists:',
    command: ({ resources: { secret } }) =>
      `aws secretsmanager describe-secret --secret-id ${secret}`,
  },
  'credentials-refused': {
    begins: 'the partner refuses the credentials',
    ends: 'the partner accepts the credentials again',
    means: `The partner's token endpoint refuses the client ID or the secret. ${leftAlone}`,
    toDo: 'Compare the stored client_id and client_secret with what the partner issued, and store them again if they differ. If they agree, ask the partner whether the secret was rotated or the integration was switched off.',
    command: store,
  },
  'unsupported-grant': {
    begins: 'the partner refuses to issue tokens',
    ends: 'the partner issues tokens again',
    means: `The partner's token endpoint does not accept the grant type client_credentials as it is sent. ${leftAlone}`,
    toDo: 'Find out which form the host accepts, set it as tokenRequest in notifier.config.ts (form, basic or json), and deploy. If none works, ask the partner whether the integration allows the client_credentials grant.',
    command: checkedByHand,
  },
  'token-refused-twice': {
    begins: 'the partner refuses the tokens that it issues',
    ends: 'the partner accepts its tokens again',
    means: `The partner's API refuses tokens that its own token endpoint has just issued. ${leftAlone}`,
    toDo: 'If it lasts for more than a few minutes, tell the partner, and ask whether the integration is enabled on this host.',
    command: checkedByHand,
  },
  'not-provisioned': {
    begins: 'the partner has assigned no scope',
    ends: 'the partner has assigned a scope',
    means: `The partner's API answers 400 to the list without any filter: the integration has no organizations or no assessments assigned. ${leftAlone}`,
    toDo: "Contact the partner's support: name the client ID, say that the assessments API answers 400 to the list without any filter, and ask them to assign the integration its organizations and its assessments.",
    command: checkedByHand,
  },
  'rate-limited': {
    begins: 'the partner allows too few requests',
    ends: 'the partner allows enough requests again',
    means:
      'The partner refuses requests because there are too many of them (429). The ticks have slowed down to what it answers. Nothing is lost: each tick goes on where the last one stopped. But it takes longer until changes are found.',
    toDo: 'Ask the partner how many requests a minute this integration may send, and for more if that is little. Set `requestsPerMinute` of the integration to that number in notifier.config.ts, and deploy: then no request is refused any more.',
  },
  missing: {
    begins: 'many certifications are missing at the partner',
    grows: 'more certifications are missing at the partner',
    ends: 'the missing certifications are back, few or accepted',
    means:
      'The list does not show them any more, and they are too many at once for news: it looks like a changed scope or a fault of the host. Nobody is told that they are withdrawn. If they come back, nobody is told, either. What is new or changed is announced as ever.',
    counts: 'Certifications missing so far',
    toDo: 'Ask the partner whether the scope of this integration was narrowed. If it was, accept the new total with accept-total: the missing certifications are then withdrawn. This shows the total:',
    command: (settings) => ops('status', settings),
  },
  unexplained: {
    metric: metrics.unexplainedDifference,
    begins: 'the total is not the sum of its days',
    ends: 'the total is the sum of its days again',
    means:
      'The partner counts more or fewer assessments than it shows on all days together, and a search of all days has found nothing. Certifications of no day would not be announced. What any day shows is announced as ever, and the difference starts no further search.',
    counts: 'Assessments by which the two differ',
    toDo: 'Ask the partner whether there are assessments without a day of certification, and which of the two numbers is right. This shows the numbers:',
    command: (settings) => ops('status', settings),
  },
  held: {
    metric: metrics.eventsHeld,
    begins: 'a flood of changes is held',
    ends: 'nothing is held any more',
    means:
      'So much has changed at once at the partner that it is not announced: the events are held. Nothing is lost: a held event waits until it is released or discarded, and so do later events of the same certification.',
    counts: 'Certifications with held events',
    toDo: 'Find out whether it is a mass edit, a changed scope or real news; then release what is held, or discard it. This shows what it is:',
    command: (settings) => ops('holds', settings),
  },
  undeliverable: {
    metric: metrics.eventsUndeliverable,
    begins: 'SNS refuses events for good',
    ends: 'no event is undeliverable any more',
    means:
      'SNS has called some events invalid, so they are not sent again. Their subscribers have not heard of them. All other events are delivered as ever.',
    counts: 'Certifications with events set aside',
    toDo: 'Look for "event undeliverable" in the log of the poll function: it has the code that SNS gave and the id of an event. Once it is mended, release them to try again, or discard them. This shows what they are:',
    command: (settings) => ops('holds --undeliverable', settings),
  },
  quarantined: {
    metric: metrics.recordsQuarantined,
    begins: 'the partner sends malformed records',
    ends: 'no record is malformed any more',
    means:
      'They have no usable id or no valid certified_on. They are not announced until they are mended at the partner, and their days cannot be proven complete. All other records are announced as ever.',
    counts: 'Records so far',
    toDo: 'Tell the partner which records they are and what is wrong with them.',
  },
  'odd-fields': {
    begins: 'fields of records are not as documented',
    grows: 'more fields of records are not as documented',
    ends: 'all fields of records are as documented again',
    means:
      'Fields that the document of the API promises are null, missing or of another type. The records are announced all the same: null and missing as they came, null in the place of a value of another type.',
    counts: 'Fields so far',
    toDo: 'Tell the partner which fields they are. The log of the poll function has the ids of some such records beside "odd field".',
  },
  'shown-by-id': {
    begins: 'the list lacks what single records show',
    ends: 'the list and the single records agree again',
    means:
      'The list does not show them any more, and GET /api/v1/ax/assessments/:id still does. They are not announced as withdrawn as long as it does. What is new or changed is announced as ever.',
    counts: 'Certifications',
    toDo: 'Tell the partner their ids, and ask which of the two is right.',
    command: checkedByHand,
  },
  unproven: {
    metric: metrics.daysUnproven,
    begins: 'days cannot be proven complete',
    ends: 'no day has stayed unproven',
    means:
      'For more than a day, no read of these days could be proven to have seen every assessment. What was seen is announced; what a read may have overlooked is announced when a later one sees it; nothing of these days is announced as withdrawn.',
    counts: 'Days',
    toDo: 'If malformed records are reported, have them mended first: each leaves its day unproven. Otherwise check whether the host still keeps to its document.',
    command: checkedByHand,
  },
};

/** What a condition is called, and what to do about it. */
export function conditionWording(settings: NoticeSettings, name: ConditionName) {
  const { begins: title, toDo, command } = conditionTable[name];
  return { title, whatToDo: command ? `${toDo} ${command(settings)}` : toDo };
}
