import { Temporal } from 'temporal-polyfill';
import { carryOut } from '../../lambda/commands/carry-out.ts';
import type { CommandAnswer } from '../../lambda/commands/contract.ts';
import type { OpsLedger } from '../../lambda/commands/ops-ledger.ts';
import type { OperationParts, TopicFinding } from '../../lambda/commands/parts.ts';
import type { Assessment } from '../../lambda/events/assessment.ts';
import { partnerReader } from '../../lambda/partner/reader.ts';
import type { Announcer } from '../../lambda/ports/announcer.ts';
import type { Journal } from '../../lambda/ports/journal.ts';
import type { Ledger } from '../../lambda/ports/ledger.ts';
import type { PartnerReader } from '../../lambda/ports/partner-reader.ts';
import type { TickSettings } from '../../lambda/settings.ts';
import type { TickParts } from '../../lambda/tick/parts.ts';
import type { TickReport } from '../../lambda/tick/report.ts';
import { tick } from '../../lambda/tick/tick.ts';
import { ManualClock } from './clock.ts';
import { type LedgersOf, ledgersIn } from './ledgers.ts';
import { MemoryLedger } from './memory-ledger.ts';
import { MemoryPartner } from './partner.ts';
import { replacedIn } from './ports.ts';
import { tickSettings } from './settings.ts';
import { Subscribers } from './subscribers.ts';

let integrations = 0;

/** The seconds after which a scheduled tick is killed, and after which the next one begins. */
const killedAfter = 55;
const every = 60;

/**
 * An integration with a partner, a ledger and subscribers, which share one clock. The real client
 * and the real proofs read the partner. The ledger is in memory, unless another place is given.
 */
export class Integration {
  readonly name = `district-${++integrations}`;
  readonly clock = new ManualClock();
  /** The warnings of ticks, in short. */
  readonly warnings: string[] = [];
  readonly journal: Journal = { warn: (what) => void this.warnings.push(what) };
  readonly host = new MemoryPartner(this.clock);
  readonly subscribers = new Subscribers(this.clock);
  readonly heard = this.subscribers.heard;
  readonly mails = this.subscribers.mails;
  readonly notices = this.subscribers.notices;
  readonly memory = new MemoryLedger();
  readonly ledger: Ledger;
  readonly opsLedger: OpsLedger;
  /** The tick's port to the partner. A test may change its answers. */
  readonly partner: PartnerReader;
  /** A mutant's changes to the parts of each tick. */
  mutate: (parts: TickParts) => TickParts = (parts) => parts;
  /** Settings that differ from the defaults. */
  settings: Partial<TickSettings> = {};
  /** Requests to the partner, in the terms of the tick's port. */
  readonly requests: string[] = [];
  /** Time that the partner takes for each question, independent of its requests. */
  requestSeconds = 0;
  /** The topics as `check` sees them. */
  topics: TopicFinding[] = (['events', 'alerts', 'operations'] as const).map((topic) => ({
    topic,
    confirmed: 1,
    pending: 0,
  }));
  /** The subscriptions of a topic. */
  subscribersOf: OperationParts['subscribers'] = async () => ({ listed: [] });
  /** The key as KMS has it. */
  topicKey: OperationParts['topicKey'] = async () => undefined;
  /** The key that encrypts a queue. */
  queueKey: OperationParts['queueKey'] = async () => undefined;
  /** The secret's contents. The partner accepts them until it rotates its own. */
  credentials = this.host.access.credentials;
  /** The reason why the secret cannot be read, or holds no credentials. */
  credentialsFailure: Error | undefined;
  /** A hook between a command's work and the tick that it runs. */
  beforeTick: () => Promise<unknown> = async () => undefined;
  readonly carriedOut: unknown[] = [];
  #invocations = 0;

  readonly requestsPerMinute: number;

  constructor(ledgersOf?: LedgersOf, requestsPerMinute = 6_000) {
    this.requestsPerMinute = requestsPerMinute;
    const { clock, journal, memory } = this;
    const client = this.host.client({ credentials: this.#secret, requestsPerMinute });
    this.partner = this.#heard(partnerReader(client));
    const { ledger, opsLedger } = ledgersOf?.(this.name, clock, journal) ?? ledgersIn(memory);
    this.ledger = ledger;
    this.opsLedger = opsLedger;
  }

  /** The assessments at the partner. */
  get world(): readonly Assessment[] {
    return [...this.host.records.values()].map(({ assessment }) => assessment);
  }

  /** Replaces the partner's assessments. Records that stay keep their other properties. */
  set world(assessments: readonly Assessment[]) {
    const kept = new Set(assessments.map(({ id }) => id));
    for (const { id } of this.world) if (!kept.has(id)) this.host.remove(id);
    this.add(...assessments);
  }

  /** Adds assessments to the partner's. */
  add(...assessments: readonly Assessment[]): void {
    for (const assessment of assessments) {
      const known = this.host.records.get(assessment.id);
      if (known?.assessment === assessment) continue;
      this.host.put({ legacy: false, archived: false, ...known, assessment });
    }
  }

  readonly #secret = async () => {
    if (this.credentialsFailure) throw this.credentialsFailure;
    return this.credentials;
  };

  #heard(reader: PartnerReader): PartnerReader {
    return {
      pace: reader.pace,
      pulse: (deadline) => this.#ask('pulse', () => reader.pulse(deadline)),
      tail: (pulse, deadline) => this.#ask('tail', () => reader.tail(pulse, deadline)),
      count: (range, deadline) => this.#ask('count', () => reader.count(range, deadline)),
      oldestDay: (deadline) => this.#ask('oldest', () => reader.oldestDay(deadline)),
      prove: (range, deadline, bookmark) =>
        this.#ask(`prove ${range.from}..${range.to}`, () =>
          reader.prove(range, deadline, bookmark),
        ),
      get: (id, deadline) => this.#ask(`get ${id}`, () => reader.get(id, deadline)),
    };
  }

  async #ask<Result>(what: string, ask: () => Promise<Result>): Promise<Result> {
    this.requests.push(what);
    this.clock.advance({ seconds: this.requestSeconds });
    return ask();
  }

  get parts(): TickParts {
    const { clock, partner, ledger, subscribers, journal } = this;
    const settings = tickSettings({ name: this.name, ...this.settings });
    const measure = () => {
      const before = this.requests.length;
      return () => ({ requests: this.requests.length - before, durationMs: 1 });
    };
    return { settings, clock, partner, ledger, announcer: subscribers, journal, measure };
  }

  async tick(
    overrides: { ledger?: Ledger; announcer?: Announcer; journal?: Journal; seconds?: number } = {},
  ): Promise<TickReport> {
    const { seconds = every, ...parts } = overrides;
    return tick(this.mutate({ ...this.parts, ...parts }), this.#invocation('tick', seconds));
  }

  /** Runs a tick, and lets time pass until the next one. */
  async minute(): Promise<TickReport> {
    const began = this.clock.now();
    const deadline = began.add({ seconds: killedAfter });
    try {
      return await this.tick({ seconds: killedAfter });
    } finally {
      const end = this.clock.now();
      const next = began.add({ seconds: every });
      if (Temporal.Instant.compare(end, deadline) >= 0) this.warnings.push('killed');
      if (Temporal.Instant.compare(end, next) < 0) this.clock.advance(end.until(next));
    }
  }

  /** Runs ticks, including failing ones. */
  async minutes(count: number): Promise<void> {
    for (let minutes = 0; minutes < count; minutes++)
      await this.minute().catch((error) => {
        if (error instanceof TypeError) throw error;
      });
  }

  /** @returns the minutes, up to this limit, until the condition held */
  async minutesUntil(isDone: () => boolean | Promise<boolean>, most: number): Promise<number> {
    for (let minutes = 0; minutes < most; minutes++) {
      if (await isDone()) return minutes;
      await this.minutes(1);
    }
    if (await isDone()) return most;
    throw new Error(`not after ${most} minutes`);
  }

  /** Runs ticks until the baseline is done, and one more. */
  async baseline(most = 15): Promise<void> {
    await this.minutesUntil(
      async () => (await this.ledger.state()).baseline.status === 'completed',
      most,
    );
    await this.minute();
  }

  /** A tick for which a first empty reading was an hour ago. */
  async emptyBaseline(): Promise<void> {
    const { baseline } = await this.ledger.state();
    const wait = { since: this.clock.now().epochMilliseconds - 3_600_000, is: 'empty' } as const;
    if (baseline.status === 'none')
      await this.ledger.saveState({ baseline: { ...baseline, wait } });
    await this.tick();
  }

  /** Records that the daily self-check passes for longer than any test lasts. */
  async passSelfChecks(): Promise<void> {
    const at = this.clock.now().add({ hours: 24 * 3_650 }).epochMilliseconds;
    await this.ledger.saveState({ selfCheck: { at, failed: {}, failures: 0 } });
  }

  get operationParts(): OperationParts {
    const { clock, partner, ledger, opsLedger, subscribers } = this;
    const settings = tickSettings({ name: this.name, ...this.settings });
    return {
      settings,
      clock,
      partner,
      ledger,
      opsLedger,
      announcer: subscribers,
      tick: async (run, requests = settings.audit.requests) => {
        await this.beforeTick();
        const audit = { ...settings.audit, requests };
        const parts = { ...this.parts, settings: { ...settings, audit } };
        return tick(this.mutate(parts), run);
      },
      credentials: this.#secret,
      topics: async () => this.topics,
      subscribers: (topic) => this.subscribersOf(topic),
      topicKey: (key) => this.topicKey(key),
      queueKey: (arn) => this.queueKey(arn),
      queue: (arn) => subscribers.queue(arn),
      journal: {
        ...this.journal,
        info: (_, details) => void this.carriedOut.push(details),
      },
    };
  }

  /**
   * Runs the operate function, which is killed after so many seconds. @returns its answer as the
   * caller gets it
   */
  async operate(
    command: unknown,
    seconds = killedAfter,
    parts: Partial<OperationParts> = {},
  ): Promise<CommandAnswer> {
    const answer = await carryOut(
      { ...this.operationParts, ...parts },
      command,
      this.#invocation('call', seconds),
    );
    return JSON.parse(JSON.stringify(answer));
  }

  #invocation(kind: string, seconds: number) {
    this.#invocations += 1;
    const deadline = this.clock.now().add({ seconds });
    return { id: `${kind}-${this.#invocations}`, deadline };
  }

  /** The ledger, with some of its answers replaced. */
  ledgerWith(replaced: Partial<Ledger>): Ledger {
    return replacedIn(this.ledger, replaced);
  }

  ids(): string[] {
    return this.heard.map(({ id }) => id);
  }

  /** Types of the events of one assessment, in order. */
  heardOf(id: number): string[] {
    return this.heard
      .filter(({ subject }) => subject === String(id))
      .map(({ type }) => type.replace('certification.', ''));
  }
}
