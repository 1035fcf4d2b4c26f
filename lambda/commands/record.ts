import { isDeepStrictEqual } from 'node:util';
import { type CommandRecord, commandSettings } from '../decisions/command-record.ts';
import {
  type Command,
  type CommandAnswer,
  type CommandName,
  definitions,
  isChanging,
  type ResultOf,
} from './contract.ts';
import type { Call, OperationParts } from './parts.ts';

type RecordingParts = Pick<OperationParts, 'opsLedger' | 'clock' | 'journal'>;

/**
 * Notes a changing command before it is carried out. A command that takes several calls is noted
 * once, by the first call. A later call belongs to it only if it means the same.
 *
 * @returns its record; `undefined` if it only looks
 */
export async function record(
  { opsLedger, clock }: RecordingParts,
  command: Command,
  { id }: Pick<Call, 'id'>,
): Promise<CommandRecord | undefined> {
  if (!isChanging(command.command, command)) return undefined;
  const { command: name, operation: chosen, ...others } = { operation: undefined, ...command };
  const { by, ...settings } = commandSettings.parse(briefly(others));
  const noted = { ...(typeof by === 'string' && { by }), command: name, settings };
  const isCalled = ({ operation }: CommandRecord) =>
    operation === chosen || operation.endsWith(`/${chosen}`);
  const begun = chosen && (await opsLedger.recorded()).find(isCalled);
  if (begun && isDeepStrictEqual(meantBy(begun), meantBy(noted))) return begun;
  const at = clock.now().toString({ smallestUnit: 'millisecond' });
  // The caller may choose the last part of the name, and so knows it if the answer is lost. The
  // caller never chooses the time.
  const last = begun ? id : chosen?.split('/').at(-1);
  const begins = { operation: `${at}/${last ?? id}`, at, ...noted };
  await opsLedger.record(begins);
  return begins;
}

/** The settings that are the same in each call of a command; the others say how far it has come. */
function meantBy({ by, command, settings }: Pick<CommandRecord, 'by' | 'command' | 'settings'>) {
  const { after: _, since: __, stored: ___, ...meant } = settings;
  return { by, command, meant };
}

/**
 * Notes the outcome of its last call so far. A failure is only logged: the command is done, and the
 * caller needs the answer to go on.
 */
export async function conclude<Name extends CommandName>(
  { opsLedger, clock, journal }: RecordingParts,
  { operation, outcome: before }: CommandRecord,
  name: Name,
  answer: CommandAnswer<ResultOf<Name>>,
): Promise<void> {
  const code = answer.ok ? undefined : answer.problem.code;
  const { result } = answer;
  const next = result && 'next' in result ? result.next : undefined;
  const { hasChanged = hasNotSaidOtherwise } = definitions[name];
  const changed = before?.changed === true || (result && hasChanged(result));
  const outcome = { at: clock.now().toString(), ok: answer.ok, code, changed };
  try {
    await opsLedger.conclude(operation, { ...outcome, rest: next && { after: next.after } });
  } catch (error) {
    journal.warn('outcome not recorded', { operation, error });
  }
}

const hasNotSaidOtherwise = (result: object) => !('changed' in result) || result.changed !== false;

/** Limit for a list in a record: a thousand ids, or days, would not fit into an item or a line. */
const listed = 20;

/** The same value, with the beginnings of its lists only. */
export function brief(value: unknown): unknown {
  if (Array.isArray(value)) {
    const shown = value.slice(0, listed).map(brief);
    return value.length <= listed ? shown : [...shown, `and ${value.length - listed} more`];
  }
  return typeof value === 'object' && value !== null ? briefly(value) : value;
}

/** Undefined values are left out. */
export function briefly(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (one === undefined ? [] : [[name, brief(one)]])),
  );
}
