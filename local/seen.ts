import type { LocalDoor, Provoking, ReceivedEvent, ReceivedMail } from '../console/index.ts';
import type { Clock } from '../lambda/clock.ts';
import type { Mail } from './mails-and-events.ts';

/** The oldest are dropped first. */
const eventsKept = 500;
const mailsKept = 100;

/** The facts of this instance that the console shows beside the deployment. All are in memory only. */
export class Seen implements LocalDoor {
  readonly isReal: boolean;
  /** Set once the provocations are ready. */
  provoking: Provoking | undefined;
  readonly #clock: Clock;
  /** By id, oldest first. */
  readonly #events = new Map<string, ReceivedEvent>();
  mails: readonly ReceivedMail[] = [];
  notices: readonly ReceivedMail[] = [];
  /** The steps so far, before everything is ready. */
  progress: readonly string[] = [];
  #changed: () => void = () => {};

  /** @param isReal the partner is a real one, so messages that name people are not stored */
  constructor({ clock, isReal }: { readonly clock: Clock; readonly isReal: boolean }) {
    this.#clock = clock;
    this.isReal = isReal;
  }

  get events(): readonly ReceivedEvent[] {
    return [...this.#events.values()].reverse();
  }

  /** @param changed called whenever there is something new */
  tell(changed: () => void): void {
    this.#changed = changed;
  }

  begin(step: string): void {
    this.progress = [...this.progress, step];
    this.changed();
  }

  ready(): void {
    this.progress = [];
    this.changed();
  }

  /** @param by the subscription that let it through */
  event(by: string, id: string, body: string): void {
    if (this.isReal) return;
    const before = this.#events.get(id);
    const known = before?.by ?? [];
    this.#events.set(id, {
      id,
      body,
      receivedAt: before?.receivedAt ?? this.#now(),
      by: known.includes(by) ? known : [...known, by].sort(),
    });
    const [oldest] = this.#events.keys();
    if (this.#events.size > eventsKept && oldest !== undefined) this.#events.delete(oldest);
    this.changed();
  }

  mail(mail: Mail): void {
    if (!this.isReal) this.mails = this.#received(mail, this.mails);
    this.changed();
  }

  /** A notice names nobody, so it is stored for a real partner, too. */
  notice(mail: Mail): void {
    this.notices = this.#received(mail, this.notices);
    this.changed();
  }

  #received(mail: Mail, before: readonly ReceivedMail[]): readonly ReceivedMail[] {
    return [{ ...mail, receivedAt: this.#now() }, ...before].slice(0, mailsKept);
  }

  /** An error in an open page must not end the instance. */
  changed(): void {
    try {
      this.#changed();
    } catch {
      // A page that was not told catches up with the next change.
    }
  }

  #now(): string {
    return this.#clock.now().toString();
  }
}
