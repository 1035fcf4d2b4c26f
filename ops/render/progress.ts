import { amount } from './text.ts';
import { duration } from './time.ts';

/** The speed so far, and the time since it was measured. */
export interface MeasuredSpeed {
  readonly perMs: number;
  readonly sinceMs: number;
}

export interface ProgressState {
  readonly label: string;
  readonly elapsedMs: number;
  /** The time left for the answer to the present call; absent: the wait is for no single call. */
  readonly answeredInMs?: number;
  /** Absent: the total is unknown. */
  readonly part?: { readonly done: number; readonly total: number; readonly noun: string };
  /** Absent: too little is done to measure it. */
  readonly pace?: MeasuredSpeed;
}

/** In columns. Below the least, no bar is shown. */
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
 * One line: the progress, and the time left, by the pace so far or at most.
 *
 * @param width in columns; if they are few, the bar shrinks or is left out
 */
export function progressLine(progress: ProgressState, width: number): string {
  const { label } = progress;
  const { share, figures } = told(progress);
  const room = Math.min(barWidth.most, width - `${label}  ${figures}`.length);
  if (share === undefined || room < barWidth.least) return `${label}  ${figures.trimStart()}`;
  return `${label}  ${blocks(share, room)}${figures}`;
}

function told({ elapsedMs, answeredInMs, part, pace }: Omit<ProgressState, 'label'>) {
  if (part === undefined || part.total <= 0) {
    const figures = `  ${duration(elapsedMs)}${limit(answeredInMs)}`;
    if (answeredInMs === undefined) return { figures };
    return { share: elapsedMs / (elapsedMs + Math.max(0, answeredInMs)), figures };
  }
  const { done, total, noun } = part;
  const share = done / total;
  const figures = ` ${percent(share)}  ${amount(done)} of ${amount(total)} ${noun}`;
  if (done >= total) return { share, figures };
  if (pace === undefined) return { share, figures: figures + limit(answeredInMs) };
  const leftMs = (total - done) / pace.perMs - pace.sinceMs;
  const left = leftMs > 1000 ? `about ${duration(leftMs)} left` : 'nearly done';
  return { share, figures: `${figures}, ${left}` };
}

function limit(answeredInMs: number | undefined): string {
  if (answeredInMs === undefined) return '';
  return answeredInMs > 0 ? `, an answer within ${duration(answeredInMs)}` : ', the answer is late';
}
