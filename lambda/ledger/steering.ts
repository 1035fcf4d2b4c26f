import type { Temporal } from 'temporal-polyfill';
import type { Missing } from '../detection/missing.ts';
import type { Pause } from '../ports/state.ts';
import { assignments } from './expressions.ts';
import { stateAttributes, stateKey } from './state-item.ts';
import type { Table } from './table.ts';

/** What ops change of an integration's state. Each is one write, of an item that a tick has made. */
export class Steering {
  readonly #table: Table;
  readonly #stateKey: string;

  constructor(table: Table, integration: string) {
    this.#table = table;
    this.#stateKey = stateKey(integration);
  }

  /**
   * Under the name of the call: when an answer is lost, the SDK writes again, and what it then finds is
   * its own.
   */
  async pause({ since, by, reason }: Pause, call: string): Promise<boolean> {
    const changed = await this.#table.update(this.#stateKey, {
      UpdateExpression: 'SET paused = :yes, pause = :pause, steered_by = :call',
      ConditionExpression:
        'attribute_exists(salt) AND (attribute_not_exists(paused) OR paused = :no OR steered_by = :call)',
      values: {
        ':yes': true,
        ':no': false,
        ':pause': { since: since.epochMilliseconds, by, reason },
        ':call': call,
      },
    });
    return changed !== undefined;
  }

  async resume(call: string): Promise<boolean> {
    const changed = await this.#table.update(this.#stateKey, {
      UpdateExpression: 'SET steered_by = :call REMOVE paused, pause',
      ConditionExpression: 'paused = :yes OR steered_by = :call',
      values: { ':yes': true, ':call': call },
    });
    return changed !== undefined;
  }

  async acceptMissing(missing: Missing): Promise<void> {
    const { set, names, values } = assignments(stateAttributes({ missing }));
    await this.#table.update(this.#stateKey, {
      UpdateExpression: `SET ${set}`,
      ExpressionAttributeNames: names,
      values,
    });
  }

  /** The pulse is looked at anew with it, a day that was being read is read again, and nothing was missed before. */
  async restartBaseline(startDay: Temporal.PlainDate): Promise<void> {
    const anew = stateAttributes({ baseline: { status: 'running', startDay, isAnew: true } });
    await this.#table.update(this.#stateKey, {
      UpdateExpression: 'SET baseline = :anew REMOVE pulse_digest, #missing, #bookmark',
      ExpressionAttributeNames: { '#missing': 'missing', '#bookmark': 'bookmark' },
      values: { ':anew': anew.baseline },
    });
  }

  /** Ops mean it: also when earlier audits have taken more requests than they may. */
  async auditNow(): Promise<void> {
    await this.#table.update(this.#stateKey, {
      UpdateExpression: 'SET recent_audit_at = :now, history_audit_at = :now, audits_from = :now',
      values: { ':now': 0 },
    });
  }
}
