import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './answer.ts';
import type { Command } from './command.ts';
import { contract } from './contract.ts';
import type { CommandRecord } from './ops-ledger.ts';
import type { Call, OperationParts } from './parts.ts';

type RecordingParts = Pick<OperationParts, 'opsLedger' | 'clock'>;

/** Of a list in a record: a thousand ids each would not fit into one item. */
const listed = 20;

/**
 * Notes a command that changes something, before it is carried out. One that goes on in several calls
 * is noted once, by the first: only what goes on with what that one has noted belongs to it.
 * @returns the name of its record; `undefined` when it changes nothing
 */
export async function record(
  { opsLedger, clock }: RecordingParts,
  command: Command,
  { id }: Pick<Call, 'id'>,
): Promise<string | undefined> {
  if (!isChanging(command)) return undefined;
  const { command: name, ...settings } = command;
  const by = 'by' in command ? command.by : undefined;
  const noted = { ...(by !== undefined && { by }), command: name, settings: brief(settings) };
  if ('operation' in command && command.operation !== undefined) {
    const begun = (await opsLedger.recorded()).find(isCalled(command.operation));
    if (begun !== undefined && isDeepStrictEqual(meantBy(begun), meantBy(noted)))
      return begun.operation;
  }
  const at = clock.now().toString({ smallestUnit: 'millisecond' });
  const operation = `${at}/${id}`;
  await opsLedger.record({ operation, at, ...noted });
  return operation;
}

const isCalled = (name: string) => (record: CommandRecord) => record.operation === name;

/** The same in each call of a command, which differ in how far it has come. */
function meantBy({ by, command, settings }: Pick<CommandRecord, 'by' | 'command' | 'settings'>) {
  const { after: _, since: __, ...meant } = settings;
  return { by, command, meant };
}

/** What came of it, by its last call so far. */
export async function conclude(
  { opsLedger, clock }: RecordingParts,
  operation: string,
  answer: Answer,
): Promise<void> {
  const code = answer.ok ? undefined : answer.problem.code;
  await opsLedger.conclude(operation, {
    at: clock.now().toString(),
    ok: answer.ok,
    ...(code !== undefined && { code }),
  });
}

function isChanging(command: Command): boolean {
  if (command.command === 'prove') return command.now;
  if (command.command === 'replay') return !command.dryRun;
  return contract[command.command].changes;
}

function brief(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { by: _, operation: __, ...told } = settings;
  return Object.fromEntries(
    Object.entries(told)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => {
        if (!Array.isArray(value) || value.length <= listed) return [name, value];
        return [name, [...value.slice(0, listed), `and ${value.length - listed} more`]];
      }),
  );
}
