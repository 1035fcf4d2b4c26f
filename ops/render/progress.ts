import { amount } from './text.ts';
import { span } from './time.ts';

export interface Standing {
  readonly label: string;
  readonly elapsedMs: number;
  /** Absent: nobody knows how much there is. */
  readonly part?: { readonly done: number; readonly total: number; readonly noun: string };
}

const barWidth = 24;

/** One line: how far it is, and how long it will take by the pace so far. */
export function progressLine({ label, elapsedMs, part }: Standing): string {
  if (part === undefined || part.total <= 0) return `${label}  ${span(elapsedMs)}`;
  const { done, total, noun } = part;
  const share = Math.min(1, done / total);
  const full = Math.round(share * barWidth);
  const bar = '█'.repeat(full) + '░'.repeat(barWidth - full);
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  const left = share > 0 && share < 1 ? `, ${span((elapsedMs * (1 - share)) / share)} left` : '';
  return `${label}  ${bar} ${percent}  ${amount(done)} of ${amount(total)} ${noun}${left}`;
}
