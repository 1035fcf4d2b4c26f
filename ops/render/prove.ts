import type { ResultOf } from '../../lambda/operations/contract.ts';
import { type Cell, table, type View } from './layout.ts';
import { added } from './sums.ts';
import { amount, count, counts } from './text.ts';
import { moment } from './time.ts';

type Certificate = ResultOf<'prove'>;
type Day = Certificate['days'][number];

/** Of all calls so far and one more. */
export function proveSum(all: Certificate | undefined, one: Certificate): Certificate {
  if (all === undefined) return one;
  const found = one.found === undefined ? all.found : added(all.found, one.found);
  return {
    ...one,
    days: [...all.days, ...one.days],
    proven: all.proven + one.proven,
    unproven: all.unproven + one.unproven,
    certifications: all.certifications + one.certifications,
    ...(found !== undefined && { found }),
  };
}

/** The completeness certificate, for people. */
export function proveLines(view: View, certificate: Certificate | undefined): string[] {
  if (certificate === undefined) return ['Nothing was read.'];
  const { days, proven, unproven, certifications, found, toRead } = certificate;
  const columns = [
    { title: 'day' },
    { title: 'count', align: 'right' as const },
    { title: 'proof' },
    { title: 'proven at' },
    { title: 'digest' },
  ];
  return [
    ...table(
      view,
      columns,
      stretches(days).map((stretch) => row(view, stretch)),
      '',
    ),
    ...(days.length > 0 ? [''] : []),
    `${view.paint(unproven === 0 ? 'good' : 'bad', unproven === 0 ? 'complete' : 'not complete')}: ${amount(proven)} of ${count(proven + unproven, 'day')} proven, ${count(certifications, 'certification')}`,
    ...(found === undefined ? [] : [`Reading again has found: ${counts(found, 'no change')}.`]),
    ...(toRead > 0 ? [`${count(toRead, 'day')} still to be read again.`] : []),
  ];
}

/** Empty days in a row that were proven together, and every other day by itself. */
function stretches(days: readonly Day[]): Stretch[] {
  const found: Stretch[] = [];
  for (const day of days) {
    const last = found.at(-1);
    if (last !== undefined && isEmpty(day) && isEmpty(last) && last.proof?.at === day.proof?.at)
      last.to = day.day;
    else found.push({ ...day, to: day.day });
  }
  return found;
}

type Stretch = Day & { to: string };

const isEmpty = ({ count, digest, proof }: Day) =>
  count === 0 && digest === undefined && proof !== undefined;

function row(view: View, stretch: Stretch): Cell[] {
  const { count, proof, digest = '', unprovenSince, readWith } = stretch;
  const day = stretch.day === stretch.to ? stretch.day : `${stretch.day} to ${stretch.to}`;
  const number = amount(count);
  if (proof !== undefined)
    return [day, number, ['good', proof.kind], moment(proof.at, view), digest.slice(0, 16)];
  if (readWith !== undefined) return [day, number, ['faint', `with ${readWith}`], '', ''];
  const since = unprovenSince === undefined ? '' : `since ${moment(unprovenSince, view)}`;
  return [day, number, ['bad', 'unproven'], since, ''];
}

/** The same for a spreadsheet: a line a day, instants in UTC. */
export function proveCsv({ days }: Pick<Certificate, 'days'>): string[] {
  return [
    'day,count,proven,proof,proven_at,digest,read_with',
    ...days.map(({ day, count, proof, digest = '', readWith = '' }) =>
      [day, count, proof !== undefined, proof?.kind ?? '', proof?.at ?? '', digest, readWith].join(
        ',',
      ),
    ),
  ];
}
