import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Context } from 'aws-lambda';
import { systemClock as clock } from './clock.ts';
import { SnsAnnouncer } from './delivery/sns-announcer.ts';
import { regionOf, SqsAnnouncer } from './delivery/sqs-announcer.ts';
import { topicFindings } from './delivery/topic-findings.ts';
import { TickJournal } from './journal.ts';
import { DynamoLedger } from './ledger/dynamo-ledger.ts';
import { DynamoOpsLedger } from './ledger/dynamo-ops-ledger.ts';
import { Table } from './ledger/table.ts';
import type { Answer } from './operations/answer.ts';
import { carryOut } from './operations/carry-out.ts';
import { OperationsJournal } from './operations/journal.ts';
import type { OperationParts } from './operations/parts.ts';
import { createPartnerClient } from './partner/client.ts';
import { partnerReader } from './partner/reader.ts';
import { parseHttpDate } from './partner/retry.ts';
import { secretCredentials, secretsManagerReader } from './partner/secret.ts';
import { patience } from './patience.ts';
import { rules } from './rules.ts';
import { parseSettings, tickSettings } from './settings.ts';
import { tick } from './tick.ts';

/** Announcers retry by themselves. */
const once = { ...patience, maxAttempts: 1 };

// Built once per cold start.
const environment = parseSettings(process.env);
const { integration, table: tableName, topics, secret, alerts } = environment;
const settings = tickSettings(environment);
const { name } = settings;
const journal = new OperationsJournal(name);
const tickJournal = new TickJournal(name, tableName);
let requests = 0;
let partnerAheadMs: number | undefined;
const credentials = secretCredentials(
  secret,
  secretsManagerReader(new SecretsManagerClient(patience)),
);
const client = createPartnerClient({
  baseUrl: integration.baseUrl,
  tokenRequest: integration.tokenRequest,
  credentials,
  clock,
  onRequest: ({ date }) => {
    requests += 1;
    const theirs = date === undefined ? undefined : parseHttpDate(date);
    partnerAheadMs = theirs === undefined ? undefined : theirs - clock.now().epochMilliseconds;
  },
});
const partner = partnerReader(client, clock);
const table = new Table(new DynamoDBClient(patience), tableName, clock);
const ledger = new DynamoLedger(table, name, journal);
const sns = new SNSClient(once);
const announcer = new SnsAnnouncer(sns, topics, { ...alerts, integration: name, clock });
const parts: OperationParts = {
  settings,
  clock,
  partner,
  ledger,
  opsLedger: new DynamoOpsLedger(table, name),
  announcer,
  queue: (arn) => {
    // The queue's URL names the queue; where the service answers is settled by region and environment.
    const sqs = new SQSClient({ ...once, region: regionOf(arn), useQueueUrlAsEndpoint: false });
    return new SqsAnnouncer(sqs, arn, clock);
  },
  tick: async (run, auditRequests = settings.audit.requests) => {
    const began = clock.now();
    const before = requests;
    const audit = { ...settings.audit, requests: auditRequests };
    const tickParts = { rules, clock, partner, ledger, announcer, journal: tickJournal };
    const report = await tick({ ...tickParts, settings: { ...settings, audit } }, run);
    const durationMs = clock.now().since(began).total('milliseconds');
    const line = { ...report, requests: requests - before, durationMs };
    tickJournal.completed(line);
    return line;
  },
  credentials: () => credentials({ afresh: true }),
  topics: () => topicFindings(sns, topics),
  partnerAheadMs: () => partnerAheadMs,
  journal,
};

/** One command of the people on duty. What goes wrong is part of the answer, not an exception. */
export function handler(event: unknown, context: Context): Promise<Answer> {
  journal.begin(context);
  tickJournal.begin(context);
  const deadline = clock.now().add({ milliseconds: context.getRemainingTimeInMillis() });
  return carryOut(parts, event, { id: context.awsRequestId, deadline });
}
