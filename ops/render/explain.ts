import type { ResultOf } from '../../lambda/commands/contract.ts';
import type { Reason } from '../../lambda/commands/status.ts';
import { type Cell, facts, painted, table, type View } from './layout.ts';
import { wasLeftAlone } from './pause.ts';
import { reasonTold } from './status.ts';
import { assessmentNamed, given, organizationNamed } from './text.ts';
import { moment, momentAndDistance } from './time.ts';

type Status = ResultOf<'status'>;
type Explanation = ResultOf<'explain'>;
type Known = NonNullable<Explanation['known']>;
type Revision = Known['revisions'][number];

const verdicts: Readonly<Record<Explanation['verdict'], Cell>> = {
  announced: ['good', 'announced: SNS has accepted its last event'],
  'digest-owed': ['warning', 'announced to machines; people are told with the next digest'],
  'digest-only-owed': ['warning', 'people are told with the next digest; machines are not'],
  'announced-to-people': ['good', 'told to people in a digest; machines were not told'],
  baseline: ['plain', 'not announced: it was there before, and recorded by the baseline'],
  pending: ['warning', 'its last event waits for the next tick'],
  held: ['warning', 'its last event is held: release or discard it'],
  undeliverable: ['bad', 'SNS has refused its last event for good'],
  discarded: ['warning', 'its last event was discarded by ops'],
  undone: [
    'good',
    'it is again as subscribers were last told: the held events have undone each other',
  ],
  quarantined: ['bad', "not announced: the partner's record is malformed"],
  'not-yet-seen': ['warning', 'the partner has it, and no tick has found it yet'],
  'not-at-partner': [
    'bad',
    'unknown here and to the partner: wrong id, out of scope, or the id of a part',
  ],
  'partner-silent': ['bad', 'not known here, and the partner could not be asked'],
  unknown: ['warning', 'known, but its last event was recorded by a version without history'],
};

const proofs = {
  'single-page': 'one page held all of it',
  'key-seam': 'pages joined at their seams',
  split: 'several parts, each proven',
} as const;

export const deliveries: Readonly<Record<Revision['delivery'], Cell>> = {
  baseline: ['faint', 'recorded, not announced'],
  announced: ['good', 'delivered'],
  'digest-owed': ['warning', 'delivered; mail to follow'],
  'digest-only-owed': ['warning', 'mail to follow, to people only'],
  'announced-to-people': ['good', 'told to people only'],
  pending: ['warning', 'waits for the next tick'],
  held: ['warning', 'held'],
  undeliverable: ['bad', 'refused by SNS'],
  discarded: ['warning', 'discarded'],
  undone: ['faint', 'undone before it was told'],
};

/** The life of one assessment. @param status has the reasons that keep ticks from it; absent: none are shown */
export function explainLines(view: View, explanation: Explanation, status?: Status): string[] {
  const { id, known } = explanation;
  return [
    `${view.paint('strong', `assessment ${id}`)}  ${painted(view, explainVerdict(explanation))}`,
    ...facts(view, explainFacts(view, explanation, status)),
    ...(known === undefined ? [] : ['', ...revisions(view, known)]),
  ];
}

/** The outcome of its last revision. If the assessment is not known, the reason. */
export const explainVerdict = ({ verdict }: Explanation): Cell => verdicts[verdict];

/** The known facts, and the reasons that keep ticks from it. @param status absent: no reasons are shown */
export function explainFacts(
  view: View,
  explanation: Explanation,
  status?: Status,
): (readonly [name: string, value: Cell | undefined])[] {
  const { known, partner } = explanation;
  const inItsWay =
    status === undefined ? [] : inTheWay(status).map((reason) => reasonTold(view, status, reason));
  return [
    [
      'certified on',
      known && `${known.day}${known.presence === 'withdrawn' ? ' (withdrawn)' : ''}`,
    ],
    [
      'assessment',
      known &&
        `${assessmentNamed(known.assessment_name)}, ${organizationNamed(known.organization_id)}`,
    ],
    ['first seen', known && firstSeen(view, known)],
    ['day', dayOf(view, explanation)],
    ['partner now', partnerNow(partner)],
    ...inItsWay.map((told): [string, Cell] => ['in the way', ['warning', told]]),
  ];
}

/** Whether ticks have nothing left to find or to do: the record is as the partner has it, and its event is decided. */
export function isSettled({ verdict, partner }: Explanation): boolean {
  return partner.has === 'record' && partner.asRecorded === true && settled.has(verdict);
}

/** The reasons that may keep ticks from finding a change. */
export function inTheWay({ reasons }: Pick<Status, 'reasons'>): Reason[] {
  return reasons.filter((reason) => keeping.has(reason));
}

const keeping: ReadonlySet<Reason> = new Set([
  'never-ticked',
  'paused',
  'backing-off',
  'baseline',
  'behind',
  'missing',
]);

const settled: ReadonlySet<Explanation['verdict']> = new Set([
  'announced',
  'announced-to-people',
  'baseline',
  'discarded',
  'undone',
]);

function firstSeen(view: View, { firstSeen, revisions }: Known): string | undefined {
  const [first] = revisions.filter(({ revision }) => revision === 1);
  const at = firstSeen ?? first?.at;
  if (at === undefined) return undefined;
  const isBaseline = first?.kind === 'baseline' || first?.found?.in === 'baseline';
  return given(
    momentAndDistance(at, view),
    first && (isBaseline ? 'by the baseline' : 'by a tick'),
    first?.late && 'late: its day was over long before',
  ).join(', ');
}

function dayOf(view: View, { day }: Explanation): Cell | undefined {
  if (day === undefined) return undefined;
  const { count, since: more = 0, proof, unprovenSince } = day;
  const all = `${day.day}: ${count + more} certified`;
  if (proof !== undefined)
    return `${all}, ${more === 0 ? '' : `${count} of them `}proven ${momentAndDistance(proof.at, view)}: ${proofs[proof.kind]}`;
  return [
    'warning',
    `${all}, without a proof${unprovenSince === undefined ? '' : ` since ${moment(unprovenSince, view)}`}`,
  ];
}

function partnerNow(partner: Explanation['partner']): Cell {
  switch (partner.has) {
    case 'nothing':
      return 'has no such record (404)';
    case 'malformed':
      return ['bad', 'has a malformed record'];
    case 'no-answer':
      return [
        'warning',
        `${wasLeftAlone(partner.problem) ? 'is not asked' : 'gives no answer'}: ${partner.problem.message}`,
      ];
    case 'record': {
      const where = `certified on ${partner.day}, ${organizationNamed(partner.organization_id)}`;
      if (partner.asRecorded === undefined) return `has a record, ${where}`;
      return partner.asRecorded
        ? 'has the record as it was recorded last'
        : [
            'warning',
            `has another record than the one recorded last, ${where}: a tick will find it`,
          ];
    }
  }
}

function revisions(view: View, { revisions }: Known): string[] {
  const titles = ['rev', 'when', 'what', 'found by', 'changed', 'event', 'delivery'];
  const rows = revisions.flatMap((one): Cell[][] => {
    const { revision, at, kind, changed, event = '', decisions } = one;
    const told = [moment(at, view), kind, foundBy(one), changed.join(', '), event];
    return [
      [String(revision), ...told, deliveryTold(one)],
      ...decisions.map(({ decision, at }): Cell[] => [
        ...['', moment(at, view), ['faint', decisionTold(decision)] as const],
        ...['', '', '', ''],
      ]),
    ];
  });
  return table(
    view,
    titles.map((title) => ({ title })),
    rows,
  );
}

export const decisionTold = (decision: string): string => decision.replaceAll('-', ' ');

const reads = {
  page: 'the newest page',
  search: 'a search',
  audit: 'an audit',
  baseline: 'the baseline',
} as const;

/** The read in which a tick found it, and the proof of that read. */
export function foundBy({ found }: Revision): string {
  if (found === undefined) return '';
  const reason = found.reason && 'its day was not read by the baseline';
  return given(reads[found.in], found.proof, reason).join(', ');
}

/** The delivery of its event. */
export function deliveryTold({ delivery, code, behind }: Revision): Cell {
  const { [delivery]: told } = deliveries;
  const [tone, text] = typeof told === 'string' ? (['plain', told] as const) : told;
  const more = given(code, behind && 'behind an earlier event');
  return [tone, more.length === 0 ? text : `${text} (${more.join(', ')})`];
}
