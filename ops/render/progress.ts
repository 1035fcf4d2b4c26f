import { amount } from './text.ts';
import { span } from './time.ts';

export interface Standing {
  readonly label: string;
  readonly elapsedMs: number;
  /** Absent: nobody knows how much there is. */
  readonly part?: { readonly done: number; readonly total: number; readonly noun: string };
}

const barWidth = 24;

/** `████░░░░  50 %` @param share from 0 to 1 */
export function bar(share: number): string {
  const within = Math.min(1, Math.max(0, share));
  const full = Math.round(within * barWidth);
  const percent = `${Math.floor(within * 100)} %`.padStart(5);
  return `${'█'.repeat(full)}${'░'.repeat(barWidth - full)} ${percent}`;
}

/** One line: how far it is, and how long it will take by the pace so far. */
export function progressLine({ label, elapsedMs, part }: Standing): string {
  if (part === undefined || part.total <= 0) return `${label}  ${span(elapsedMs)}`;
  const { done, total, noun } = part;
  const share = done / total;
  const left = share > 0 && share < 1 ? `, ${span((elapsedMs * (1 - share)) / share)} left` : '';
  return `${label}  ${bar(share)}  ${amount(done)} of ${amount(total)} ${noun}${left}`;
}
