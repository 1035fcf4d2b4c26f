import { activityFields, type TimedActivity } from '../../ops/render/status.ts';
import { amount } from '../../ops/render/text.ts';
import type { Html } from '../html.ts';
import { html } from '../library.ts';

/** A tick or an hour, with the text of its tooltip. */
export interface Bar extends TimedActivity {
  readonly told: string;
  /** The tooltip of a gap before it, where ticks are lacking. */
  readonly gap?: string | undefined;
}

const column = { width: 18, bar: 14 };
const lane = { height: 26, bar: 20 };
const left = 70;
const right = 60;

/** One lane for each number, the oldest bar on the left. Each lane has its own scale, with the maximum at its end. */
export function activityChart(
  bars: readonly Bar[],
  { id, title, description }: { readonly id: string; title: string; description: string },
): Html {
  const end = left + bars.length * column.width;
  const xOf = (index: number) => left + index * column.width;
  const lanes = activityFields.map((field, index) => {
    const bottom = (index + 1) * lane.height;
    const most = Math.max(...bars.map((bar) => bar[field]), 0);
    const shapes = bars.map((bar, place) => {
      const share = most === 0 ? 0 : bar[field] / most;
      // Any number above 0 stays visible.
      const height = bar[field] === 0 ? 0 : Math.max(2, Math.round(share * lane.bar));
      return height === 0 ? '' : `M${xOf(place)} ${bottom}v-${height}h${column.bar}v${height}z`;
    });
    return html`<text x="0" y="${bottom - 4}">${field}</text><path class="none" d="M${left} ${bottom}h${end - left}v1h-${end - left}z"/><path class="${field}" d="${shapes.join('')}"/>${most > 0 ? html`<text x="${end + 6}" y="${bottom - 4}">${amount(most)}</text>` : ''}`;
  });
  const height = activityFields.length * lane.height + 4;
  const gaps = bars.map(({ gap }, place) =>
    gap === undefined
      ? ''
      : html`<path class="gap" d="M${xOf(place) - 3} 0v${height}h2v-${height}z"><title>${gap}</title></path>`,
  );
  const told = bars.map(
    (bar, place) =>
      html`<path class="over" d="M${xOf(place)} 0h${column.bar}v${height}h-${column.bar}z"><title>${bar.told}</title></path>`,
  );
  return html`<svg class="activity" role="img" aria-labelledby="${id}-title ${id}-description" viewBox="0 0 ${end + right} ${height}" width="${end + right}" height="${height}">
<title id="${id}-title">${title}</title><desc id="${id}-description">${description}</desc>
${lanes}${gaps}${told}
</svg>`;
}
