import type { Tone } from '../ops/render/layout.ts';
import { html } from './library.ts';

/** Markup in which foreign text is escaped: only the `html` template makes it. */
export type Html = ReturnType<typeof html>;

/** A text with its tone, as a class. */
export const toned = (tone: Tone, text: string): Html =>
  tone === 'plain' ? html`${text}` : html`<span class="${tone}">${text}</span>`;

export interface HtmlColumn {
  readonly title: string;
  readonly isNumber?: boolean;
}

/** A table with a caption, for people who cannot see its place. It scrolls by itself on a small screen. */
export function table(
  caption: string,
  columns: readonly HtmlColumn[],
  rows: readonly (readonly (Html | string | number)[])[],
): Html {
  const kind = (index: number) => (columns[index]?.isNumber ? 'number' : '');
  return html`<div class="scrolls" tabindex="0" role="region" aria-label="${caption}"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map(({ title }, index) => html`<th scope="col" class="${kind(index)}">${title}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell, index) => html`<td class="${kind(index)}">${cell}</td>`)}</tr>`)}</tbody>
</table></div>`;
}

/** Names and values. Undefined values are left out. */
export function facts(
  entries: readonly (readonly [name: string, value: Html | string | undefined])[],
): Html {
  const shown = entries.filter(([, value]) => value !== undefined);
  return html`<dl>${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A part of a page that is replaced when something has changed. */
export const live = (id: string, content: Html): Html =>
  html`<div id="${id}" data-live>${content}</div>`;
