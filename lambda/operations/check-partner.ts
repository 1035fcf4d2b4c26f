import { Temporal } from 'temporal-polyfill';
import { recentWindow } from '../detection/days.ts';
import type { Assessment } from '../events/assessment.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import { type Finding, failed, ok, skipped, warning } from './finding.ts';
import type { OperationParts } from './parts.ts';

const nothingToTry = skipped('There is no record to try it with.');
/** Beyond this the day of a record may be another than ours for a while. */
const tolerableSkewMs = 60_000;
/** The list goes on changing between two questions: a difference that is real comes twice. */
const attempts = 2;

/** What the newest page shows of the scope, which no answer of the API states. */
export function scopeOf({ count, assessments }: PulseRead) {
  const organizations = new Map(
    assessments.flatMap(({ organization_id, organization_name }) =>
      organization_id === null ? [] : [[organization_id, organization_name ?? null] as const],
    ),
  );
  const names = assessments.flatMap(({ assessment_name }) => assessment_name ?? []);
  return {
    total: count,
    organizations: [...organizations].map(([organization_id, name]) => ({ organization_id, name })),
    assessments: [...new Set(names)].sort(),
  };
}

export function scope(pulse: PulseRead): Finding {
  if (pulse.count === 0)
    return warning(
      'The partner shows no assessments at all.',
      'If there should be some, ask the partner which organizations and assessments the integration may read.',
    );
  const { organizations, assessments } = scopeOf(pulse);
  return ok(
    `${pulse.count} assessments; the newest ${pulse.assessments.length} are of ${organizations.length} organizations and ${assessments.length} kinds of assessment.`,
  );
}

export function records({ quarantined, assessments }: PulseRead): Finding {
  const [first] = quarantined;
  if (first === undefined) return ok(`The newest ${assessments.length} are as documented.`);
  return warning(
    `${quarantined.length} of the newest are malformed, the first (${first.id ?? 'without an id'}): ${first.problems.join('; ')}.`,
    'Tell the partner the id and the paths. Such records are not announced until then.',
  );
}

export function clocks({ partnerAheadMs }: OperationParts): Finding {
  const ahead = partnerAheadMs();
  if (ahead === undefined) return skipped("The partner's answers have no usable Date header.");
  const seconds = Math.round(Math.abs(ahead) / 1_000);
  const said = `The partner's clock is ${seconds} s ${ahead < 0 ? 'behind' : 'ahead of'} ours.`;
  if (Math.abs(ahead) <= tolerableSkewMs) return ok(said);
  return warning(
    said,
    'Tell the partner. Nothing is lost; what is dated tomorrow counts as of the recent window anyway.',
  );
}

/** A record of tomorrow says that the zone is wrong; one of today says little. */
export function timeZone({ settings, clock }: OperationParts, pulse: PulseRead): Finding {
  const newest = newestDay(pulse);
  if (newest === undefined) return nothingToTry;
  const { today } = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
  const said = `The newest record is of ${newest}; in ${settings.timeZone} it is ${today}.`;
  if (newest <= today.toString()) return ok(said);
  return warning(
    said,
    'Ask the partner for the time zone of the platform, set it as timeZone in notifier.config.ts, and deploy. A record that is dated in the future by mistake looks the same.',
  );
}

/** Before, on and after a day: together that is everything, if both bounds include their own day. */
export async function dayBounds(
  { partner }: OperationParts,
  deadline: Temporal.Instant,
): Promise<Finding> {
  let last: Finding = nothingToTry;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const pulse = await partner.pulse(deadline);
    const day = newestDay(pulse);
    if (day === undefined) return nothingToTry;
    const date = Temporal.PlainDate.from(day);
    const before = await partner.count({ to: date.subtract({ days: 1 }) }, deadline);
    const on = await partner.count({ from: date, to: date }, deadline);
    const after = await partner.count({ from: date.add({ days: 1 }) }, deadline);
    const shown = pulse.assessments.filter(({ certified_on }) => certified_on === day).length;
    if (addsUp(pulse, { before, on, after, shown }))
      return ok(`Filters by day include their bounds: ${before} before ${day}, ${on} on it.`);
    last = failed(
      `Filters by day do not add up: ${before} before ${day}, ${on} on it, ${after} after it, of ${pulse.count}; the newest page shows ${shown} of that day.`,
      'Run npm run conformance against the host, and show the partner its report: without these filters nothing can be proven.',
    );
  }
  return last;
}

/** @param shown of the newest day, on the newest page */
function addsUp(
  { assessments, quarantined, count }: PulseRead,
  { before, on, after, shown }: Record<'before' | 'on' | 'after' | 'shown', number>,
): boolean {
  // A malformed record counts, and its day is not to be relied on.
  const isLegible = quarantined.length === 0;
  const isWhole = isLegible && (shown < assessments.length || shown === count);
  const isRight = before + on + after === count && (after === 0 || !isLegible);
  return isRight && (isWhole ? on === shown : on >= shown);
}

export async function singleRecord(
  { partner }: OperationParts,
  pulse: PulseRead,
  deadline: Temporal.Instant,
): Promise<Finding> {
  const [newest] = pulse.assessments;
  if (newest === undefined) return nothingToTry;
  const found = await partner.get(newest.id, deadline);
  if (found !== undefined && found !== 'unreadable')
    return ok(`A record of the list (${newest.id}) can be fetched by its id.`);
  const problem = found === undefined ? 'answered with 404' : 'malformed';
  return failed(
    `A record of the list (${newest.id}) is ${problem} when it is asked for by its id.`,
    'Tell the partner. A certification that two looks lack is announced as withdrawn, since its 404 cannot be told from any other.',
  );
}

/** Both are right; where the order is not stable, proven reads cost more requests. */
export async function tieOrder(
  { partner }: OperationParts,
  pulse: PulseRead,
  deadline: Temporal.Instant,
): Promise<Finding> {
  const again = await partner.pulse(deadline);
  const common = new Set(again.assessments.map(({ id }) => id));
  const before = pulse.assessments.filter(({ id }) => common.has(id));
  const shown = new Set(before.map(({ id }) => id));
  const after = again.assessments.filter(({ id }) => shown.has(id));
  const isTied = before.some(
    ({ certified_on }, index) => index > 0 && certified_on === before[index - 1]?.certified_on,
  );
  if (!isTied) return skipped('No two records of the newest page share a day.');
  const isStable = before.every(({ id }, index) => id === after[index]?.id);
  if (!isStable)
    return ok('Records of one day come in another order each time; reads allow for it.');
  const how = isById(before) ? 'by their ids' : 'in the same order each time';
  return ok(`Records of one day come ${how}.`);
}

function isById(rows: readonly Assessment[]): boolean {
  const neighbours = rows.flatMap((row, index) => {
    const next = rows[index + 1];
    return next?.certified_on === row.certified_on ? [next.id - row.id] : [];
  });
  return neighbours.every((step) => step > 0) || neighbours.every((step) => step < 0);
}

function newestDay({ assessments }: PulseRead): string | undefined {
  return assessments
    .map(({ certified_on }) => certified_on)
    .sort()
    .at(-1);
}
