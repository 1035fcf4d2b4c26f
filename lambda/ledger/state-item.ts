import * as z from 'zod/mini';
import { type ConditionName, conditionNames } from '../detection/conditions.ts';
import { type State, type StateChanges, state } from '../ports/state.ts';
import { updateOf } from './expressions.ts';
import { attributesOf, fieldsOf, nameOf, parse } from './item.ts';
import type { Plain } from './table.ts';

export const stateKey = (integration: string) => `STATE#${integration}`;

/** A top-level attribute each, so that ticks that overlap do not undo each other's. */
const conditionAttribute = (name: ConditionName) => `condition:${name}`;

/** @throws LedgerCorruptError */
export function parseState(item: Plain): State {
  const conditions = conditionNames
    .map((name) => [name, item[conditionAttribute(name)]] as const)
    .filter(([, open]) => open !== undefined);
  return parse(state, { ...fieldsOf(item), conditions: new Map(conditions) }, nameOf(item));
}

/** The update of the state item that makes these changes. */
export function stateUpdate({ conditions = new Map(), ...fields }: StateChanges) {
  return updateOf({
    ...attributesOf(z.encode(z.partial(state), fields)),
    ...Object.fromEntries([...conditions].map(([name, open]) => [conditionAttribute(name), open])),
  });
}
