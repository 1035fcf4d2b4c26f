import { randomUUID } from 'node:crypto';
import { amount, count } from '../../ops/render/text.ts';
import { moment } from '../../ops/render/time.ts';
import { hiddenFields } from '../command-form.ts';
import type { LocalTally, Provocation, Provoking } from '../door.ts';
import { facts, type Html, live } from '../html.ts';
import { pathOf } from '../layout.ts';
import { html } from '../library.ts';
import { viewOf } from '../view.ts';
import type { AskedLocally, LocalPage } from './local.ts';

const provocationPath = (integration: string, name: string): string =>
  `provoke/${encodeURIComponent(integration)}/${encodeURIComponent(name)}`;

/** All provocations, beside their effects. */
export const provokePage: LocalPage = {
  path: 'provoke',
  under: 'provoke',
  title: () => 'Provoke',
  async content(asked) {
    const { door, local } = asked;
    const { provoking } = local;
    if (provoking === undefined)
      return html`<p>The partner is a real one: nothing can be provoked there.</p>`;
    const integrations = await door.integrations();
    const sections = integrations.map((integration) => section(provoking, integration));
    return html`<p>Try to make it lose an event. The difference always settles to 0.</p>
${await Promise.all(sections)}
${live('done', done(asked, provoking))}`;
  },
};

async function section(provoking: Provoking, integration: string): Promise<Html> {
  const tally = await provoking.tally(integration);
  return html`<section aria-labelledby="provoke-${integration}"><h2 id="provoke-${integration}">${integration}</h2>
${live(`tally-${integration}`, tally === undefined ? html`<p class="faint">Nothing to compare: the baseline is still being read, or there are more than 20,000 certifications.</p>` : told(tally, integration))}
<div class="columns">${provoking.provocations(integration).map((one) => form(integration, one))}</div></section>`;
}

/** The partner's world, and the certifications that differ from it, by the reason. */
function told(tally: LocalTally, integration: string): Html {
  const { world, subscribers, baseline, created, updated, withdrawn, restored } = tally;
  const { held, owed, discarded, difference } = tally;
  const named = Object.entries({ 'not told yet': difference, owed, held, discarded })
    .filter(([, number]) => number > 0)
    .map(([name, number]) => `${amount(number)} ${name}`);
  return html`<p class="verdict ${difference + owed === 0 ? 'good' : 'warning'}" role="status">Difference: ${named.join(', ') || '0'}</p>
${facts([
  ['the world has', count(world, 'certification')],
  ['subscribers have', count(subscribers, 'certification')],
  ['of these', `${amount(baseline)} in the baseline, of which nobody was told`],
  [
    'newest events',
    `${amount(created)} created, ${amount(updated)} updated, ${amount(withdrawn)} withdrawn, ${amount(restored)} restored`,
  ],
  [
    'differ and are held',
    held === 0 ? '0' : html`<a href="${pathOf(integration, 'held')}">${amount(held)}</a>`,
  ],
  ['differ and are owed', amount(owed)],
  ['differ and were discarded', amount(discarded)],
  ['differ otherwise', amount(difference)],
])}`;
}

function form(integration: string, { name, title, does, expected, isOn }: Provocation): Html {
  const button = isOn === true ? 'End it' : title;
  // The state when the page was made: another page may have changed it since.
  const wanted = isOn === undefined ? {} : { wanted: isOn ? 'off' : 'on' };
  return html`<form method="post" action="${provocationPath(integration, name)}" class="panel">
${hiddenFields({ run: randomUUID(), ...wanted })}
<p class="buttons"><button aria-describedby="does-${integration}-${name}">${button}</button>${isOn === true ? html` <strong class="warning">${title}: on</strong>` : ''}</p>
<p id="does-${integration}-${name}">${does} <span class="faint">${expected}</span></p></form>`;
}

function done({ door }: AskedLocally, { done: all, failedTicks }: Provoking): Html {
  if (all.length === 0) return html``;
  const view = viewOf(door);
  return html`<h2>Provocations so far</h2>
<p>${count(failedTicks, 'tick')} failed because of them.</p>
<ul class="plain">${all.map(({ at, integration, title }) => html`<li><span class="faint">${moment(at, view)} ${integration}</span> ${title}</li>`)}</ul>`;
}
