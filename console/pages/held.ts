import type { ResultOf } from '../../lambda/commands/contract.ts';
import { kind, type WaitingSelection } from '../../lambda/commands/shapes.ts';
import { holds } from '../../ops/commands/holds.ts';
import { selectionIn } from '../../ops/commands/selecting.ts';
import {
  countedEvents,
  holdingTold,
  holdsFacts,
  holdsGist,
  noneTold,
  type WaitingCounts,
} from '../../ops/render/holds.ts';
import type { View } from '../../ops/render/layout.ts';
import { amount, count } from '../../ops/render/text.ts';
import { moment } from '../../ops/render/time.ts';
import { addressOf, commandForm, hiddenFields } from '../command-form.ts';
import { decisionForm, type SelectedOptions } from '../decisions.ts';
import { filterIn, settingsAsked } from '../forms.ts';
import { facts, type Html, live, table } from '../html.ts';
import { pathOf } from '../layout.ts';
import { html } from '../library.ts';
import type { ConsolePage, PageRequest } from '../page.ts';
import { cell, viewOf } from '../view.ts';

/** The rows of a table that are shown; the filters lead to the others. */
const rowsShown = 100;
/**
 * Up to so many events, the page is live. More are counted on request: to list 10,000 takes the function seconds, and
 * it reads each of them.
 */
const putAnewUpTo = 1_000;

/** The events that wait for a decision of ops, counted, with the decision about each count. */
export const heldPage: ConsolePage = {
  path: 'held',
  title: () => 'Held',
  async content(asked) {
    const { door, integration, given } = asked;
    const { undeliverable: _, ...filter } = filterIn('holds', given);
    const chosen = selectionIn(settingsAsked('holds', holds, filter));
    const view = viewOf(door);
    const parts = { view, integration, filter };
    const held = await waiting(asked, { ...chosen, waiting: 'held' });
    const refused = await waiting(asked, { ...chosen, waiting: 'undeliverable' });
    const isLive = held.found.events + refused.found.events <= putAnewUpTo;
    const part = isLive
      ? live
      : (id: string, content: Html) => html`<div id="${id}">${content}</div>`;
    return html`${filterForm(integration, parts.filter)}
${isLive ? '' : stillHere(integration, parts.filter)}
<section aria-labelledby="held-title"><h2 id="held-title">Held as a flood</h2>
${part('held', told(held, 'held', parts))}</section>
<section aria-labelledby="undeliverable-title"><h2 id="undeliverable-title">Refused by SNS for good</h2>
${part('undeliverable', told(refused, 'undeliverable', parts))}</section>`;
  },
};

function stillHere(integration: string, filter: SelectedOptions): Html {
  return html`<p class="faint">So many events are not counted anew automatically. <a href="${addressOf(pathOf(integration, 'held'), filter)}">Look again</a></p>`;
}

interface Waiting {
  readonly found: WaitingCounts;
  /** All that wait, if the filter matches none. */
  readonly altogether: number;
  /** One answer does not hold all. */
  readonly isPart: boolean;
}

interface Parts {
  readonly view: View;
  readonly integration: string;
  readonly filter: SelectedOptions;
}

/** One answer, with up to ten thousand events: a live page reads no more. */
async function waiting(
  { door, integration }: PageRequest,
  selection: WaitingSelection,
): Promise<Waiting> {
  const ask = (some: WaitingSelection): Promise<ResultOf<'holds'>> =>
    door.ask(integration, 'holds', some);
  const one = await ask(selection);
  const found = countedEvents(one, true);
  const isPart = one.next !== undefined;
  const isFiltered = Object.keys(selection).length > 1;
  if (found.events > 0 || !isFiltered) return { found, altogether: found.events, isPart };
  const { list } = await ask({ waiting: selection.waiting });
  return { found, altogether: list.length, isPart };
}

function filterForm(integration: string, filter: SelectedOptions): Html {
  const text = (name: string, label: string) =>
    html`<label>${label}<input name="${name}" value="${filter[name] ?? ''}" size="12"></label>`;
  return html`<form class="row" method="get" action="${pathOf(integration, 'held')}">
${text('organization', 'Organizations')}${text('year', 'Certified in')}
<label>Type<select name="type"><option value="">any</option>${kind.options.map((one) => html`<option${one === filter['type'] ? html` selected` : ''}>${one}</option>`)}</select></label>
${text('id', 'Assessments')}
<button>Show these only</button>${Object.keys(filter).length === 0 ? '' : html`<a href="${pathOf(integration, 'held')}">Show all</a>`}
</form>`;
}

function told(
  { found, altogether, isPart }: Waiting,
  waits: WaitingSelection['waiting'],
  parts: Parts,
): Html {
  const { view, integration, filter } = parts;
  const more = isPart ? partOnly(integration, waits, filter) : html``;
  // The rest may still match.
  if (found.events === 0 && isPart) return more;
  const holding = found.holding ? stillHolding(view, integration, found.holding) : html``;
  if (found.events === 0)
    return html`${noneTold(found, altogether, waits).map((one) => html`<p>${cell(one)}</p>`)}${holding}`;
  const { events, of } = holdsGist(found, waits);
  const which = Object.keys(filter).length === 0 ? 'all events' : 'the shown events';
  return html`<p><strong>${events}</strong>${of}</p>${more}${holding}
${facts(holdsFacts(view, found))}
${decisionForm(integration, { waits, selected: filter, of: which })}
<div class="columns">${byOrganization(found, waits, parts)}<div>${byYear(found, waits, parts)}${byType(found, waits, parts)}</div></div>
${list(found, waits, parts)}`;
}

/** The gate still holds new events. */
function stillHolding(
  view: View,
  integration: string,
  holding: NonNullable<WaitingCounts['holding']>,
) {
  const open = html`${hiddenFields({ for: '1h' })}<button>Release all, and new ones for an hour</button>`;
  return html`<p class="warning">${holdingTold(view, holding)}.</p>
${commandForm(integration, 'release', open, 'buttons')}`;
}

function partOnly(
  integration: string,
  waits: WaitingSelection['waiting'],
  filter: SelectedOptions,
): Html {
  const fields = { ...filter, ...(waits === 'undeliverable' && { undeliverable: 'yes' }) };
  const all = html`${hiddenFields(fields)}<button>Count all</button>`;
  return html`<p class="warning">One answer does not hold all waiting events: these are the first. A decision covers all of them.</p>
${commandForm(integration, 'holds', all, 'buttons')}`;
}

/** A count of events, which the filter of this name selects. */
interface Counted {
  /** Null: no filter selects records without an organization. */
  readonly value: string | number | null;
  readonly of: string;
  readonly events: number;
  /** Stands behind the value. */
  readonly named?: string;
}

function counts(
  waits: WaitingSelection['waiting'],
  { integration, filter }: Parts,
  { by, title: heading, noun, all }: { by: string; title: string; noun: string; all: Counted[] },
) {
  const shown = all.slice(0, rowsShown);
  const columns = [{ title: heading }, { title: 'Events', isNumber: true }, { title: 'Decision' }];
  const rows = shown.map(({ value, of, events, named = '' }) => {
    if (value === null) return ['none', amount(events), ''];
    const selected = { ...filter, [by]: String(value) };
    return [
      html`<a href="${addressOf(pathOf(integration, 'held'), selected)}">${value}</a>${named}`,
      amount(events),
      decisionForm(integration, { waits, selected, of }),
    ];
  });
  return html`${table(`${title(waits)} by ${by}`, columns, rows)}${others(all.length - shown.length, noun)}`;
}

function byOrganization(
  { byOrganization: found }: WaitingCounts,
  waits: WaitingSelection['waiting'],
  parts: Parts,
) {
  const all = found.map(({ organization_id: value, organization_name: name = '', events }) => ({
    ...{ value, events, named: ` ${name}`, of: `organization ${value}` },
  }));
  const by = { by: 'organization', title: 'Organization', noun: 'other organization' };
  return html`<div>${counts(waits, parts, { ...by, all })}</div>`;
}

function byYear(
  { byYear: found }: WaitingCounts,
  waits: WaitingSelection['waiting'],
  parts: Parts,
) {
  const all = found.map(({ year: value, events }) => ({
    ...{ value, events, of: `certified in ${value}` },
  }));
  const by = { by: 'year', title: 'Certified in', noun: 'other year' };
  return counts(waits, parts, { ...by, all });
}

function byType(
  { byType: found }: WaitingCounts,
  waits: WaitingSelection['waiting'],
  parts: Parts,
) {
  const all = kind.options
    .map((value) => ({ value, of: value, events: found[value] }))
    .filter(({ events }) => events > 0);
  return counts(waits, parts, { by: 'type', title: 'Type', noun: 'other type', all });
}

function list(
  { list: all = [] }: WaitingCounts,
  waits: WaitingSelection['waiting'],
  { view, integration }: Parts,
) {
  const shown = all.slice(0, rowsShown);
  const isRefused = waits === 'undeliverable';
  const titles = ['Assessment', 'Revision', 'Type', 'Organization', 'Certified in', 'Since'];
  const columns = [...titles, ...(isRefused ? ['Refused with'] : []), 'Decision'].map((title) => ({
    title,
  }));
  const rows = shown.map(({ id, revision, type, organization_id, year, since, code = '' }) => [
    html`<a href="${pathOf(integration, `certifications/${id}`)}">${id}</a>`,
    revision,
    type,
    organization_id ?? 'none',
    year,
    moment(since, view),
    ...(isRefused ? [code] : []),
    decisionForm(integration, { waits, selected: { id: String(id) }, of: `assessment ${id}` }),
  ]);
  return html`${table(`${title(waits)}, the oldest first`, columns, rows)}${others(all.length - shown.length, 'later event')}`;
}

const title = (waits: WaitingSelection['waiting']) => (waits === 'held' ? 'Held' : 'Refused');

const others = (number: number, noun: string): Html =>
  number > 0 ? html`<p class="faint">and ${count(number, noun)}</p>` : html``;
