import { randomUUID } from 'node:crypto';
import { UsageError } from '../ops/errors.ts';
import { formFilled, formPath } from './forms.ts';
import type { Html } from './html.ts';
import { ofIntegration, pathOf } from './layout.ts';
import { type Context, html } from './library.ts';

/** The page of a command, and the target of its form. @param command as `formPath` names it */
export const commandPath = (integration: string, command: string): string =>
  pathOf(integration, `commands/${command}`);

/**
 * A form that gives a command. The command shows its effect first, and asks. The fields have the names of the command's
 * options. A form that is sent twice means one run.
 */
export function commandForm(
  integration: string,
  command: string,
  content: Html,
  kind: 'fields' | 'row' | 'buttons' = 'fields',
): Html {
  return html`<form class="${kind}" method="post" action="${commandPath(integration, command)}" autocomplete="off">
<input type="hidden" name="run" value="${randomUUID()}">
${content}
</form>`;
}

/** The fields of a form; if a name comes twice, the last value counts. */
export async function filledIn({ req }: Context): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(await req.text()));
}

/** The id of the run, from a form of this console. @throws UsageError */
export function runIn({ run = '' }: Readonly<Record<string, string>>): string {
  if (/^[\da-f-]{36}$/.test(run)) return run;
  throw new UsageError(
    'This is no form of the console.',
    'Open its page again, and send it there.',
  );
}

/** Pages that show the answers of commands that only look. */
const pages: Readonly<Record<string, string>> = { status: 'now', holds: 'held', prove: 'proof' };

/** Leads to the page or the form of a command, as an advice names it with its options. */
export function commandLink(integration: string, line: string): Html {
  const { command, filled } = formFilled(line);
  const { [command.usage]: page } = pages;
  const path = page ? pathOf(integration, page) : commandPath(integration, formPath(command));
  const [, name = command.usage] = ofIntegration.find(([one]) => one === page) ?? [];
  return html`<a href="${addressOf(path, filled)}">${name}</a>`;
}

/** Fields that the user does not see. */
export const hiddenFields = (fields: Readonly<Record<string, string>>): Html =>
  html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;

/** The address of a page with its query; empty values are left out. */
export function addressOf(path: string, given: Readonly<Record<string, string>>): string {
  const said = Object.entries(given).filter(([, value]) => value !== '');
  return said.length === 0 ? path : `${path}?${new URLSearchParams(said)}`;
}
