import { Temporal } from 'temporal-polyfill';
import type { Assessment } from '../../lambda/events/assessment.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import { TimedOutError } from '../../lambda/partner/errors.ts';
import type { ListQuery, Page } from '../../lambda/partner/index.ts';
import { partnerReader } from '../../lambda/partner/reader.ts';
import type { TickSettings } from '../../lambda/parts.ts';
import type { Announcer, Notice } from '../../lambda/ports.ts';
import { type Rules, rules } from '../../lambda/rules.ts';
import { type TickReport, tick } from '../../lambda/tick.ts';
import { ManualClock } from '../scaffold/clock.ts';
import { type HostOrder, type HostRecord, listed, pageOf } from '../scaffold/listing.ts';
import { assessment } from './assessments.ts';
import { MemoryLedger } from './memory-ledger.ts';

/** When a tick is killed, and when the next one begins. */
const killedAfter = 55;
const every = 60;

/**
 * A host that takes its time, read with the real proofs by a tick a minute, over a ledger in memory.
 * `Story` is for what happens between ticks, ledger and SNS; this is for hosts.
 */
export class World {
  readonly clock = new ManualClock();
  readonly ledger = new MemoryLedger();
  readonly heard: CertificationEvent[] = [];
  readonly notices: Notice[] = [];
  readonly warnings: string[] = [];
  readonly queries: ListQuery[] = [];
  settings: Partial<TickSettings> = {};
  rules: Rules = rules;
  /** What the host takes for an answer, in milliseconds. */
  answerMs = 100;
  order: HostOrder = 'full-name';
  /** Before an answer; it may throw in its stead. */
  onList: (query: ListQuery) => void = () => undefined;
  /** Right after an answer. */
  onListed: (query: ListQuery) => void = () => undefined;
  onGet: (id: number) => void = () => undefined;
  readonly #records = new Map<number, HostRecord>();
  /** Lists of the world as it is. */
  readonly #lists = new Map<string, HostRecord[]>();
  #ticks = 0;

  readonly #client = {
    list: async (query: ListQuery = {}, options: { deadline?: Temporal.Instant } = {}) => {
      this.queries.push(query);
      this.onList(query);
      this.#takeTime(options.deadline);
      const page = this.#page(query);
      this.onListed(query);
      return page;
    },
    get: async (id: number) => {
      this.onGet(id);
      this.clock.advance({ milliseconds: this.answerMs });
      return this.#records.get(id)?.assessment;
    },
  };

  readonly #announcer: Announcer = {
    publish: async (owed) => {
      this.heard.push(...owed.map(({ event }) => event));
      return { accepted: owed, refused: [] };
    },
    digest: () => ({ add: () => undefined, send: async () => ({ accepted: true }) }),
    notify: async (notice) => {
      this.notices.push(notice);
      return { accepted: true };
    },
  };

  /** One of a name that no other has, if no other is given. */
  add(id: number, certified_on: string, more: Partial<Assessment> = {}): void {
    const { name = `Ada Number${String(id).padStart(5, '0')}` } = more;
    const [first_name = '', last_name = ''] = name.split(' ');
    this.#put(assessment({ id, certified_on, name, first_name, last_name, ...more }));
  }

  /** So many of a day, with ids from one on. */
  addMany(first: number, count: number, certified_on: string): void {
    for (let id = first; id < first + count; id++) this.add(id, certified_on);
  }

  edit(id: number, more: Partial<Assessment> = { email: `changed-${id}@example.org` }): void {
    const record = this.#records.get(id);
    if (record === undefined) throw new Error(`there is no ${id}`);
    this.#put({ ...record.assessment, ...more });
  }

  remove(id: number): void {
    if (!this.#records.delete(id)) throw new Error(`there is no ${id}`);
    this.#lists.clear();
  }

  /** What the host serves of it is no longer what the document describes. */
  spoil(id: number): void {
    const record = this.#records.get(id);
    if (record === undefined) throw new Error(`there is no ${id}`);
    this.#records.set(id, { ...record, malformed: true });
    this.#lists.clear();
  }

  has(id: number): boolean {
    return this.#records.has(id);
  }

  async tick(): Promise<TickReport> {
    const began = this.clock.now();
    const deadline = began.add({ seconds: killedAfter });
    this.#ticks += 1;
    try {
      return await tick(
        {
          settings: {
            name: 'district-a',
            timeZone: 'UTC',
            recentDays: 3,
            audit: { recentMs: 15 * 60_000, historyMs: 24 * 3_600_000, requests: 20 },
            holdAbove: 500,
            announce: 'none',
            fields: 'all',
            alerts: { detail: 'names', maxRows: 60 },
            resources: { stack: 'certification-notifier', secret: 'credentials' },
            ...this.settings,
          },
          rules: this.rules,
          clock: this.clock,
          partner: partnerReader(this.#client, this.clock),
          ledger: this.ledger,
          announcer: this.#announcer,
          journal: { warn: (what) => this.warnings.push(what) },
        },
        { id: `tick-${this.#ticks}`, deadline },
      );
    } finally {
      const end = this.clock.now();
      const next = began.add({ seconds: every });
      if (Temporal.Instant.compare(end, deadline) >= 0) this.warnings.push('killed');
      if (Temporal.Instant.compare(end, next) < 0) this.clock.advance(end.until(next));
    }
  }

  /** Ticks, those that fail among them. */
  async ticks(count: number): Promise<void> {
    for (let ticks = 0; ticks < count; ticks++) await this.tick().catch(() => undefined);
  }

  /** @returns after how many ticks, at most so many, it was done */
  async ticksUntil(isDone: () => boolean | Promise<boolean>, most: number): Promise<number> {
    for (let ticks = 0; ticks < most; ticks++) {
      if (await isDone()) return ticks;
      await this.ticks(1);
    }
    if (await isDone()) return most;
    throw new Error(`not after ${most} ticks`);
  }

  /** Ticks until the baseline is done and the first look after it. */
  async baseline(most = 10): Promise<void> {
    await this.ticksUntil(
      async () => (await this.ledger.state()).baseline.status === 'completed',
      most,
    );
    await this.tick();
  }

  /** Types of the events of one, in their order. */
  heardOf(id: number): string[] {
    return this.heard
      .filter(({ subject }) => subject === String(id))
      .map(({ type }) => type.replace('certification.', ''));
  }

  #put(one: Assessment): void {
    this.#records.set(one.id, { assessment: one, legacy: false, archived: false });
    this.#lists.clear();
  }

  /** As the client does, it gives up at the deadline. */
  #takeTime(deadline: Temporal.Instant | undefined): void {
    const answered = this.clock.now().add({ milliseconds: this.answerMs });
    if (deadline === undefined || Temporal.Instant.compare(answered, deadline) <= 0) {
      this.clock.advance({ milliseconds: this.answerMs });
      return;
    }
    const left = this.clock.now().until(deadline).total('milliseconds');
    if (left > 0) this.clock.advance({ milliseconds: left });
    throw new TimedOutError('list', 'deadline');
  }

  #page(query: ListQuery): Page {
    const { page: _, offset: __, ...whole } = query;
    const key = JSON.stringify([whole, this.order]);
    const list = this.#lists.get(key) ?? listed(this.#records.values(), query, this.order, () => 0);
    this.#lists.set(key, list);
    return pageOf(list, query);
  }
}
