import * as z from 'zod/mini';
import { type ConditionName, conditionNames } from '../detection/conditions.ts';
import { nothingMissing } from '../detection/missing.ts';
import { type LeasedState, memory, type State, type StateChanges, state } from '../ports/state.ts';
import { attributesOf, fieldsOf, nameOf, parse } from './item.ts';
import type { Plain } from './table.ts';

export const stateKey = (integration: string) => `STATE#${integration}`;

export const memoryKey = (integration: string) => `MEMORY#${integration}`;

/** A top-level attribute each, so that ticks that overlap do not undo each other's. */
const conditionAttribute = (name: ConditionName) => `condition:${name}`;

/** @throws LedgerCorruptError */
export function parseState(item: Plain): State {
  const conditions = conditionNames
    .map((name) => [name, item[conditionAttribute(name)]] as const)
    .filter(([, open]) => open !== undefined);
  return parse(state, { ...fieldsOf(item), conditions: new Map(conditions) }, nameOf(item));
}

/** @throws LedgerCorruptError */
export function parseLeased(stateItem: Plain, memoryItem: Plain): LeasedState {
  const { missing, ...known } = parseState(stateItem);
  const { missing: noted, gate } = parse(memory, fieldsOf(memoryItem), nameOf(memoryItem));
  return {
    ...known,
    gate,
    ...(missing && { missing: { ...nothingMissing, ...noted, ...missing } }),
  };
}

/** What of these changes is in the state item; each schema takes its own. */
export const stateAttributes = ({ conditions = new Map(), ...fields }: StateChanges): Plain => ({
  ...attributesOf(z.encode(z.partial(state), fields)),
  ...Object.fromEntries([...conditions].map(([name, open]) => [conditionAttribute(name), open])),
});

export const memoryAttributes = (fields: StateChanges): Plain =>
  attributesOf(z.encode(z.partial(memory), fields));
