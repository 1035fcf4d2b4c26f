import type { ProofCounts } from '../decisions/calendar.ts';
import { type ConditionName, isLasting } from '../decisions/conditions.ts';
import type { NotifierError } from '../errors.ts';
import { learnedBy } from './conclude.ts';
import { type ChangeTally, type DeliveryTally, type Done, stateOf } from './done.ts';
import type { Effort, Outcome } from './parts.ts';

export interface TickReport extends ChangeTally, DeliveryTally, Effort {
  readonly integration: string;
  readonly outcome: Outcome;
  /** Records without an id or a valid day. */
  readonly quarantined: number;
  /** Days read because of a difference or for an audit, with or without proof. */
  readonly examined: number;
  /** Days read, by kind of proof. */
  readonly proofs: ProofCounts;
  /** Open conditions that ops were told of, each with its number. */
  readonly conditions: Readonly<Partial<Record<ConditionName, number>>>;
  /** By how much the partner's total differs although no day does. */
  readonly unexplained: number;
  /** Certifications that the partner's list lacks and that are not withdrawn. */
  readonly missing: number;
  /** Changes that could not be committed. The tick did the rest; the next one tries again. */
  readonly failed: number;
  /** The cause of the first failed change, or of the disturbance. */
  readonly failure?: NotifierError | undefined;
  /** Stopped at a boundary because time was running out; the next tick goes on. */
  readonly cutShort: boolean;
}

export function reportOf(
  integration: string,
  done: Done,
  outcome: Outcome,
  effort: Effort,
): TickReport {
  const lasting = [...done.open].filter(([, condition]) => isLasting(condition));
  const { delivered, undelivered, undeliverable } = done.delivery;
  const { missing, unexplained } = { ...stateOf(done), ...learnedBy(done) };
  return {
    ...{ integration, outcome },
    ...done.tally,
    ...{ delivered, undelivered, undeliverable },
    examined: done.examined,
    proofs: done.searched?.calendar.proofsSince(done.searched.began) ?? {},
    quarantined: done.quarantined.size,
    conditions: Object.fromEntries(lasting.map(([name, { number }]) => [name, number])),
    unexplained,
    missing: missing?.total ?? 0,
    failed: done.failures,
    failure: done.failure,
    cutShort: done.time.isCutShort,
    ...effort,
  };
}
