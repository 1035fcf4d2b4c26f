import type { Clock } from '../../lambda/clock.ts';
import { dispatch, type Message, TopicPace } from '../../lambda/delivery/dispatch.ts';
import type { OwedEvent } from '../../lambda/events/owed-event.ts';
import { messageOf } from '../../lambda/events/sns-message.ts';
import type { Announcer, DigestOutcome } from '../../lambda/ports/announcer.ts';
import { snsTimeouts } from '../../lambda/timeouts.ts';
import { batchResult } from './batch-result.ts';

interface Hearing {
  /** Called with each sent batch. @returns the codes of refused events, in their order */
  readonly hear: (batch: readonly OwedEvent[]) => readonly (string | undefined)[];
  readonly random: () => number;
}

/**
 * SNS that takes this time for each answer. It accepts a batch even if the sender stops waiting.
 */
export class SlowTopic {
  readonly #clock: Clock;
  readonly #answerMs: number;
  readonly #pace = new TopicPace();

  constructor(clock: Clock, answerMs: number) {
    this.#clock = clock;
    this.#answerMs = answerMs;
  }

  /** Sends batches with the real dispatch. */
  publish(
    [owed, deadline, onAccepted]: Parameters<Announcer['publish']>,
    { hear, random }: Hearing,
  ): ReturnType<Announcer['publish']> {
    const send = async (batch: readonly Message[], timeoutMs: number) => {
      const codes = hear(batch.map((one) => one.owed));
      return batchResult((await this.#isAnswered(timeoutMs)) ? codes : { code: 'TimeoutError' });
    };
    const asked = { action: 'sns:Publish', resource: 'the topic' };
    const context = { clock: this.#clock, random, pace: this.#pace, deadline, onAccepted, asked };
    return dispatch(
      owed.map((one) => ({ owed: one, ...messageOf(one.event) })),
      send,
      context,
    );
  }

  /** Sends a mail or a notice, which the AWS client retries by itself. */
  async mail(hear: () => void): Promise<DigestOutcome> {
    const { maxAttempts, requestHandler } = snsTimeouts;
    for (let made = 0; made < maxAttempts; made++) {
      hear();
      if (await this.#isAnswered(requestHandler.requestTimeout)) return { accepted: true };
    }
    return { accepted: false, code: 'TimeoutError' };
  }

  async #isAnswered(timeoutMs: number): Promise<boolean> {
    await this.#clock.sleep(Math.min(this.#answerMs, timeoutMs));
    return this.#answerMs <= timeoutMs;
  }
}
