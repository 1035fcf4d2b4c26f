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
  /** The topics of chats; absent: none is configured. */
  chatAlertsTopic: 'CHAT_ALERTS_TOPIC_ARN',
  chatOperationsTopic: 'CHAT_OPERATIONS_TOPIC_ARN',
  /** The stack's name, as ops give it to the command line. */
  stack: 'STACK_NAME',
  /** ARN or name of the secret that holds `{"client_id", "client_secret"}`. */
  secret: 'SECRET_ID',
  /** JSON; its shape is that of settings.ts. */
  integration: 'INTEGRATION',
  /** JSON: the settings of digests; its shape is that of settings.ts. */
  alerts: 'ALERTS',
} as const;

/**
 * The name of a subscription's endpoint, for places that more people can read than subscriptions.
 * An ARN stays as it is; an address or a URL becomes ten digits of its hash.
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

/** A subscription that the stack has made, as the self-check gets it. */
export interface ExpectedSubscription {
  readonly topic: TopicName;
  readonly protocol: string;
  /** The `endpointName` of its endpoint; absent: any, since AWS has chosen it. */
  readonly endpoint?: string | undefined;
  /** Its name in alarms: nothing personal or secret. */
  readonly name: string;
  /** Values of its filter; absent: any. */
  readonly organizations?: readonly number[] | undefined;
  readonly assessments?: readonly string[] | undefined;
  readonly integrations?: readonly string[] | undefined;
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
   * Sparse: `<integration>#pending`, `#digest`, `#held` or `#undeliverable`, oldest first. Keys
   * only. `Waits` in ports/ledger.ts has their meanings.
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

/**
 * Partition keys, by kind of item. A policy names those of one integration, with `*` for the rest
 * of the key.
 */
export const ledgerKeys = {
  state: (integration: string) => `STATE#${integration}`,
  memory: (integration: string) => `MEMORY#${integration}`,
  calendar: (integration: string, month: string) => `CALENDAR#${integration}#${month}`,
  certification: (integration: string, id: number | '*') => `CERT#${integration}#${id}`,
  commands: (integration: string) => `COMMANDS#${integration}`,
  /** In the indexes: a day, the wait of an outbox, or the month of the last event. */
  indexed: (integration: string, under: string) => `${integration}#${under}`,
} as const;

export const metricNamespace = 'CertificationNotifier';

/**
 * Every metric carries both. The ledger, which is the table's name, tells deployments in one
 * account apart that watch integrations of the same name: one stage's tick must not count for
 * another.
 */
export const metricDimensions = { integration: 'integration', ledger: 'ledger' } as const;

/**
 * Custom metrics. Each costs money for every hour in which it is sent, so the list is short (ten an
 * integration). All but the first two are sent only when there is something to tell.
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
  /** Events held by the gate, until ops have decided. */
  eventsHeld: 'EventsHeld',
  /** By how much the partner's total has differed for some time although no day does. */
  unexplainedDifference: 'UnexplainedDifference',
  /** 1 while credentials or provisioning block every tick until people mend them. */
  refused: 'Refused',
  /** Days that could not be proven complete for more than a day. */
  daysUnproven: 'DaysUnproven',
  /** Records without an id or a valid day. */
  recordsQuarantined: 'RecordsQuarantined',
} as const;
