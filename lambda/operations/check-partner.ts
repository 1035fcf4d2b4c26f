import { Temporal } from 'temporal-polyfill';
import { recentWindow } from '../detection/days.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import { type Finding, failed, warning } from './finding.ts';
import type { OperationParts } from './parts.ts';

const nothingToTry: Finding = {
  outcome: 'skipped',
  found: 'There is no record to try it with.',
};
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
  return {
    found: `${pulse.count} assessments; the newest ${pulse.assessments.length} are of ${organizations.length} organizations and ${assessments.length} kinds of assessment.`,
  };
}

export function records({ quarantined, assessments }: PulseRead): Finding {
  const [first] = quarantined;
  if (first === undefined) return { found: `The newest ${assessments.length} are as documented.` };
  return warning(
    `${quarantined.length} of the newest are malformed, the first (${first.id ?? 'without an id'}): ${first.problems.join('; ')}.`,
    'Tell the partner the id and the paths. Such records are not announced until then.',
  );
}

/** A record of tomorrow says that the zone is wrong; one of today says little. */
export function timeZone({ settings, clock }: OperationParts, pulse: PulseRead): Finding {
  const newest = newestDay(pulse);
  if (newest === undefined) return nothingToTry;
  const { today } = recentWindow(clock.now(), settings.timeZone, settings.recentDays);
  const found = `The newest record is of ${newest}; in ${settings.timeZone} it is ${today}.`;
  if (newest <= today.toString()) return { found };
  return warning(
    found,
    'Ask the partner for the time zone of the platform, set it as timeZone in notifier.config.ts, and deploy. A record that is dated in the future by mistake looks the same.',
  );
}

/** Before, on and after a day: together that is everything, if both bounds include their own day. */
export async function dayBounds(
  { partner }: OperationParts,
  deadline: Temporal.Instant,
): Promise<Finding> {
  let last = nothingToTry;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const pulse = await partner.pulse(deadline);
    const day = newestDay(pulse);
    if (day === undefined) return nothingToTry;
    const date = Temporal.PlainDate.from(day);
    const before = await partner.count({ to: date.subtract({ days: 1 }) }, deadline);
    const on = await partner.count({ from: date, to: date }, deadline);
    const after = await partner.count({ from: date.add({ days: 1 }) }, deadline);
    const shown = pulse.assessments.filter(({ certified_on }) => certified_on === day).length;
    // A malformed record counts, and may be of a later day.
    if (before + on + after === pulse.count && on >= shown)
      return {
        found: `Filters by day include their bounds: ${before} before ${day}, ${on} on it.`,
      };
    last = failed(
      `Filters by day do not add up: ${before} before ${day}, ${on} on it, ${after} after it, of ${pulse.count}; the newest page shows ${shown} of that day.`,
      'Run npm run conformance against the host, and show the partner its report: without these filters nothing can be proven.',
    );
  }
  return last;
}

export async function singleRecord(
  { partner }: OperationParts,
  { assessments: [newest] }: PulseRead,
  deadline: Temporal.Instant,
): Promise<Finding> {
  if (newest === undefined) return nothingToTry;
  const found = await partner.get(newest.id, deadline);
  if (found !== undefined && found !== 'unreadable')
    return { found: `A record of the list (${newest.id}) can be fetched by its id.` };
  const problem = found === undefined ? 'answered with 404' : 'malformed';
  return failed(
    `A record of the list (${newest.id}) is ${problem} when it is asked for by its id.`,
    'Tell the partner. A certification that two looks lack is announced as withdrawn, since its 404 cannot be told from any other.',
  );
}

function newestDay({ assessments }: PulseRead): string | undefined {
  return assessments
    .map(({ certified_on }) => certified_on)
    .sort()
    .at(-1);
}
