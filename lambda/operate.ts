import { KMSClient } from '@aws-sdk/client-kms';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Context } from 'aws-lambda';
import { assemble, withoutRetries } from './assembly.ts';
import { carryOut } from './commands/carry-out.ts';
import type { CommandAnswer } from './commands/contract.ts';
import type { OperationParts } from './commands/parts.ts';
import { queueKeyOf, topicKeyOf } from './delivery/keys.ts';
import { regionOf, sqsAnnouncer } from './delivery/sqs-announcer.ts';
import { subscribersOf, topicFindings } from './delivery/topic-findings.ts';
import { FunctionJournal } from './function-journal.ts';
import { TickJournal } from './journal.ts';
import { dynamoOpsLedger } from './ledger/dynamo-ops-ledger.ts';
import { parseFunctionSettings } from './settings.ts';
import { tick } from './tick/tick.ts';
import { awsTimeouts } from './timeouts.ts';

const environment = parseFunctionSettings(process.env);
const { name } = environment.INTEGRATION;
const journal = new FunctionJournal('certification-notifier-operate', name);
const tickJournal = new TickJournal(name, environment.TABLE_NAME);
const assembled = assemble(environment, journal);
const { settings, clock, sns, topics, table } = assembled;
// The queue's URL only names the queue: region and environment decide where the service answers.
const sqsFor = (arn: string) =>
  new SQSClient({ ...withoutRetries, region: regionOf(arn), useQueueUrlAsEndpoint: false });
const accountOf = (arn: string) => arn.split(':')[4];
const isOurs = (arn: string) => accountOf(arn) === accountOf(topics.events);
const parts: OperationParts = {
  ...assembled,
  opsLedger: dynamoOpsLedger(table, name),
  queue: (arn) => sqsAnnouncer(sqsFor(arn), arn, clock),
  tick: async (run, auditRequests = settings.audit.requests) => {
    const audit = { ...settings.audit, requests: auditRequests };
    const ticking = { ...assembled, settings: { ...settings, audit }, journal: tickJournal };
    const report = await tick(ticking, run);
    tickJournal.completed(report);
    return report;
  },
  credentials: () => assembled.credentials({ afresh: true }),
  topics: () => topicFindings(sns, topics),
  // An id or an alias without an account is one of this account.
  topicKey: async (key) =>
    key.startsWith('arn:') && !isOurs(key)
      ? undefined
      : topicKeyOf(new KMSClient(awsTimeouts), key),
  queueKey: async (arn) => (isOurs(arn) ? queueKeyOf(sqsFor(arn), arn) : undefined),
  subscribers: async (topic) => {
    const arn = topics[topic];
    return arn === undefined
      ? { problem: 'there is no such topic', listed: [] }
      : subscribersOf(sns, arn);
  },
};

/** Carries out one command of ops. A failure is part of the answer, not an exception. */
export function handler(event: unknown, context: Context): Promise<CommandAnswer> {
  journal.begin(context);
  tickJournal.begin(context);
  const deadline = clock.now().add({ milliseconds: context.getRemainingTimeInMillis() });
  return carryOut(parts, event, { id: context.awsRequestId, deadline });
}
