import { commandLine, noticed } from '../../lambda/condition-table.ts';
import type { View } from '../../ops/render/layout.ts';
import { type AdvisedStatus, verdict } from '../../ops/render/status.ts';
import { amount } from '../../ops/render/text.ts';
import { momentAndDistance, told } from '../../ops/render/time.ts';
import { commandLink, commandPath } from '../command-form.ts';
import type { Door, LocalDoor } from '../door.ts';
import { facts, type Html, live, toned } from '../html.ts';
import { html } from '../library.ts';
import type { ConsolePage } from '../page.ts';
import { viewOf } from '../view.ts';

/** Open notices, in the words of the table of conditions. */
export const noticesPage: ConsolePage = {
  path: 'notices',
  title: () => 'Notices',
  async content({ door, integration }) {
    const view = viewOf(door);
    const status = await door.status(integration, { partner: false });
    return html`${live('open-notices', open(view, status, door, integration))}
${live('self-check', selfCheck(view, status, integration))}
${door.local === undefined ? '' : live('told', toldLocally(view, door.local, integration))}`;
  },
};

/** The notices that operations of `npm start` got, the newest first. A deployment does not store notices. */
function toldLocally(view: View, { notices }: LocalDoor, integration: string): Html {
  const its = notices.filter(({ subject }) => subject.startsWith(`${integration}: `));
  const all = its.map(
    ({ subject, text, receivedAt }) => html`<article class="panel">
<h3>${subject}</h3><p class="faint">${momentAndDistance(receivedAt, view)}</p><pre>${text}</pre></article>`,
  );
  return html`<section aria-labelledby="told-title"><h2 id="told-title">Notices that operations got</h2>
${all.length === 0 ? html`<p>Nothing yet.</p>` : all}</section>`;
}

function open(view: View, status: AdvisedStatus, door: Door, integration: string): Html {
  const { conditions, toDo = [] } = status;
  const [tone, gist] = verdict(view, status);
  const untold =
    toDo.length === 0
      ? html``
      : html`<p class="${tone}">${gist}</p><ul>${toDo.map((what) => html`<li>${told(what, view)}</li>`)}</ul>`;
  const all = conditions.map((condition) => notice(view, condition, door, integration));
  return html`<section aria-labelledby="open-title"><h2 id="open-title">Open notices</h2>
${conditions.length === 0 ? html`<p>No notice is open.</p>` : all}${untold}</section>`;
}

type Open = AdvisedStatus['conditions'][number];

function notice(
  view: View,
  { name, since, number, toldAt }: Open,
  door: Door,
  integration: string,
): Html {
  const { title, happened, impact, likely, counts, over, toDo, command } = noticed[name];
  return html`<article class="panel" aria-labelledby="notice-${name}"><h3 id="notice-${name}" class="bad">${title}</h3>
<p>${happened} ${impact}</p>
${facts([
  ['since', momentAndDistance(since, view)],
  [counts ?? 'number', counts === undefined && number <= 1 ? undefined : amount(number)],
  [
    'told to operations',
    toldAt === undefined ? toned('warning', 'still to be told') : momentAndDistance(toldAt, view),
  ],
  ['most likely', likely],
  ['to do', toDo],
  ['command', command && commandTold(command, door, integration)],
  ['it is over when', over],
])}</article>`;
}

function commandTold(
  command: NonNullable<(typeof noticed)[Open['name']]['command']>,
  door: Door,
  integration: string,
): Html {
  const line = html`<code>${commandLine(command, door.place(integration))}</code>`;
  if (!('ops' in command)) return line;
  return html`${commandLink(integration, command.ops)}, or ${line}`;
}

function selfCheck(view: View, { selfCheck: last }: AdvisedStatus, integration: string): Html {
  const failed = Object.entries(last?.failed ?? {});
  const again = html`<p><a href="${commandPath(integration, 'check')}">Check now</a></p>`;
  return html`<section aria-labelledby="check-title"><h2 id="check-title">The last self-check</h2>
${
  last === undefined
    ? html`<p>None yet.</p>`
    : html`<p>${momentAndDistance(last.at, view)}: ${failed.length === 0 ? toned('good', 'passed') : toned('bad', `${failed.length} failed`)}</p>`
}${failed.length === 0 ? '' : facts(failed)}${again}</section>`;
}
