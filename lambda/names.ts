import { createHash } from 'node:crypto';

/**
 * Names that the stack and the running code must agree on: the only module that both import.
 * Renaming a key attribute or an index replaces a table or an index in production.
 */

/** Environment variables of the functions. */
export const environment = {
  table: 'TABLE_NAME',
  eventsTopic: 'EVENTS_TOPIC_ARN',
  alertsTopic: 'ALERTS_TOPIC_ARN',
  operationsTopic: 'OPERATIONS_TOPIC_ARN',
  /** For what chats show; absent: nobody has asked for it. */
  chatAlertsTopic: 'CHAT_ALERTS_TOPIC_ARN',
  chatOperationsTopic: 'CHAT_OPERATIONS_TOPIC_ARN',
  /** The stack's name, as operators give it to the command line. */
  stack: 'STACK_NAME',
  /** ARN or name of the secret that holds `{"client_id", "client_secret"}`. */
  secret: 'SECRET_ID',
  /** JSON; its shape is that of settings.ts. */
  integration: 'INTEGRATION',
  /** JSON: how people are told; its shape is that of settings.ts. */
  alerts: 'ALERTS',
} as const;

/**
 * What tells an endpoint of a subscription from others where many can read it who may not read the subscription: an
 * ARN as it is, of an address or a URL ten digits of its hash.
 */
export function endpointName(protocol: string, endpoint: string): string {
  if (protocol === 'sqs' || protocol === 'lambda' || protocol === 'firehose') return endpoint;
  return createHash('sha256').update(endpoint).digest('hex').slice(0, 10);
}

/** The topics of a stack, as people call them. Those for chats are there only where the configuration has a chat. */
export const topicNames = [
  'events',
  'alerts',
  'operations',
  'chat-alerts',
  'chat-operations',
] as const;
export type TopicName = (typeof topicNames)[number];

/** A subscription that the stack has made, as the self-check is told of it. */
export interface ExpectedSubscription {
  readonly topic: TopicName;
  readonly protocol: string;
  /** As `endpointName` makes it of the endpoint; absent: whichever, AWS has chosen it. */
  readonly endpoint?: string | undefined;
  /** What an alarm calls it: nothing personal or secret. */
  readonly name: string;
}

/** Keys and indexes of the ledger table. */
export const ledgerTable = {
  partitionKey: 'pk',
  /** One partition a day and integration: `<integration>#<day>`, sorted by assessment id (Number). */
  byDay: {
    name: 'by-day',
    partitionKey: 'integration_day',
    sortKey: 'assessment_id',
    projected: ['fingerprint', 'revision', 'presence'],
  },
  /**
   * Sparse: `<integration>#pending`, `#digest`, `#held` or `#undeliverable`, oldest first. Keys only.
   * What each means: `Waits` in ports/ledger.ts.
   */
  undelivered: {
    name: 'undelivered',
    partitionKey: 'undelivered',
    sortKey: 'owed_since',
  },
  /**
   * Sparse: a certification that has had an event, under the month of its last one, `<integration>#<YYYY-MM>` in UTC,
   * sorted by the moment of that event (RFC 3339 with milliseconds). Its revision says whether it may have had others.
   */
  byEvent: {
    name: 'by-event',
    partitionKey: 'last_event_month',
    sortKey: 'last_event_at',
    projected: ['revision'],
  },
} as const;

/** Partition keys, by what an item is. A policy names those of one integration, with `*` for what comes after its name. */
export const ledgerKeys = {
  state: (integration: string) => `STATE#${integration}`,
  memory: (integration: string) => `MEMORY#${integration}`,
  calendar: (integration: string, month: string) => `CALENDAR#${integration}#${month}`,
  certification: (integration: string, id: number | '*') => `CERT#${integration}#${id}`,
  commands: (integration: string) => `COMMANDS#${integration}`,
  plan: (integration: string, begunAt: number | '*') => `FANOUT#${integration}#${begunAt}`,
  /** Of a fan-out. Items go on to say "stretch", as the first version did. */
  range: (integration: string, range: string) => `STRETCH#${integration}#${range}`,
  /** In the indexes: a day, what an outbox waits for, or the month of the last event. */
  indexed: (integration: string, under: string) => `${integration}#${under}`,
} as const;

export const metricNamespace = 'CertificationNotifier';

/**
 * Every metric carries both. By the ledger, which is the table's name, deployments in one account are
 * told apart that watch integrations of the same name: one stage must not count as another's tick.
 */
export const metricDimensions = { integration: 'integration', ledger: 'ledger' } as const;

/**
 * Custom metrics; each costs money for every hour in which it is sent, so the list is short (ten an
 * integration), and all but the first two are sent only when there is something to tell.
 */
export const metrics = {
  /** 1 for every tick that ran to its end, if only to find itself paused; none for a tick that failed. */
  ticksCompleted: 'TicksCompleted',
  partnerRequests: 'PartnerRequests',
  /** Events that SNS has accepted. */
  eventsDelivered: 'EventsDelivered',
  /** Events committed to the outbox that this tick could not deliver. */
  eventsUndelivered: 'EventsUndelivered',
  /** Events that SNS has refused for good, as long as they are set aside. */
  eventsUndeliverable: 'EventsUndeliverable',
  /** Events that the gate keeps back, until ops have decided. */
  eventsHeld: 'EventsHeld',
  /** By how much the partner's total has differed for some time although no day does. */
  unexplainedDifference: 'UnexplainedDifference',
  /** 1 while something that people have to mend is in the way of every tick: credentials, provisioning. */
  refused: 'Refused',
  /** Days that could not be proven complete for more than a day. */
  daysUnproven: 'DaysUnproven',
  /** Records that do not have the documented shape. */
  recordsQuarantined: 'RecordsQuarantined',
} as const;

/** By these the state machine of a fan-out knows whether to run a failed task again. */
export const taskErrors = {
  passing: 'TaskFailedError',
  lasting: 'TaskFailedForGoodError',
} as const;
