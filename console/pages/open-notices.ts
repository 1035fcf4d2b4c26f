import type { View } from '../../ops/render/layout.ts';
import type { AdvisedStatus } from '../../ops/render/status.ts';
import { amount } from '../../ops/render/text.ts';
import { momentAndDistance } from '../../ops/render/time.ts';
import type { Html } from '../html.ts';
import { html } from '../library.ts';

/** Open conditions, each with its advice. */
export function openNotices(view: View, { conditions }: AdvisedStatus): Html {
  if (conditions.length === 0) return html``;
  return html`<section aria-labelledby="open"><h2 id="open">Open notices</h2><ul class="plain">${conditions.map(
    ({ title, since, number, whatToDo, toldAt }) => html`<li class="panel">
<p><strong class="bad">${title}</strong>${number > 1 ? ` (${amount(number)})` : ''}, since ${momentAndDistance(since, view)}${toldAt === undefined ? '; operations are still to be told' : ''}</p>
<p>${whatToDo}</p></li>`,
  )}</ul></section>`;
}
