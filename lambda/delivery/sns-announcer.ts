import {
  PublishBatchCommand,
  type PublishBatchRequestEntry,
  PublishCommand,
  type SNSClient,
} from '@aws-sdk/client-sns';
import pMap from 'p-map';
import { messageAttributes } from '../events/attributes.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { Announcer, DigestOutcome, Notice, PublishOutcome, Refusal } from '../ports.ts';
import { digestOf } from './digest.ts';
import { pack } from './pack.ts';

const batchesInFlight = 4;

export interface Topics {
  readonly events: string;
  readonly alerts: string;
  readonly operations: string;
}

/** An event as an entry of PublishBatch, with the bytes that AWS counts: body and attributes. */
interface Message {
  readonly owed: OwedEvent;
  readonly body: string;
  readonly attributes: ReturnType<typeof messageAttributes>;
  readonly bytes: number;
}

/** Tells the machines (events topic) and the people (alerts topic) and ops (operations topic) by SNS. */
export class SnsAnnouncer implements Announcer {
  readonly #client: SNSClient;
  readonly #topics: Topics;
  readonly #integration: string;

  constructor(client: SNSClient, topics: Topics, integration: string) {
    this.#client = client;
    this.#topics = topics;
    this.#integration = integration;
  }

  async publish(owed: readonly OwedEvent[]): Promise<PublishOutcome> {
    const batches = pack(owed.map(messageOf), ({ bytes }) => bytes);
    const outcomes = await pMap(batches, (batch) => this.#publishBatch(batch), {
      concurrency: batchesInFlight,
    });
    return {
      accepted: outcomes.flatMap(({ accepted }) => accepted),
      refused: outcomes.flatMap(({ refused }) => refused),
    };
  }

  sendDigest(owed: readonly OwedEvent[]): Promise<DigestOutcome> {
    const { subject, body } = digestOf(
      this.#integration,
      owed.map(({ event }) => event),
    );
    return this.#send(this.#topics.alerts, subject, body);
  }

  notify({ subject, text }: Notice): Promise<DigestOutcome> {
    return this.#send(this.#topics.operations, subject, text);
  }

  async #send(TopicArn: string, Subject: string, Message: string): Promise<DigestOutcome> {
    try {
      await this.#client.send(new PublishCommand({ TopicArn, Subject, Message }));
      return { accepted: true };
    } catch (error) {
      return { accepted: false, code: codeOf(error) };
    }
  }

  /** What is not named in `Successful` is not accepted, whether or not `Failed` names it. */
  async #publishBatch(batch: readonly Message[]): Promise<PublishOutcome> {
    try {
      const answer = await this.#client.send(
        new PublishBatchCommand({
          TopicArn: this.#topics.events,
          PublishBatchRequestEntries: batch.map(entryOf),
        }),
      );
      const successful = new Set((answer.Successful ?? []).map(({ Id }) => Id));
      const codes = new Map((answer.Failed ?? []).map(({ Id, Code }) => [Id, Code]));
      const accepted: OwedEvent[] = [];
      const refused: Refusal[] = [];
      batch.forEach(({ owed }, index) => {
        const id = String(index);
        if (successful.has(id)) accepted.push(owed);
        else refused.push({ owed, code: codes.get(id) ?? 'NotAnswered' });
      });
      return { accepted, refused };
    } catch (error) {
      const code = codeOf(error);
      return { accepted: [], refused: batch.map(({ owed }) => ({ owed, code })) };
    }
  }
}

function messageOf(owed: OwedEvent): Message {
  const body = JSON.stringify(owed.event);
  const attributes = messageAttributes(owed.event);
  const attributeBytes = Object.entries(attributes)
    .map(([name, { DataType, StringValue }]) => Buffer.byteLength(name + DataType + StringValue))
    .reduce((sum, bytes) => sum + bytes, 0);
  return { owed, body, attributes, bytes: Buffer.byteLength(body) + attributeBytes };
}

/** The id of an entry counts within its batch only. */
function entryOf({ body, attributes }: Message, index: number): PublishBatchRequestEntry {
  return { Id: String(index), Message: body, MessageAttributes: attributes };
}

/** The SDK's own name of the failure; its message could quote the request. */
function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : 'Unknown';
}
