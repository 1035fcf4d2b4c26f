import type { Clock } from '../../lambda/clock.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import type {
  Announcer,
  DigestOutcome,
  Notice,
  OnAccepted,
  Refusal,
} from '../../lambda/ports/announcer.ts';

/** The reason why SNS refuses an event. `true`: SNS is down for a moment. */
type Refused = boolean | Omit<Refusal, 'owed'> | undefined;

/** SNS and all subscribers. They receive the accepted events, in order. */
export class Subscribers implements Announcer {
  readonly #clock: Clock;
  readonly heard: CertificationEvent[] = [];
  /** Times of receipt, in milliseconds since the epoch. */
  readonly heardAt: number[] = [];
  /** Ids of the events of each digest. */
  readonly mails: string[][] = [];
  readonly notices: Notice[] = [];
  /** Events sent directly to a queue, by its ARN. */
  readonly queues = new Map<string, CertificationEvent[]>();
  refuse: (event: CertificationEvent) => Refused = () => false;
  /** SNS's answer to digests and notices. */
  mailing: DigestOutcome = { accepted: true };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly publish: Announcer['publish'] = (owed, _, onAccepted) =>
    this.#publish(owed, this.heard, onAccepted);

  readonly tellPeople: Announcer['tellPeople'] = async (events) => {
    if (this.mailing.accepted) this.mails.push(events.map(({ id }) => id));
    return this.mailing;
  };

  readonly notify: Announcer['notify'] = async (notice) => {
    if (this.mailing.accepted) this.notices.push(notice);
    return this.mailing;
  };

  queue(arn: string): Pick<Announcer, 'publish'> {
    const heard = this.queues.get(arn) ?? [];
    this.queues.set(arn, heard);
    return { publish: (owed) => this.#publish(owed, heard) };
  }

  async #publish(
    owed: Parameters<Announcer['publish']>[0],
    heard: CertificationEvent[],
    onAccepted?: OnAccepted,
  ): ReturnType<Announcer['publish']> {
    const refused = owed.flatMap((one): Refusal[] => {
      const refusal = this.refuse(one.event);
      if (refusal === false || refusal === undefined) return [];
      return [{ owed: one, ...(refusal === true ? { code: 'InternalError' } : refusal) }];
    });
    const accepted = owed.filter((one) => !refused.some((refusal) => refusal.owed === one));
    for (let start = 0; start < accepted.length; start += 10) {
      const batch = accepted.slice(start, start + 10);
      heard.push(...batch.map(({ event }) => event));
      this.heardAt.push(...batch.map(() => this.#clock.now().epochMilliseconds));
      await onAccepted?.(batch);
    }
    return { accepted, refused };
  }
}
