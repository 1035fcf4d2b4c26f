import type { Pause } from '../ports.ts';
import { stateKey } from './state-item.ts';
import type { Table } from './table.ts';

/** What ops change of an integration's state. Each is one write, of an item that a tick has made. */
export class Steering {
  readonly #table: Table;
  readonly #stateKey: string;

  constructor(table: Table, integration: string) {
    this.#table = table;
    this.#stateKey = stateKey(integration);
  }

  async pause({ since, by, reason }: Pause): Promise<boolean> {
    const changed = await this.#table.update(this.#stateKey, {
      UpdateExpression: 'SET paused = :yes, pause = :pause',
      ConditionExpression:
        'attribute_exists(salt) AND (attribute_not_exists(paused) OR paused = :no)',
      values: {
        ':yes': true,
        ':no': false,
        ':pause': { since: since.epochMilliseconds, by, reason },
      },
    });
    return changed !== undefined;
  }

  async resume(): Promise<boolean> {
    const changed = await this.#table.update(this.#stateKey, {
      UpdateExpression: 'REMOVE paused, pause',
      ConditionExpression: 'paused = :yes',
      values: { ':yes': true },
    });
    return changed !== undefined;
  }

  async acceptTotal(total: number): Promise<void> {
    await this.#table.update(this.#stateKey, {
      UpdateExpression: 'SET accepted_total = :total REMOVE collapsed_from',
      values: { ':total': total },
    });
  }

  /** The pulse is looked at anew with it, and a day that was being read is read again. */
  async restartBaseline(): Promise<void> {
    await this.#table.update(this.#stateKey, {
      UpdateExpression: 'REMOVE baseline, pulse_digest, #bookmark',
      ExpressionAttributeNames: { '#bookmark': 'bookmark' },
    });
  }

  async auditNow(): Promise<void> {
    await this.#table.update(this.#stateKey, {
      UpdateExpression: 'SET recent_audit_at = :now, history_audit_at = :now',
      values: { ':now': 0 },
    });
  }
}
