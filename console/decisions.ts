import type { WaitingSelection } from '../lambda/commands/shapes.ts';
import { commandForm, commandPath, hiddenFields } from './command-form.ts';
import type { Html } from './html.ts';
import { html } from './library.ts';

/** Values by the names of the options that select events which wait for ops. */
export type SelectedOptions = Readonly<Record<string, string>>;

interface Decision {
  readonly waits: WaitingSelection['waiting'];
  readonly selected: SelectedOptions;
  /** The selection in words, for people who do not see the row of the buttons. */
  readonly of: string;
}

/** The decisions of ops about a selection of waiting events, as commands of the command line. */
export function decisionForm(integration: string, { waits, selected, of }: Decision): Html {
  const button = (text: string, more: Html | string = '') =>
    html`<button aria-label="${text}: ${of}"${more}>${text}</button>`;
  const discard = html` formaction="${commandPath(integration, 'discard')}"`;
  const buttons =
    waits === 'held'
      ? html`${button('Release')}${button('As digest', html` name="digest" value="yes"`)}${button('Discard', discard)}`
      : html`${button('Try again')}${button('Discard', discard)}`;
  const fields = { ...selected, ...(waits === 'undeliverable' && { undeliverable: 'yes' }) };
  return commandForm(integration, 'release', html`${hiddenFields(fields)}${buttons}`, 'buttons');
}
