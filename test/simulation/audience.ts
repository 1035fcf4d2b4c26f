import { Temporal } from 'temporal-polyfill';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import type { OwedEvent } from '../../lambda/events/owed-event.ts';
import type { Announcer, DigestOutcome, Notice } from '../../lambda/ports/announcer.ts';
import { SlowTopic } from '../scaffold/slow-topic.ts';
import { Part } from './part.ts';
import { Random } from './random.ts';

/** The highest number of entries that SNS accepts. */
const inOneRequest = 10;

/** Systems, people and ops, and the texts that each has received. */
export class Audience extends Part implements Announcer {
  readonly #random = Random.of(this.life.seed, 'audience');
  readonly #calendar = new Intl.DateTimeFormat('sv-SE', {
    timeZone: this.life.settings.timeZone,
    dateStyle: 'short',
  });
  /** By the event's id. */
  readonly told = new Map<string, CertificationEvent>();
  readonly mailed = new Set<string>();
  /** The highest announced revision, by the event's subject. */
  readonly #newest = new Map<string, number>();
  readonly notices: Notice[] = [];
  /** The probability of a refusal by SNS. */
  refusals = 0;
  /** SNS with slow answers, if it is slow. */
  readonly #slow =
    this.life.plan.snsMs > 0 ? new SlowTopic(this.life.timeline, this.life.plan.snsMs) : undefined;

  publish: Announcer['publish'] = async (owed, deadline, onAccepted) => {
    const hearing = { hear: this.#hearBatch, random: () => this.#random.next() };
    if (this.#slow) return this.#slow.publish([owed, deadline, onAccepted], hearing);
    const waiting = new Set<string>();
    const accepted = owed.filter(({ event: { subject } }) => {
      if (this.#isRefused()) waiting.add(subject);
      return !waiting.has(subject);
    });
    for (let at = 0; at < accepted.length; at += inOneRequest) {
      const batch = accepted.slice(at, at + inOneRequest);
      for (const { event } of batch) this.#hear(event);
      await onAccepted?.(batch);
    }
    const refused = owed
      .filter((one) => !accepted.includes(one))
      .map((one) => ({ owed: one, code: 'InternalError' }));
    return { accepted, refused };
  };

  tellPeople: Announcer['tellPeople'] = (events) =>
    this.#take(() => {
      for (const { id } of events) this.mailed.add(id);
    });

  notify: Announcer['notify'] = (notice) => this.#take(() => this.notices.push(notice));

  /** Sends a mail or a notice with the client that retries by itself. */
  async #take(hear: () => void): Promise<DigestOutcome> {
    if (this.#isRefused()) return { accepted: false, code: 'InternalError' };
    if (this.#slow) return this.#slow.mail(hear);
    hear();
    return { accepted: true };
  }

  readonly #hearBatch = (batch: readonly OwedEvent[]) =>
    batch.map(({ event }) => {
      if (this.#isRefused()) return 'InternalError';
      this.#hear(event);
      return undefined;
    });

  #hear(event: CertificationEvent): void {
    const { note, findings } = this.life;
    const before = this.told.get(event.id);
    if (before) note('told twice');
    if (before && JSON.stringify(before) !== JSON.stringify(event))
      findings.push(`two events with the id ${event.id}`);
    this.#checkEvent(event);
    this.#checkOrder(event);
    this.told.set(event.id, event);
  }

  #isRefused(): boolean {
    const isRefused = this.#random.chance(this.refusals);
    if (isRefused) this.life.note('refused by SNS');
    return isRefused;
  }

  #checkEvent({ id, type, time, data }: CertificationEvent): void {
    const { note, findings } = this.life;
    note(type, id);
    if (type === 'certification.updated' && data.changed.length === 0)
      findings.push(`${id} updates nothing`);
    // Midnight may have passed between the tick's begin and the event.
    const at = Temporal.Instant.from(time);
    const late = [at, at.subtract({ seconds: 60 })].map((now) =>
      this.#isLate(data.assessment.certified_on, now),
    );
    if (data.late) note('late');
    if (!late.includes(data.late)) findings.push(`${id} is wrong about being late`);
  }

  #checkOrder({ id, subject, sequence }: CertificationEvent): void {
    const newest = this.#newest.get(subject) ?? 0;
    const revision = Number(sequence);
    if (revision < newest && !this.told.has(id))
      this.life.findings.push(`${id} is told of after revision ${newest}`);
    this.#newest.set(subject, Math.max(newest, revision));
  }

  /** Uses the calendar of Intl, not Temporal's. */
  #isLate(day: string, now: Temporal.Instant): boolean {
    const today = this.#calendar.format(now.epochMilliseconds).slice(0, 10);
    const days = (Date.parse(today) - Date.parse(day)) / 86_400_000;
    return days > this.life.settings.recentDays;
  }
}
