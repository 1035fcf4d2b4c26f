import type { Tone } from '../ops/render/layout.ts';
import { html } from './library.ts';

/** Markup in which every text of others is escaped: only the `html` template makes it. */
export type Html = ReturnType<typeof html>;

/** Text with what it means, as a colour and for those who see none. */
export const toned = (tone: Tone, text: string): Html =>
  tone === 'plain' ? html`${text}` : html`<span class="${tone}">${text}</span>`;

export interface Column {
  readonly title: string;
  readonly isNumber?: boolean;
}

/** A table with a caption for those who cannot see where it stands; it scrolls by itself on a small screen. */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly (Html | string | number)[])[],
): Html {
  const kind = (index: number) => (columns[index]?.isNumber ? 'number' : '');
  return html`<div class="scrolls" tabindex="0" role="region" aria-label="${caption}"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map(({ title }, index) => html`<th scope="col" class="${kind(index)}">${title}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell, index) => html`<td class="${kind(index)}">${cell}</td>`)}</tr>`)}</tbody>
</table></div>`;
}

/** Names and values. What is undefined is left out. */
export function facts(
  entries: readonly (readonly [name: string, value: Html | string | undefined])[],
): Html {
  const shown = entries.filter(([, value]) => value !== undefined);
  return html`<dl>${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A part of a page that is put anew when something has changed. */
export const live = (id: string, content: Html): Html =>
  html`<div id="${id}" data-live>${content}</div>`;
