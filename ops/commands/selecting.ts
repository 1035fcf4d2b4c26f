import { contract } from '../../lambda/commands/contract.ts';
import type { WaitingSelection } from '../../lambda/commands/shapes.ts';
import { follow } from '../following.ts';
import { answeredWithinMs } from '../progress.ts';
import { countedEvents, holdsSum, type WaitingCounts } from '../render/holds.ts';
import type { Session } from '../session.ts';
import type { OperateClient } from '../target/operate-client.ts';

const { command } = contract.holds;

/** The waiting events that a command is about. @param settings of the command; others are left out */
export function selectionIn(settings: Readonly<Record<string, unknown>>): WaitingSelection {
  const names = Object.keys(settings).filter((name) => name in command.shape);
  const selecting = names.map((name) => [name, settings[name]]);
  const { command: _, ...selection } = command.parse({
    ...Object.fromEntries(selecting),
    command: 'holds',
  });
  return selection;
}

/** The selected events. Only if none is selected is `altogether` another number: the count of all that wait. */
export interface SelectedEvents {
  readonly found: WaitingCounts;
  readonly altogether: number;
}

/**
 * Counts the selected events.
 *
 * @throws OpsError if the count stops early: it changes nothing, so there is no work to resume
 */
export async function countSelected(
  session: Session,
  client: OperateClient,
  selection: WaitingSelection,
  { list = false }: { readonly list?: boolean } = {},
): Promise<SelectedEvents> {
  const { waiting } = selection;
  using progress = session.progress('holds', answeredWithinMs);
  const count = async (some: WaitingSelection) => {
    const { stop } = session;
    const followed = await follow(client, 'holds', some, { stop, progress, sum: holdsSum });
    if (followed.stopped !== undefined) throw followed.stopped.cause;
    return countedEvents(followed.result, list);
  };
  const found = await count(selection);
  const isFiltered = Object.keys(selection).length > 1;
  if (found.events > 0 || !isFiltered) return { found, altogether: found.events };
  const { events: altogether } = await count({ waiting });
  return { found, altogether };
}
