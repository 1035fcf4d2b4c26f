import {
  BatchGetItemCommand,
  type BatchGetItemCommandInput,
  type BatchGetItemCommandOutput,
  BatchWriteItemCommand,
  type BatchWriteItemCommandInput,
  type BatchWriteItemCommandOutput,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { PublishBatchCommand, PublishCommand, type SNSClient } from '@aws-sdk/client-sns';
import { recentWindow } from '../lambda/decisions/days.ts';
import type { Assessment } from '../lambda/events/assessment.ts';
import { MAX_PAGE_SIZE } from '../lambda/partner/api.ts';
import type { PartnerClient } from '../lambda/partner/client.ts';
import type { ManualClock } from '../test/scaffold/clock.ts';
import { settings, timeZone } from './settings.ts';

export const seenTables = { usual: 'seen-usual', careful: 'seen-careful' } as const;

export interface PollerParts {
  readonly client: Pick<PartnerClient, 'list'>;
  readonly dynamodb: DynamoDBClient;
  readonly sns: SNSClient;
  readonly topic: string;
  /** Separates the seen ids of different worlds. */
  readonly world: string;
  readonly clock: ManualClock;
}

/**
 * The first program of a competent developer. It reads the recent window page by page, in a fixed order, as the API
 * document advises (docs/partner.md, 4.2). An id that is not in the seen-set is announced and then put into it, so a
 * crash in between announces twice rather than never. The event's id is the assessment's, so a repeated event keeps it.
 */
export async function usualPoller(parts: PollerParts): Promise<void> {
  const { dynamodb, sns, topic } = parts;
  const TableName = seenTables.usual;
  for await (const page of windowPages(parts))
    for (const assessment of page) {
      const Key = keyOf(parts, assessment);
      const { Item } = await dynamodb.send(new GetItemCommand({ TableName, Key }));
      if (Item !== undefined) continue;
      const Message = eventOf(assessment);
      await sns.send(new PublishCommand({ TopicArn: topic, Message }));
      await dynamodb.send(new PutItemCommand({ TableName, Item: Key }));
    }
}

/** The same in batches: one BatchGetItem a page, PublishBatch, and BatchWriteItem of the accepted events. */
export async function carefulPoller(parts: PollerParts): Promise<void> {
  const { sns, topic } = parts;
  for await (const page of windowPages(parts)) {
    const seen = await seenOf(parts, page);
    const news = page.filter(({ id }) => !seen.has(id));
    const accepted: Assessment[] = [];
    for (const batch of batches(news, 10)) {
      const { Successful = [] } = await sns.send(
        new PublishBatchCommand({
          TopicArn: topic,
          PublishBatchRequestEntries: batch.map((assessment) => ({
            Id: String(assessment.id),
            Message: eventOf(assessment),
          })),
        }),
      );
      const ids = new Set(Successful.map(({ Id }) => Id));
      accepted.push(...batch.filter(({ id }) => ids.has(String(id))));
    }
    await remember(parts, seenTables.careful, accepted);
  }
}

/** Both pollers' first run takes the window as known and announces nothing. */
export async function startPollers(parts: PollerParts): Promise<void> {
  for await (const page of windowPages(parts))
    for (const table of Object.values(seenTables)) await remember(parts, table, page);
}

async function* windowPages({ client, clock }: PollerParts): AsyncGenerator<readonly Assessment[]> {
  const { from } = recentWindow(clock.now(), timeZone, settings.recentDays);
  let count = 1;
  for (let offset = 0; offset < count; offset += MAX_PAGE_SIZE) {
    const page = await client.list({
      filter: { start_date: from.toString() },
      sort: 'certified_on',
      order: 'DESC',
      page: MAX_PAGE_SIZE,
      offset,
    });
    count = page.meta.count;
    yield page.assessments;
  }
}

const keyOf = ({ world }: PollerParts, { id }: Assessment) => ({ id: { S: `${world}#${id}` } });

const eventOf = (assessment: Assessment): string =>
  JSON.stringify({
    id: String(assessment.id),
    type: 'certification.created',
    subject: String(assessment.id),
    data: { assessment },
  });

async function seenOf(parts: PollerParts, page: readonly Assessment[]): Promise<Set<number>> {
  const keys = new Map(page.map((one) => [`${parts.world}#${one.id}`, one.id]));
  const seen = new Set<number>();
  const Keys = [...keys.keys()].map((S) => ({ id: { S } }));
  let left: BatchGetItemCommandInput['RequestItems'] = { [seenTables.careful]: { Keys } };
  while (keys.size > 0 && Object.keys(left ?? {}).length > 0) {
    const answer: BatchGetItemCommandOutput = await parts.dynamodb.send(
      new BatchGetItemCommand({ RequestItems: left }),
    );
    for (const { id } of answer.Responses?.[seenTables.careful] ?? [])
      seen.add(keys.get(id?.S ?? '') ?? 0);
    left = answer.UnprocessedKeys;
  }
  return seen;
}

async function remember(
  parts: PollerParts,
  table: string,
  assessments: readonly Assessment[],
): Promise<void> {
  for (const batch of batches(assessments, 25)) {
    const requests = batch.map((one) => ({ PutRequest: { Item: keyOf(parts, one) } }));
    let left: BatchWriteItemCommandInput['RequestItems'] = { [table]: requests };
    while (Object.keys(left ?? {}).length > 0) {
      const answer: BatchWriteItemCommandOutput = await parts.dynamodb.send(
        new BatchWriteItemCommand({ RequestItems: left }),
      );
      left = answer.UnprocessedItems;
    }
  }
}

function batches<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
