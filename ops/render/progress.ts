import { amount } from './text.ts';
import { span } from './time.ts';

/** How fast it has gone, and how long ago that was measured. */
export interface Pace {
  readonly perMs: number;
  readonly sinceMs: number;
}

export interface Standing {
  readonly label: string;
  readonly elapsedMs: number;
  /** The call that is being waited for has an answer by then; absent: it is no single call. */
  readonly answeredInMs?: number;
  /** Absent: nobody knows how much there is. */
  readonly part?: { readonly done: number; readonly total: number; readonly noun: string };
  /** Absent: nothing was done yet that could be measured. */
  readonly pace?: Pace;
}

/** In columns; a shorter one tells nothing. */
const barWidth = { most: 24, least: 6 };

/** `████░░░░` @param share from 0 to 1 */
function blocks(share: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return `${'█'.repeat(full)}${'░'.repeat(width - full)}`;
}

function percent(share: number): string {
  return `${Math.floor(Math.min(1, Math.max(0, share)) * 100)} %`.padStart(5);
}

/** `████░░░░  50 %` @param share from 0 to 1 */
export function bar(share: number): string {
  return `${blocks(share, barWidth.most)} ${percent(share)}`;
}

/**
 * One line: how far it is, and how long it will take by the pace so far, or at most.
 *
 * @param width in columns: where there is no room for all of it, it is the bar that gives way
 */
export function progressLine(standing: Standing, width: number): string {
  const { label } = standing;
  const { share, figures } = told(standing);
  const room = Math.min(barWidth.most, width - `${label}  ${figures}`.length);
  if (share === undefined || room < barWidth.least) return `${label}  ${figures.trimStart()}`;
  return `${label}  ${blocks(share, room)}${figures}`;
}

function told({ elapsedMs, answeredInMs, part, pace }: Omit<Standing, 'label'>) {
  if (part === undefined || part.total <= 0) {
    const figures = `  ${span(elapsedMs)}${limit(answeredInMs)}`;
    if (answeredInMs === undefined) return { figures };
    return { share: elapsedMs / (elapsedMs + Math.max(0, answeredInMs)), figures };
  }
  const { done, total, noun } = part;
  const share = done / total;
  const figures = ` ${percent(share)}  ${amount(done)} of ${amount(total)} ${noun}`;
  if (done >= total) return { share, figures };
  if (pace === undefined) return { share, figures: figures + limit(answeredInMs) };
  const leftMs = (total - done) / pace.perMs - pace.sinceMs;
  const left = leftMs > 1000 ? `about ${span(leftMs)} left` : 'nearly done';
  return { share, figures: `${figures}, ${left}` };
}

function limit(answeredInMs: number | undefined): string {
  if (answeredInMs === undefined) return '';
  return answeredInMs > 0 ? `, an answer within ${span(answeredInMs)}` : ', the answer is late';
}
