import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { Temporal } from 'temporal-polyfill';
import {
  type Certification,
  type Change,
  compare,
  idOf,
  withdrawal,
} from '../../../lambda/detection/compare.ts';
import type { DayRange } from '../../../lambda/detection/days.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import {
  type CertificationEvent,
  sightingEvent,
  withdrawalEvent,
} from '../../../lambda/events/event.ts';
import type { OwedEvent } from '../../../lambda/events/owed-event.ts';
import type { TickLine } from '../../../lambda/journal.ts';
import { DynamoLedger } from '../../../lambda/ledger/dynamo-ledger.ts';
import { DynamoOpsLedger } from '../../../lambda/ledger/dynamo-ops-ledger.ts';
import { Table } from '../../../lambda/ledger/table.ts';
import type { Answer } from '../../../lambda/operations/answer.ts';
import { carryOut } from '../../../lambda/operations/carry-out.ts';
import type { Command } from '../../../lambda/operations/command.ts';
import type { OpsLedger } from '../../../lambda/operations/ops-ledger.ts';
import type {
  OperationParts,
  OperationSettings,
  TopicFinding,
} from '../../../lambda/operations/parts.ts';
import type { Announcer, Ledger, Notice, PartnerReader, Refusal } from '../../../lambda/ports.ts';
import { rules } from '../../../lambda/rules.ts';
import { type TickRun, tick } from '../../../lambda/tick.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import type { startLedgerTable } from '../../support/ledger-table.ts';

type LedgerDatabase = Awaited<ReturnType<typeof startLedgerTable>>;

let scenes = 0;

/** An integration with a past: a partner, a ledger (embedded DynamoDB) and somebody who listens. */
export class Scene {
  readonly name = `district-${++scenes}`;
  readonly #database: LedgerDatabase;
  readonly clock = new ManualClock();
  readonly ledger: Ledger;
  readonly opsLedger: OpsLedger;
  #calls = 0;
  readonly mails: string[][] = [];
  readonly notices: Notice[] = [];
  credentialsFailure: Error | undefined;
  /** The single-record endpoint answers 404 to everything. */
  singleRecordsBroken = false;
  partnerFailure: Error | undefined;
  partnerAheadMs: number | undefined = 0;
  topics: TopicFinding[] = (['events', 'alerts', 'operations'] as const).map((topic) => ({
    topic,
    confirmed: 1,
    pending: 0,
  }));
  readonly warnings: string[] = [];
  readonly carriedOut: { command: Command; answer: Answer }[] = [];
  world: Assessment[] = [];
  /** Records that the partner does not show in the documented shape. */
  readonly unreadable = new Set<number>();
  /** Records without a day: in the total, and in no range. */
  dateless = 0;
  /** What the partner answers instead of how many there are. */
  miscount: number | undefined;
  /** A range that is read is not proven, and has lost these. */
  readonly overlooked = new Set<number>();
  requests: string[] = [];
  /** How long a request to the partner takes. */
  requestSeconds = 0;
  /** What happens between a command's work and the tick that it runs. */
  beforeTick: () => Promise<unknown> = async () => undefined;
  /** How long a look into a day of the ledger takes. */
  lookSeconds = 0;
  announce: OperationSettings['announce'] = 'none';
  fields: OperationParts['settings']['fields'] = 'all';
  recentDays = 3;
  /** What was announced when it was news, by id. */
  readonly announced = new Map<string, CertificationEvent>();
  readonly heard: CertificationEvent[] = [];
  readonly heardAt: number[] = [];
  readonly queues = new Map<string, CertificationEvent[]>();
  refuse: (event: CertificationEvent) => Omit<Refusal, 'owed'> | undefined = () => undefined;

  constructor(database: LedgerDatabase) {
    this.#database = database;
    const table = new Table(database.client, database.name, this.clock);
    this.ledger = new DynamoLedger(table, this.name, { warn: (what) => this.warnings.push(what) });
    this.opsLedger = new DynamoOpsLedger(table, this.name);
  }

  get settings(): OperationSettings {
    return {
      name: this.name,
      baseUrl: 'https://platform.example.org',
      tokenRequest: 'form',
      timeZone: 'UTC',
      recentDays: this.recentDays,
      every: 1,
      audit: { recentMs: 15 * 60_000, historyMs: 24 * 3_600_000, requests: 20 },
      holdAbove: 500,
      announce: this.announce,
      fields: this.fields,
      alerts: { detail: 'names', maxRows: 60 },
      resources: { stack: 'certification-notifier', secret: 'credentials' },
    };
  }

  /** A tick, by the schedule or by a command. */
  async tick(
    run: TickRun = { id: `tick-${++this.#calls}`, deadline: this.clock.now().add({ seconds: 60 }) },
    auditRequests = 20,
  ): Promise<TickLine> {
    const { settings, clock, ledger } = this;
    const announcer: Announcer = {
      ...this.#listener(this.heard),
      digest: () => {
        const ids: string[] = [];
        return {
          add: ({ id }) => void ids.push(id),
          send: async () => {
            this.mails.push(ids);
            return { accepted: true };
          },
        };
      },
      notify: async (notice) => {
        this.notices.push(notice);
        return { accepted: true };
      },
    };
    const report = await tick(
      {
        settings: { ...settings, audit: { ...settings.audit, requests: auditRequests } },
        rules,
        clock,
        partner: this.#partner,
        ledger,
        announcer,
        journal: { warn: (what) => this.warnings.push(what) },
      },
      run,
    );
    return { ...report, requests: 1, durationMs: 1 };
  }

  readonly #partner: PartnerReader = {
    pulse: async () => {
      this.#ask('pulse');
      const assessments = this.#readable()
        .sort((a, b) => b.certified_on.localeCompare(a.certified_on) || a.id - b.id)
        .slice(0, 100);
      const quarantined = [...this.unreadable].map((id) => ({ id, problems: ['name: missing'] }));
      return { assessments, quarantined, count: this.world.length + this.dateless };
    },
    tail: async () => {
      this.#ask('tail');
      const assessments = this.#readable()
        .sort((a, b) => a.certified_on.localeCompare(b.certified_on) || a.id - b.id)
        .slice(-100);
      return { assessments, quarantined: [], count: this.world.length + this.dateless };
    },
    count: async (range) => {
      this.#ask('count');
      const isAll = range.from === undefined && range.to === undefined;
      return this.miscount ?? this.#within(range).length + (isAll ? this.dateless : 0);
    },
    oldestDay: async () => {
      const [oldest] = this.world.map(({ certified_on }) => certified_on).sort();
      return oldest === undefined ? undefined : Temporal.PlainDate.from(oldest);
    },
    prove: async (range: DayRange) => {
      this.#ask(`${range.from}..${range.to}`);
      const assessments = this.#readable().filter(
        (one) => this.#within(range).includes(one) && !this.overlooked.has(one.id),
      );
      const isProven = this.overlooked.size === 0 && this.unreadable.size === 0;
      return {
        assessments,
        quarantined: [],
        count: assessments.length,
        isCutOff: false,
        requests: 1,
        ...(isProven && { proof: 'single-page' as const }),
      };
    },
    get: async (id) => {
      this.#ask(String(id));
      if (this.singleRecordsBroken) return undefined;
      return this.unreadable.has(id) ? 'unreadable' : this.world.find((one) => one.id === id);
    },
  };

  #readable(): Assessment[] {
    return this.world.filter(({ id }) => !this.unreadable.has(id));
  }

  #within({ from, to }: DayRange): Assessment[] {
    const [first, last] = [from?.toString() ?? '', to?.toString() ?? '~'];
    return this.world.filter(({ certified_on: day }) => day >= first && day <= last);
  }

  #ask(what: string): void {
    if (this.partnerFailure) throw this.partnerFailure;
    this.requests.push(what);
    this.clock.advance({ seconds: this.requestSeconds });
  }

  #listener(heard: CertificationEvent[]): Pick<Announcer, 'publish'> {
    return {
      publish: async (owed) => {
        const refused = owed.flatMap((one): Refusal[] => {
          const refusal = this.refuse(one.event);
          return refusal ? [{ owed: one, ...refusal }] : [];
        });
        const accepted = owed.filter((one) => !refused.some(({ owed }) => owed === one));
        heard.push(...accepted.map(({ event }) => event));
        this.heardAt.push(...accepted.map(() => this.clock.now().epochMilliseconds));
        return { accepted, refused };
      },
    };
  }

  get parts(): OperationParts {
    const { clock, ledger } = this;
    return {
      settings: this.settings,
      clock,
      partner: this.#partner,
      ledger: {
        state: () => ledger.state(),
        recordedState: () => ledger.recordedState(),
        takeLease: (lease, now) => ledger.takeLease(lease, now),
        giveBackLease: (lease) => ledger.giveBackLease(lease),
        saveDays: (entries) => ledger.saveDays(entries),
        backOff: (backOff) => ledger.backOff(backOff),
        calendar: (years) => ledger.calendar(years),
        lives: (ids) => ledger.lives(ids),
        knownOfDay: (day) => {
          clock.advance({ seconds: this.lookSeconds });
          return ledger.knownOfDay(day);
        },
      },
      opsLedger: this.opsLedger,
      announcer: this.#listener(this.heard),
      tick: async (run, auditRequests) => {
        await this.beforeTick();
        return this.tick(run, auditRequests);
      },
      credentials: async () => {
        if (this.credentialsFailure) throw this.credentialsFailure;
      },
      topics: async () => this.topics,
      partnerAheadMs: () => this.partnerAheadMs,
      queue: (arn) => {
        const heard = this.queues.get(arn) ?? [];
        this.queues.set(arn, heard);
        return this.#listener(heard);
      },
      journal: {
        warn: (what) => this.warnings.push(what),
        carriedOut: (command, answer) => this.carriedOut.push({ command, answer }),
      },
    };
  }

  /** The operate function, which is killed after so many seconds. */
  operate(command: unknown, seconds = 55): Promise<Answer> {
    this.#calls += 1;
    const deadline = this.clock.now().add({ seconds });
    return carryOut(this.parts, command, { id: `call-${this.#calls}`, deadline });
  }

  /** The baseline is done, and a tick since: nothing is left to do. */
  async settle(): Promise<void> {
    for (let ticks = 0; ticks < 3; ticks += 1) await this.tick();
    this.notices.length = 0;
    this.requests.length = 0;
  }

  /** The baseline has found these. */
  async baseline(...assessments: Assessment[]): Promise<void> {
    const { salt } = await this.ledger.state();
    this.world.push(...assessments);
    await this.#count(assessments);
    await this.ledger.recordSilently(compare(assessments, new Map(), salt), this.clock.now());
  }

  /** The partner shows these, and a tick has told of them. */
  async show(...assessments: Assessment[]): Promise<void> {
    await this.#deliver(await this.commit(assessments));
  }

  /** The partner shows these, and a tick has committed them; not delivered. */
  async commit(
    assessments: readonly Assessment[],
    destiny: 'pending' | 'held' = 'pending',
  ): Promise<OwedEvent[]> {
    const ids = new Set(assessments.map(({ id }) => id));
    this.world = [...this.world.filter(({ id }) => !ids.has(id)), ...assessments];
    await this.#count(assessments);
    const { salt } = await this.ledger.state();
    const known = await this.ledger.known([...ids]);
    return this.#commitAll(compare(assessments, known, salt), destiny);
  }

  /** The partner no longer has these, and a tick has told so. */
  async withdraw(...ids: number[]): Promise<void> {
    this.world = this.world.filter(({ id }) => !ids.includes(id));
    const known = await this.ledger.known(ids);
    const changes = [...known.values()].map((before: Certification) => withdrawal(before));
    await this.#deliver(await this.#commitAll(changes, 'pending'));
  }

  /** The partner changes records, and no tick has seen it yet. */
  alter(id: number, change: Partial<Assessment>): void {
    this.world = this.world.map((one) => (one.id === id ? { ...one, ...change } : one));
  }

  /** Everything that the table holds for this integration. */
  async items(): Promise<unknown[]> {
    const { client, name: TableName } = this.#database;
    const { Items = [] } = await client.send(new ScanCommand({ TableName }));
    return Items.map((item) => JSON.stringify(item))
      .filter((item) => new RegExp(`#${this.name}[#"]`).test(item))
      .sort();
  }

  /** The same, without the list of commands that were carried out. */
  async itemsBesideRecords(): Promise<unknown[]> {
    return (await this.items()).filter((item) => !String(item).includes('COMMANDS#'));
  }

  async #count(assessments: readonly Assessment[]): Promise<void> {
    // The first look makes the state, as in a tick.
    await this.ledger.state();
    const days = Map.groupBy(assessments, ({ certified_on }) => certified_on);
    await this.ledger.addYears([...days.keys()].map((day) => Number(day.slice(0, 4))));
    await this.ledger.addToDays(new Map([...days].map(([day, { length }]) => [day, length])));
  }

  async #commitAll(changes: readonly Change[], destiny: 'pending' | 'held') {
    const owed: OwedEvent[] = [];
    for (const change of changes) {
      const now = this.clock.now();
      const committed = await this.ledger.commit(change, this.#eventOf(change), now, destiny);
      if (committed === undefined) throw new Error(`not committed: ${idOf(change)}`);
      owed.push(committed);
    }
    return owed;
  }

  async #deliver(owed: readonly OwedEvent[]): Promise<void> {
    await this.ledger.settle(owed, 'nothing');
    for (const { event } of owed) this.announced.set(event.id, event);
  }

  #eventOf(change: Change): CertificationEvent {
    const day = change.kind === 'withdrawn' ? change.before.day : change.assessment.certified_on;
    const earliest = this.clock.now().toZonedDateTimeISO('UTC').toPlainDate().subtract({ days: 3 });
    const announced = {
      integration: this.name,
      revision: change.revision,
      late: Temporal.PlainDate.compare(Temporal.PlainDate.from(day), earliest) < 0,
      time: this.clock.now(),
    };
    if (change.kind !== 'withdrawn')
      return sightingEvent({
        ...announced,
        type: `certification.${change.kind}`,
        assessment: change.assessment,
        changed: change.changed,
        fields: this.fields,
      });
    const { organization_id, assessment_name } = change.before;
    const id = idOf(change);
    return withdrawalEvent({
      ...announced,
      assessment: { id, organization_id, assessment_name, certified_on: day },
    });
  }
}
