import { commandLine } from '../../lambda/condition-table.ts';
import { historyColumns, historyRows } from '../../ops/render/status.ts';
import { commandForm, commandPath } from '../command-form.ts';
import { type Field, formOf, formPath, forms } from '../forms.ts';
import { type Html, live, table } from '../html.ts';
import { html } from '../library.ts';
import type { ConsolePage } from '../page.ts';
import { cell, spoken, viewOf } from '../view.ts';

/** Every command that ends by itself. */
export const commandListPage: ConsolePage = {
  path: 'commands',
  title: () => 'Commands',
  async content({ door, integration }) {
    const view = viewOf(door);
    const { history = [] } = await door.status(integration, { partner: false, history: true });
    const rows = historyRows(view, history).map((row) => row.map(cell));
    return html`<p>The commands of the command line, with its own questions before anything is changed.</p>
<dl>${forms().map(
      ({ command }) =>
        html`<div><dt><a href="${commandPath(integration, formPath(command))}">${command.usage}</a></dt><dd>${command.summary}</dd></div>`,
    )}</dl>
${live(
  'history',
  rows.length === 0
    ? html`<p>No command has changed anything yet.</p>`
    : table('Changes, and who made them', historyColumns, rows),
)}`;
  },
};

/** One command as a form, filled from the address. */
export const commandPage: ConsolePage = {
  path: 'commands/:command',
  under: 'commands',
  title: ({ command: name }) => formOf(name).command.usage,
  content({ door, integration, given }) {
    const { command, fields } = formOf(given['command']);
    const { usage, summary, details } = command;
    return html`<p>${summary}</p>${details ? html`<p class="faint">${spoken(details)}</p>` : ''}
${commandForm(
  integration,
  formPath(command),
  html`${fields.map((field) => shown(field, given[field.name] ?? ''))}
<p class="buttons"><button class="act">${usage}</button></p>`,
)}
<p class="faint">On the command line: <code>${commandLine({ ops: usage }, door.place(integration))}</code></p>`;
  },
};

function shown(
  { name, label, description, kind, isRequired, choices }: Field,
  value: string,
): Html {
  const required = isRequired ? html` required` : '';
  const text = html`<span>${label}${description === '' ? '' : html` <span class="faint">${description}</span>`}</span>`;
  if (kind === 'check')
    return html`<label class="check"><input type="checkbox" name="${name}" value="yes"${value === '' ? '' : html` checked`}>${text}</label>`;
  if (choices.length > 0)
    return html`<label>${text}<select name="${name}"${required}><option value=""></option>${choices.map(
      (choice) => html`<option${choice === value ? html` selected` : ''}>${choice}</option>`,
    )}</select></label>`;
  const type = kind === 'secret' ? 'password' : 'text';
  return html`<label>${text}<input type="${type}" name="${name}" value="${kind === 'secret' ? '' : value}"${required}></label>`;
}
