import { PublishBatchCommand, PublishCommand, type SNSClient } from '@aws-sdk/client-sns';
import { denialOf } from '../access-denied.ts';
import { messageOf } from '../events/sns-message.ts';
import type { Announcer, DigestOutcome, Notice } from '../ports/announcer.ts';
import { bareMail, type DigestOptions, digestMail } from './digest.ts';
import { type DispatchContext, dispatch, type Send, TopicPace } from './dispatch.ts';
import { codeOf, refusalKind } from './refusals.ts';

export interface TopicArns {
  /** A FIFO topic if its ARN says so. */
  readonly events: string;
  readonly alerts: string;
  readonly operations: string;
}

export interface SnsClients {
  /** It retries by itself. */
  readonly mails: SNSClient;
  /** It does not retry (`maxAttempts: 1`): `dispatch` does, as the topic and the time allow. */
  readonly batches: SNSClient;
}

const asking = (topic: string) => ({ action: 'sns:Publish', resource: topic });

/** Publishes one message at a time. */
export function sending(client: SNSClient) {
  return async (
    TopicArn: string,
    message: { readonly Subject?: string; readonly Message: string },
  ): Promise<DigestOutcome> => {
    try {
      await client.send(new PublishCommand({ TopicArn, ...message }));
      return { accepted: true };
    } catch (error) {
      return { accepted: false, code: codeOf(error), denial: denialOf(error, asking(TopicArn)) };
    }
  };
}

/**
 * Sends events to subscribers (events topic), digests to people (alerts topic), and notices to ops
 * (operations topic).
 */
export function snsAnnouncer(
  { mails, batches }: SnsClients,
  topics: TopicArns,
  { clock, random, ...options }: DigestOptions & Pick<DispatchContext, 'clock' | 'random'>,
): Announcer {
  const pace = new TopicPace();
  const publish = sending(mails);
  const send = (topic: string, { subject: Subject, text: Message }: Notice) =>
    publish(topic, { Subject, Message });
  return {
    publish(owed, deadline, onAccepted) {
      const TopicArn = topics.events;
      const isFifo = TopicArn.endsWith('.fifo');
      const messages = owed.map((one) => ({ owed: one, ...messageOf(one.event) }));
      const sendBatch: Send = async (batch, requestTimeout) => {
        const PublishBatchRequestEntries = batch.map(({ body, attributes, fifo }, place) => ({
          Id: String(place),
          Message: body,
          MessageAttributes: attributes,
          ...(isFifo && fifo),
        }));
        const command = new PublishBatchCommand({ TopicArn, PublishBatchRequestEntries });
        return batches.send(command, { requestTimeout });
      };
      const asked = asking(TopicArn);
      return dispatch(messages, sendBatch, { clock, random, pace, deadline, onAccepted, asked });
    },
    async tellPeople(events) {
      const outcome = await send(topics.alerts, digestMail(events, options, clock.now()));
      if (outcome.accepted || refusalKind(outcome.code) !== 'invalid') return outcome;
      // This mail would be refused for ever, and all later events would wait with it.
      return send(topics.alerts, bareMail(events.length, options));
    },
    notify: (notice) => send(topics.operations, notice),
  };
}
