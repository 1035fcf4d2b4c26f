import type { Temporal } from 'temporal-polyfill';
import { ledgerTable } from '../names.ts';
import type {
  CertificationStory,
  Decision,
  Kept,
  KeptEvent,
  OpsLedger,
  Waits,
} from '../operations/ops-ledger.ts';
import type { CommandOutcome, CommandRecord } from '../ports/command-record.ts';
import type { Pause } from '../ports/state.ts';
import { certificationKey } from './certification-item.ts';
import { parseStory } from './certification-story.ts';
import { CommandLog } from './command-log.ts';
import { IntegrationState } from './integration-state.ts';
import { KeptEvents } from './kept-events.ts';
import { undeliveredKey } from './outbox-item.ts';
import type { Table } from './table.ts';

/** What the people on duty ask of one integration's ledger. */
export class DynamoOpsLedger implements OpsLedger {
  readonly #table: Table;
  readonly #integration: string;
  readonly #state: IntegrationState;
  readonly #kept: KeptEvents;
  readonly #log: CommandLog;

  constructor(table: Table, integration: string) {
    this.#table = table;
    this.#integration = integration;
    this.#state = new IntegrationState(table, integration);
    this.#kept = new KeptEvents(table, integration);
    this.#log = new CommandLog(table, integration);
  }

  pause(pause: Pause, call: string) {
    return this.#state.pause(pause, call);
  }

  resume(call: string) {
    return this.#state.resume(call);
  }

  async waiting(): Promise<Readonly<Record<Waits, number>>> {
    const [pending, digest, held, undeliverable] = await Promise.all([
      this.#count('pending'),
      this.#count('digest'),
      this.#count('held'),
      this.#count('undeliverable'),
    ]);
    return { pending, digest, held, undeliverable };
  }

  async story(id: number): Promise<CertificationStory | undefined> {
    const item = await this.#table.get(certificationKey(this.#integration, id));
    return item && parseStory(item);
  }

  kept(waits: Kept, after?: string) {
    return this.#kept.pages(waits, after);
  }

  decide(
    certificationId: number,
    waits: Kept,
    decision: Decision,
    choose: (event: KeptEvent) => boolean,
    now: Temporal.Instant,
  ) {
    return this.#kept.decide(certificationId, waits, decision, choose, now);
  }

  record(command: CommandRecord) {
    return this.#log.record(command);
  }

  conclude(operation: string, outcome: CommandOutcome) {
    return this.#log.conclude(operation, outcome);
  }

  recorded() {
    return this.#log.read();
  }

  #count(wait: Waits): Promise<number> {
    const { name, partitionKey } = ledgerTable.undelivered;
    return this.#table.count({
      IndexName: name,
      KeyConditionExpression: '#index = :index',
      ExpressionAttributeNames: { '#index': partitionKey },
      values: { ':index': undeliveredKey(this.#integration, wait) },
    });
  }
}
