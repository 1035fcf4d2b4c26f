import type { ResultOf } from '../../lambda/commands/contract.ts';
import { type Cell, painted, type Tone, table, type View } from './layout.ts';
import { added, amount, count, counts, given } from './text.ts';
import { moment } from './time.ts';

type Certificate = ResultOf<'prove'>;
type Day = Certificate['days'][number];

/** The last call has all days; the findings of the reads add up over the calls. */
export function proveSum(all: Certificate | undefined, one: Certificate): Certificate {
  if (all === undefined) return one;
  const found = one.found === undefined ? all.found : added(all.found, one.found);
  return { ...one, ...(found !== undefined && { found }) };
}

/** Adds the numbers of days for each state of proof. */
export function countedCertificate(certificate: Certificate) {
  const { days } = certificate;
  const many = (state: Day['state']) => days.filter((day) => day.state === state).length;
  return {
    ...certificate,
    proven: many('proven'),
    open: many('open'),
    unproven: many('unproven'),
    notYet: many('not-yet'),
    certifications: days.reduce((sum, { count, since = 0 }) => sum + count + since, 0),
  };
}

export type CountedCertificate = ReturnType<typeof countedCertificate>;

/** The completeness certificate, for people. */
export function proveLines(view: View, certificate: CountedCertificate): string[] {
  const { days, found, toRead } = certificate;
  const { gist, of } = proveVerdict(certificate);
  return given(
    ...table(view, proveColumns, proveRows(view, days), ''),
    days.length > 0 && '',
    `${painted(view, gist)}: ${of}`,
    found && `Reading again has found: ${counts(found, 'no change')}.`,
    toRead > 0 && `${count(toRead, 'day')} still to be read again.`,
  );
}

export const proveColumns = [
  { title: 'day' },
  { title: 'count', align: 'right' as const },
  { title: 'proof' },
  { title: 'proven at' },
  { title: 'digest' },
];

/** A row for each day. Empty days in a row that were proven together share one. */
export function proveRows(view: View, days: readonly Day[]): Cell[][] {
  return joined(days).map((range) => row(view, range));
}

/** Future days do not count, and a day that is not over counts with its certifications so far. */
export function proveVerdict({
  proven,
  open,
  unproven,
  notYet,
  certifications,
}: CountedCertificate) {
  const gist: readonly [tone: Tone, text: string] =
    unproven > 0
      ? ['bad', 'not complete']
      : open > 0
        ? ['good', 'complete so far']
        : proven > 0
          ? ['good', 'complete']
          : ['warning', 'not yet'];
  const parts = given(
    `${amount(proven)} of ${count(proven + open + unproven, 'day')} proven`,
    open > 0 && 'today as of its proof',
    notYet > 0 && `${count(notYet, 'day')} still to come`,
    count(certifications, 'certification'),
  );
  return { gist, of: parts.join(', ') };
}

/** Joins empty days in a row that were proven together; every other day stays by itself. */
function joined(days: readonly Day[]): JoinedDays[] {
  const found: JoinedDays[] = [];
  for (const day of days) {
    const last = found.at(-1);
    if (last !== undefined && isEmpty(day) && isEmpty(last) && isAlike(last, day))
      last.to = day.day;
    else found.push({ ...day, to: day.day });
  }
  return found;
}

type JoinedDays = Day & { to: string };

const isEmpty = ({ count, digest, unprovenSince, askedAt }: Day) =>
  count === 0 && digest === undefined && unprovenSince === undefined && askedAt === undefined;
const isAlike = (one: Day, other: Day) =>
  one.state === other.state &&
  one.proof?.at === other.proof?.at &&
  one.cause === other.cause &&
  one.neighbour === other.neighbour;

function row(view: View, range: JoinedDays): Cell[] {
  const { count, since: more = 0, proof, digest = '', unprovenSince } = range;
  const day = range.day === range.to ? range.day : `${range.day} to ${range.to}`;
  const number = `${amount(count)}${more === 0 ? '' : ` (${more > 0 ? '+' : ''}${more} since)`}`;
  const since = unprovenSince === undefined ? '' : `since ${moment(unprovenSince, view)}`;
  const at = proof === undefined ? since : moment(proof.at, view);
  return [day, number, proofAndMore(range), at, digest.slice(0, 16)];
}

function proofAndMore(day: Day): Cell {
  const told = proofTold(day);
  return day.askedAt === undefined ? told : [told[0], `${told[1]}; a read is asked for`];
}

/** How a day was proven, or why it is not. */
export function proofTold({
  state,
  proof,
  cause,
  neighbour,
}: Day): readonly [tone: Tone, text: string] {
  switch (state) {
    case 'proven':
      return ['good', proof?.kind ?? ''];
    case 'open':
      return proof === undefined ? ['faint', 'not read yet'] : ['warning', `${proof.kind}, so far`];
    case 'not-yet':
      return ['faint', 'not yet'];
    case 'unproven':
      return [
        'bad',
        `unproven${neighbour ? `, as ${neighbour} is` : causes[cause ?? 'never-read']}`,
      ];
  }
}

const causes: Readonly<Record<NonNullable<Day['cause']>, string>> = {
  'never-read': ': never read',
  'without-proof': ': read without a proof',
  'before-its-end': ': read before its end',
  neighbour: ', as its neighbour is',
};

/** The same for a spreadsheet: a line a day, instants in UTC. */
export function proveCsv({ days }: Pick<Certificate, 'days'>): string[] {
  return [
    'day,count,since,state,proof,proven_at,digest,read_with,cause,neighbour',
    ...days.map(({ day, count, since = 0, state, proof, digest, readWith, cause, neighbour }) =>
      [day, count, since, state, proof?.kind, proof?.at, digest, readWith, cause, neighbour].join(
        ',',
      ),
    ),
  ];
}
