import { randomUUID } from 'node:crypto';
import { UsageError } from '../ops/errors.ts';
import type { Html } from './html.ts';
import { pathOf } from './layout.ts';
import { type Context, html } from './library.ts';

/** The page of a command, and where its form is sent to. @param command as `formPath` names it */
export const commandPath = (integration: string, command: string): string =>
  pathOf(integration, `commands/${command}`);

/**
 * A form that has a command carried out, which shows first what it would do, and asks. Its fields have the names of
 * the command's options. A form that is sent twice means one run.
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

/** What a form was filled in with; of a name that comes twice, the last value. */
export async function filledIn({ req }: Context): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(await req.text()));
}

/** The run that a form of this console means. @throws UsageError */
export function runIn({ run = '' }: Readonly<Record<string, string>>): string {
  if (/^[\da-f-]{36}$/.test(run)) return run;
  throw new UsageError(
    'This is no form of the console.',
    'Open its page again, and send it there.',
  );
}

/** What is said without being asked for. */
export const hiddenFields = (fields: Readonly<Record<string, string>>): Html =>
  html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;

/** A page with what its address says behind the `?`; what is empty is left out. */
export function addressOf(path: string, given: Readonly<Record<string, string>>): string {
  const said = Object.entries(given).filter(([, value]) => value !== '');
  return said.length === 0 ? path : `${path}?${new URLSearchParams(said)}`;
}
