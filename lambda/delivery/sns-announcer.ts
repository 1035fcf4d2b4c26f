import { PublishBatchCommand, PublishCommand, type SNSClient } from '@aws-sdk/client-sns';
import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import type { CertificationEvent } from '../events/event.ts';
import { messageOf } from '../events/message.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type {
  Announcer,
  DigestOutcome,
  Notice,
  OnAccepted,
  PublishOutcome,
} from '../ports/announcer.ts';
import { bareMail, type DigestOptions, digestMail, type Mail } from './digest.ts';
import { answerOf, dispatch, TopicPace } from './dispatch.ts';
import { fifoIds } from './fifo-ids.ts';
import { codeOf, refusalKind } from './refusals.ts';

export interface Topics {
  /** A FIFO topic if its ARN says so. */
  readonly events: string;
  readonly alerts: string;
  readonly operations: string;
}

export interface AnnouncerOptions extends DigestOptions {
  readonly clock: Clock;
  /** From 0 up to, not including, 1. */
  readonly random?: () => number;
}

const mailAttempts = 3;
const firstBackOffMs = 200;

/**
 * Tells the machines (events topic) and the people (alerts topic) and ops (operations topic) by SNS.
 * It retries by itself, by its clock: the client should not (`maxAttempts: 1`).
 */
export class SnsAnnouncer implements Announcer {
  readonly #client: SNSClient;
  readonly #topics: Topics;
  readonly #options: AnnouncerOptions;
  readonly #random: () => number;
  readonly #pace = new TopicPace();

  constructor(client: SNSClient, topics: Topics, options: AnnouncerOptions) {
    this.#client = client;
    this.#topics = topics;
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  publish(
    owed: readonly OwedEvent[],
    deadline?: Temporal.Instant,
    onAccepted?: OnAccepted,
  ): Promise<PublishOutcome> {
    const { clock } = this.#options;
    const TopicArn = this.#topics.events;
    const isFifo = TopicArn.endsWith('.fifo');
    return dispatch(
      owed.map((one) => ({ owed: one, ...messageOf(one.event) })),
      (batch, requestTimeout) => {
        const PublishBatchRequestEntries = batch.map(({ owed, body, attributes }, index) => ({
          // It counts within its batch only.
          Id: String(index),
          Message: body,
          MessageAttributes: attributes,
          ...(isFifo && fifoIds(owed.event)),
        }));
        const command = new PublishBatchCommand({ TopicArn, PublishBatchRequestEntries });
        return answerOf(batch.length, this.#client.send(command, { requestTimeout }));
      },
      { clock, random: this.#random, pace: this.#pace, deadline, onAccepted },
    );
  }

  async tellPeople(events: readonly CertificationEvent[]): Promise<DigestOutcome> {
    const { alerts } = this.#topics;
    const outcome = await this.#send(alerts, digestMail(events, this.#options));
    if (outcome.accepted || refusalKind(outcome.code) !== 'invalid') return outcome;
    // As it is, it would be refused for ever, and all that comes after it would wait with it.
    return this.#send(alerts, bareMail(events, this.#options));
  }

  notify({ subject, text }: Notice): Promise<DigestOutcome> {
    return this.#send(this.#topics.operations, { subject, body: text });
  }

  async #send(TopicArn: string, { subject, body }: Mail): Promise<DigestOutcome> {
    const mail = { TopicArn, Subject: subject, Message: body };
    for (let attempt = 1; ; attempt += 1)
      try {
        await this.#client.send(new PublishCommand(mail));
        return { accepted: true };
      } catch (error) {
        const code = codeOf(error);
        const kind = refusalKind(code);
        const mayHelp = kind === 'passing' || kind === 'throttled';
        if (!mayHelp || attempt >= mailAttempts) return { accepted: false, code };
        const backOffMs = firstBackOffMs * 2 ** (attempt - 1);
        await this.#options.clock.sleep(Math.ceil(this.#random() * backOffMs));
      }
  }
}
