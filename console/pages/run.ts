import { commandLine } from '../../lambda/condition-table.ts';
import { NotFoundError } from '../../ops/errors.ts';
import { shellQuoted } from '../../ops/render/text.ts';
import { moment } from '../../ops/render/time.ts';
import { type Html, live } from '../html.ts';
import { html } from '../library.ts';
import type { ConsolePage } from '../page.ts';
import { type Run, runPath } from '../runs.ts';
import { terminalText } from '../terminal-text.ts';
import { viewOf } from '../view.ts';

/** One command that was given here: its output, its question, and its end. */
export const runPage: ConsolePage = {
  path: 'runs/:id',
  under: 'commands',
  title: () => 'Command',
  content({ door, integration, given, runs }) {
    const run = runs.get(given['id'] ?? '');
    if (run === undefined || run.integration !== integration)
      throw new NotFoundError(
        'This console does not remember that command.',
        'status --history lists the commands that changed something.',
      );
    const line = commandLine({ ops: run.argv.map(shellQuoted).join(' ') }, door.place(integration));
    return html`<p><code>${line}</code> <span class="faint">${moment(run.startedAt, viewOf(door))}</span></p>
${live('run', html`${run.told === '' ? '' : terminalText(run.told)}${outcome(run, runPath(run))}`)}`;
  },
};

function outcome({ question, exitCode }: Run, path: string): Html {
  if (exitCode !== undefined)
    return exitCode === 0
      ? html`<p class="verdict good" role="status">It has ended.</p>`
      : html`<p class="verdict bad" role="status">It has ended with ${exitCode}.</p>`;
  const button = (answer: string, text: string, kind = '') =>
    html`<button name="answer" value="${answer}" class="${kind}">${text}</button>`;
  const buttons =
    question === undefined
      ? button('stop', 'Stop')
      : html`${button('yes', 'Yes', 'act')} ${button('no', 'No')}`;
  return html`${question === undefined ? html`<p role="status">It is under way.</p>` : html`<p class="verdict warning" role="status">${question}</p>`}
<form method="post" action="${path}"><p class="buttons">${buttons}</p></form>`;
}
