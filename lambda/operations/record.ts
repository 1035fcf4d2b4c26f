import { isDeepStrictEqual } from 'node:util';
import { type CommandRecord, commandSettings } from '../ports/command-record.ts';
import type { Answer } from './answer.ts';
import { type Command, type CommandName, isChanging, type ResultOf } from './contract.ts';
import type { Call, OperationParts } from './parts.ts';

/** A command of any kind, which may say who asks, and what it is to be called. */
type Named = Pick<Command, 'command'> & {
  readonly by?: string | undefined;
  readonly operation?: string | undefined;
};
type RecordingParts = Pick<OperationParts, 'opsLedger' | 'clock' | 'journal'>;

/**
 * Notes a command that changes something, before it is carried out. One that goes on in several calls
 * is noted once, by the first: only what goes on with what that one has noted belongs to it.
 * @returns its record; `undefined` when it only looks
 */
export async function record(
  { opsLedger, clock }: RecordingParts,
  command: Command,
  { id }: Pick<Call, 'id'>,
): Promise<CommandRecord | undefined> {
  if (!isChanging(command)) return undefined;
  const { command: name, by, operation: chosen, ...settings }: Named = command;
  const noted = {
    ...(by !== undefined && { by }),
    command: name,
    settings: commandSettings.parse(briefly(settings)),
  };
  const begun = chosen && (await opsLedger.recorded()).find(isCalled(chosen));
  if (begun && goesOnWith(begun, noted)) return begun;
  const at = clock.now().toString({ smallestUnit: 'millisecond' });
  // The caller may choose its last part, and so knows it when the answer is lost; never the time.
  const last = begun ? id : chosen?.split('/').at(-1);
  const begins = { operation: `${at}/${last ?? id}`, at, ...noted };
  await opsLedger.record(begins);
  return begins;
}

const isCalled = (name: string) => (record: CommandRecord) =>
  record.operation === name || record.operation.endsWith(`/${name}`);

type Noted = Pick<CommandRecord, 'by' | 'command' | 'settings'>;

function goesOnWith(begun: Noted, noted: Noted): boolean {
  return isDeepStrictEqual(meantBy(begun), meantBy(noted));
}

/** The same in each call of a command, which differ in how far it has come. */
function meantBy({ by, command, settings }: Noted) {
  const { after: _, since: __, stored: ___, ...meant } = settings;
  return { by, command, meant };
}

/** What came of it, by its last call so far. */
export async function conclude(
  { opsLedger, clock }: RecordingParts,
  { operation, command, outcome: before }: CommandRecord,
  answer: Answer<ResultOf<CommandName>>,
): Promise<void> {
  const code = answer.ok ? undefined : answer.problem.code;
  const { result } = answer;
  const next = result && 'next' in result ? result.next : undefined;
  const changed = before?.changed === true || (result && hasChanged(command, result));
  await opsLedger.conclude(operation, {
    at: clock.now().toString(),
    ok: answer.ok,
    ...(code !== undefined && { code }),
    ...(changed !== undefined && { changed }),
    ...(next && { rest: next.after === undefined ? {} : { after: next.after } }),
  });
}

/**
 * By what each result calls it; what has been read again counts as well. Stored credentials are others
 * than before, whether or not anything had to wait for them.
 */
function hasChanged(command: string, result: ResultOf<CommandName>): boolean {
  if (command === 'credentials-stored') return !('next' in result);
  if ('changed' in result) return result.changed;
  if ('events' in result) return result.events > 0;
  if ('outcome' in result) return result.outcome === 'completed' || result.outcome === 'baseline';
  return true;
}

/** Of a list that is kept: a thousand ids, or days, would not fit into an item or a line. */
const listed = 20;

/** The same value, with the beginnings of its lists only. */
export function brief(value: unknown): unknown {
  if (Array.isArray(value)) {
    const shown = value.slice(0, listed).map(brief);
    return value.length <= listed ? shown : [...shown, `and ${value.length - listed} more`];
  }
  return typeof value === 'object' && value !== null ? briefly(value) : value;
}

/** What is undefined is left out. */
export function briefly(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (one === undefined ? [] : [[name, brief(one)]])),
  );
}
