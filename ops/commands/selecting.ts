import type { Command } from 'commander';
import * as z from 'zod';
import type { WaitingSelection } from '../../lambda/commands/shapes.ts';
import { follow } from '../following.ts';
import { ids, kindsSchema, typeOption, years } from '../options.ts';
import { answeredWithinMs } from '../progress.ts';
import { countedEvents, holdsSum, type WaitingCounts } from '../render/holds.ts';
import type { Session } from '../session.ts';
import type { OperateClient } from '../target/operate-client.ts';

/** The options that select events which wait for ops. */
export const selecting = (command: Command) =>
  command
    .option('--undeliverable', 'those that SNS has refused for good, instead of those held')
    .option('--organization <ids>', 'of these organizations', ids)
    .option('--year <years>', 'certified in these years', years)
    .addOption(typeOption('of these types'))
    .option('--id <ids>', 'of these assessments', ids);

export const selectionSettings = {
  undeliverable: z.boolean().default(false),
  organization: z.array(z.int()).optional(),
  year: z.array(z.int()).optional(),
  type: kindsSchema,
  id: z.array(z.int()).optional(),
};

type Selecting = z.output<z.ZodObject<typeof selectionSettings>>;

export function selectionOf(options: Selecting): WaitingSelection {
  const { undeliverable, organization, year, type, id } = options;
  return {
    waiting: undeliverable ? 'undeliverable' : 'held',
    ...(organization !== undefined && { organizations: organization }),
    ...(year !== undefined && { years: year }),
    ...(type !== undefined && { types: type }),
    ...(id !== undefined && { ids: id }),
  };
}

/** The options of the command line that select the same events. */
export function optionsOf({ undeliverable, organization, year, type, id }: Selecting): string {
  const lists = Object.entries({ organization, year, type, id }).flatMap(([name, values]) =>
    values === undefined ? [] : [` --${name} ${values.join(',')}`],
  );
  return [undeliverable ? ' --undeliverable' : '', ...lists].join('');
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
