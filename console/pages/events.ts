import * as z from 'zod';
import type { ResultOf } from '../../lambda/commands/contract.ts';
import { delivery } from '../../lambda/commands/lives.ts';
import { kind } from '../../lambda/commands/shapes.ts';
import { events as eventsCommand } from '../../ops/commands/events.ts';
import { deliveries } from '../../ops/render/explain.ts';
import { assessmentNamed } from '../../ops/render/text.ts';
import { moment } from '../../ops/render/time.ts';
import { addressOf } from '../command-form.ts';
import type { DeliveredEvent } from '../door.ts';
import { filterIn, settingsAsked } from '../forms.ts';
import { type Html, live, table } from '../html.ts';
import { pathOf } from '../layout.ts';
import { html } from '../library.ts';
import type { ConsolePage } from '../page.ts';
import { cell, viewOf } from '../view.ts';
import { payloadPath } from './local.ts';

/** The parts of `next` that the page uses. */
const cursor = z.object({ from: z.string().optional(), after: z.string().optional() });

/** Events that were announced or are held, newest first, each with a link to the life of its certification. */
export const eventsPage: ConsolePage = {
  path: 'events',
  title: () => 'Events',
  async content({ door, integration, given }) {
    const view = viewOf(door);
    const { after } = given;
    const answer = await door.ask(integration, 'events', {
      ...settingsAsked('events', eventsCommand, given),
      ...(after !== undefined && { after }),
    });
    const columns = [
      'When',
      'Type',
      'Assessment',
      'Certified on',
      'Organization',
      'Name',
      'Delivery',
    ];
    const received = new Map(door.local?.events.map((one) => [one.id, one]));
    const rows = answer.events.map((one) => [
      moment(one.at, view),
      [one.type, ...(one.late ? ['late'] : []), ...one.changed].join(', '),
      html`<a href="${pathOf(integration, `certifications/${one.id}`)}">${one.id}</a>, revision ${one.revision}${received.has(one.event) ? html` <a href="${payloadPath(one.event)}">payload</a>` : ''}`,
      one.day,
      String(one.organization_id ?? 'none'),
      assessmentNamed(one.assessment_name),
      html`${cell(deliveries[one.delivery])}${gotBy(received.get(one.event))}`,
    ]);
    const filter = filterIn('events', given);
    const older = olderThan(answer, filter);
    const shown =
      rows.length === 0
        ? html`<p>No event of these days matches.</p>`
        : table(
            'Events, newest first',
            columns.map((title) => ({ title })),
            rows,
          );
    return html`${filterForm(integration, filter)}
${filter['from'] || filter['to'] ? '' : html`<p class="faint">The last seven days. Give From and To for others.</p>`}
${live(
  'events',
  html`${shown}${
    answer.unreadable === 0
      ? ''
      : html`<p class="warning">Certifications that cannot be read: ${answer.unreadable}</p>`
  }${
    older === undefined
      ? ''
      : html`<p><a href="${addressOf(pathOf(integration, 'events'), older)}">Older events</a></p>`
  }`,
)}`;
  },
};

/** The subscriptions whose filter let it through. */
const gotBy = (event: DeliveredEvent | undefined) =>
  event === undefined ? '' : html`, got by ${event.by.join(', ')}`;

/** The query of the next page. It keeps the first page's days, although today may be another day by then. */
function olderThan(
  { next }: ResultOf<'events'>,
  filter: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  if (next === undefined) return undefined;
  const { from = '', after = '' } = cursor.parse(next);
  return { ...filter, from, after };
}

function filterForm(integration: string, filter: Readonly<Record<string, string>>): Html {
  const field = (name: string, label: string, type = 'text') =>
    html`<label>${label}<input type="${type}" name="${name}" value="${filter[name] ?? ''}" size="12"></label>`;
  const choice = (name: string, label: string, options: readonly string[]) =>
    html`<label>${label}<select name="${name}"><option value="">any</option>${options.map((one) => html`<option${one === filter[name] ? html` selected` : ''}>${one}</option>`)}</select></label>`;
  return html`<form class="row" method="get" action="${pathOf(integration, 'events')}">
${field('from', 'From', 'date')}${field('to', 'To', 'date')}
${choice('type', 'Type', kind.options)}${field('organization', 'Organizations')}${field('assessment', 'Name of the assessment')}
${choice('delivery', 'Delivery', delivery.options)}
<label>Late only<input type="checkbox" name="late" value="yes"${filter['late'] ? html` checked` : ''}></label>
<button>Show these only</button>${Object.keys(filter).length === 0 ? '' : html`<a href="${pathOf(integration, 'events')}">Show all</a>`}
</form>`;
}
