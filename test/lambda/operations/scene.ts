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
import { DynamoLedger } from '../../../lambda/ledger/dynamo-ledger.ts';
import { Table } from '../../../lambda/ledger/table.ts';
import type { Answer } from '../../../lambda/operations/answer.ts';
import { carryOut } from '../../../lambda/operations/carry-out.ts';
import type { Command } from '../../../lambda/operations/command.ts';
import type { OperationParts } from '../../../lambda/operations/parts.ts';
import type { Announcer, Ledger, PartnerReader, Refusal } from '../../../lambda/ports.ts';
import type { startLedgerTable } from '../../support/ledger-table.ts';
import { ManualClock } from '../../support/manual-clock.ts';

type LedgerDatabase = Awaited<ReturnType<typeof startLedgerTable>>;

let scenes = 0;

/** An integration with a past: a partner, a ledger (embedded DynamoDB) and somebody who listens. */
export class Scene {
  readonly name = `district-${++scenes}`;
  readonly #database: LedgerDatabase;
  readonly clock = new ManualClock();
  readonly ledger: Ledger;
  readonly warnings: string[] = [];
  readonly carriedOut: { command: Command; answer: Answer }[] = [];
  world: Assessment[] = [];
  /** Records that the partner does not show in the documented shape. */
  readonly unreadable = new Set<number>();
  /** A range that is read is not proven, and has lost these. */
  readonly overlooked = new Set<number>();
  requests: string[] = [];
  /** How long a request to the partner takes. */
  requestSeconds = 0;
  /** How long a look into a day of the ledger takes. */
  lookSeconds = 0;
  fields: OperationParts['settings']['fields'] = 'all';
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
  }

  readonly #partner: PartnerReader = {
    pulse: () => Promise.reject(new Error('not asked for')),
    tail: () => Promise.reject(new Error('not asked for')),
    count: () => Promise.reject(new Error('not asked for')),
    oldestDay: () => Promise.reject(new Error('not asked for')),
    prove: async ({ from, to }: DayRange) => {
      this.#ask(`${from}..${to}`);
      const assessments = this.world.filter(
        ({ id, certified_on: day }) =>
          day >= `${from}` &&
          day <= `${to}` &&
          !this.unreadable.has(id) &&
          !this.overlooked.has(id),
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
      return this.unreadable.has(id) ? 'unreadable' : this.world.find((one) => one.id === id);
    },
  };

  #ask(what: string): void {
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
    const { name, fields, clock, ledger } = this;
    return {
      settings: { name, timeZone: 'UTC', recentDays: 3, fields },
      clock,
      partner: this.#partner,
      ledger: {
        recordedState: () => ledger.recordedState(),
        calendar: (years) => ledger.calendar(years),
        lives: (ids) => ledger.lives(ids),
        knownOfDay: (day) => {
          clock.advance({ seconds: this.lookSeconds });
          return ledger.knownOfDay(day);
        },
      },
      announcer: this.#listener(this.heard),
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
    return carryOut(this.parts, command, this.clock.now().add({ seconds }));
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
