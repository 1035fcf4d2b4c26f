import { DeleteItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll } from 'vitest';
import type { DayRange } from '../../lambda/detection/days.ts';
import type { Assessment } from '../../lambda/events/assessment.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import { DynamoLedger } from '../../lambda/ledger/dynamo-ledger.ts';
import { Table } from '../../lambda/ledger/table.ts';
import type { TickSettings } from '../../lambda/parts.ts';
import type {
  Announcer,
  DigestOutcome,
  Ledger,
  Notice,
  PartnerReader,
  QuarantinedRecord,
} from '../../lambda/ports.ts';
import { type Rules, rules } from '../../lambda/rules.ts';
import { tick } from '../../lambda/tick.ts';
import { ManualClock } from '../scaffold/clock.ts';
import { startLedgerTable } from './ledger-table.ts';

let database: Awaited<ReturnType<typeof startLedgerTable>>;
let stories = 0;

/** To be called once by a test file that tells stories: the embedded DynamoDB they happen in. */
export function storiesHaveALedger(): void {
  beforeAll(async () => {
    database = await startLedgerTable();
  });
  afterAll(() => database.close());
}

/** An integration with a partner, a ledger (embedded DynamoDB) and somebody who listens. */
export class Story {
  readonly name = `district-${++stories}`;
  readonly clock = new ManualClock();
  readonly warnings: string[] = [];
  readonly table = new Table(database.client, database.name, this.clock);
  readonly ledger: Ledger = new DynamoLedger(this.table, this.name, {
    warn: (what) => this.warnings.push(what),
  });
  world: Assessment[] = [];
  quarantined: QuarantinedRecord[] = [];
  partnerFailure: Error | undefined;
  readonly heard: CertificationEvent[] = [];
  readonly mails: string[][] = [];
  readonly notices: Notice[] = [];
  /** The single-record endpoint answers 404 to everything. */
  singleRecordsBroken = false;
  settings: Partial<TickSettings> = {};
  rules: Rules = rules;
  requests: string[] = [];
  refuse: (event: CertificationEvent) => boolean = () => false;
  digest: DigestOutcome = { accepted: true };
  #ticks = 0;

  readonly announcer: Announcer = {
    publish: async (owed) => {
      const refused = owed.filter(({ event }) => this.refuse(event));
      const accepted = owed.filter(({ event }) => !this.refuse(event));
      this.heard.push(...accepted.map(({ event }) => event));
      return { accepted, refused: refused.map((one) => ({ owed: one, code: 'InternalError' })) };
    },
    digest: () => {
      const ids: string[] = [];
      return {
        add: ({ id }) => void ids.push(id),
        send: async () => {
          if (this.digest.accepted) this.mails.push(ids);
          return this.digest;
        },
      };
    },
    notify: async (notice) => {
      if (this.digest.accepted) this.notices.push(notice);
      return this.digest;
    },
  };

  /** A partner whose list is one atomic answer, however long. */
  readonly partner: PartnerReader = {
    pulse: async () => {
      this.#ask('pulse');
      const assessments = this.world
        .toSorted((a, b) => b.certified_on.localeCompare(a.certified_on))
        .slice(0, 100);
      return { assessments, quarantined: this.quarantined, count: this.#count() };
    },
    tail: async () => {
      this.#ask('tail');
      const assessments = this.world
        .toSorted((a, b) => a.certified_on.localeCompare(b.certified_on) || a.id - b.id)
        .slice(-100);
      return { assessments, quarantined: [], count: this.#count() };
    },
    count: async (range) => {
      this.#ask('count');
      return this.#within(range).length + this.#malformedIn(range).length;
    },
    oldestDay: async () => {
      this.#ask('oldest');
      const [oldest] = this.world.map(({ certified_on }) => certified_on).sort();
      return oldest === undefined ? undefined : Temporal.PlainDate.from(oldest);
    },
    prove: async (range) => {
      this.#ask('prove');
      const assessments = this.#within(range);
      const quarantined = this.#malformedIn(range);
      return {
        assessments,
        quarantined,
        count: assessments.length + quarantined.length,
        isCutOff: false,
        requests: 1,
        ...(quarantined.length === 0 && { proof: 'single-page' as const }),
      };
    },
    get: async (id) => {
      this.#ask('get');
      return this.singleRecordsBroken ? undefined : this.world.find((one) => one.id === id);
    },
  };

  #ask(what: string): void {
    if (this.partnerFailure) throw this.partnerFailure;
    this.requests.push(what);
  }

  /** What is malformed is of the last day. */
  #malformedIn(range: DayRange): readonly QuarantinedRecord[] {
    return range.to === undefined ? this.quarantined : [];
  }

  #count(): number {
    return this.world.length + this.quarantined.length;
  }

  #within({ from, to }: DayRange): Assessment[] {
    const [first, last] = [from?.toString() ?? '', to?.toString() ?? '~'];
    return this.world.filter(({ certified_on: day }) => day >= first && day <= last);
  }

  async tick(overrides: { ledger?: Ledger; announcer?: Announcer; seconds?: number } = {}) {
    this.#ticks += 1;
    return tick(
      {
        settings: {
          name: this.name,
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
        partner: this.partner,
        ledger: overrides.ledger ?? this.ledger,
        announcer: overrides.announcer ?? this.announcer,
        journal: { warn: (what) => this.warnings.push(what) },
      },
      {
        id: `tick-${this.#ticks}`,
        deadline: this.clock.now().add({ seconds: overrides.seconds ?? 60 }),
      },
    );
  }

  /** @returns what makes the ledger again what it is now, as a restored table would be */
  async backUp(): Promise<() => Promise<void>> {
    const { client, name: TableName } = database;
    const itsOwn = new RegExp(`#${this.name}(#|$)`);
    const items = async () => {
      const { Items = [] } = await client.send(new ScanCommand({ TableName }));
      return Items.filter(({ pk }) => itsOwn.test(pk?.S ?? ''));
    };
    const then = await items();
    return async () => {
      for (const { pk } of await items())
        if (pk) await client.send(new DeleteItemCommand({ TableName, Key: { pk } }));
      for (const Item of then) await client.send(new PutItemCommand({ TableName, Item }));
    };
  }

  /** What the ledger is asked, with some answers replaced. */
  ledgerWith(replaced: Partial<Ledger>): Ledger {
    return new Proxy(this.ledger, {
      get: (target, name) => {
        const method: unknown = Reflect.get(replaced, name) ?? Reflect.get(target, name);
        return typeof method === 'function' ? method.bind(target) : method;
      },
    });
  }

  ids() {
    return this.heard.map(({ id }) => id);
  }
}
