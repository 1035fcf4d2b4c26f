import { Temporal } from 'temporal-polyfill';
import type { Change } from '../detection/compare.ts';
import { isLate, recentWindow } from '../detection/days.ts';
import { fingerprintOf } from '../detection/fingerprint.ts';
import type { Assessment } from '../events/assessment.ts';
import { sightingEvent, withdrawalEvent } from '../events/event.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { Life, Revision } from '../ports/ledger.ts';
import type { CommandOf, ResultOf } from './contract.ts';
import type { OperationSettings } from './parts.ts';

/** Why nothing of a certification is sent. */
export type Obstacle = keyof ResultOf<'replay'>['skipped'];

/** The revision that a certification is at, by its history. */
function lastRevision({ certification, revisions }: Life): Revision | undefined {
  return revisions.findLast(({ revision }) => revision === certification.revision);
}

/** The type of its last event; what the baseline recorded would have been created. */
export function kindOfLast(life: Life): Change['kind'] | undefined {
  const kind = lastRevision(life)?.kind;
  return kind === 'baseline' ? 'created' : kind;
}

/** What stands against a replay already by what the ledger knows. */
export function obstacleOf(life: Life, { baseline }: CommandOf<'replay'>): Obstacle | undefined {
  const revision = lastRevision(life);
  if (revision === undefined) return 'withoutHistory';
  if (revision.kind === 'baseline' && !baseline) return 'neverAnnounced';
  const decision = revision.decisions.at(-1)?.decision;
  const isDecided = decision === 'discarded' || decision === 'released-to-people';
  if (isDecided || revision.isUndone) return 'discarded';
  // Subscribers have it: only people are still to be told.
  return revision.waits === 'digest' ? undefined : revision.waits;
}

/**
 * The event of a certification's last revision as it was announced, marked as a replay; or what
 * stands against it.
 *
 * A withdrawal is rebuilt from the ledger alone. Everything else needs the record, and only as long
 * as it is what was announced: under an id that has been given, nothing else is ever sent.
 *
 * @param record what the partner has now; `undefined`: nothing, or it was not asked for
 */
export function replayedEvent(
  life: Life,
  record: Assessment | 'unreadable' | undefined,
  salt: string,
  settings: OperationSettings,
): { readonly kind: Change['kind']; readonly owed: OwedEvent } | Obstacle {
  const { id, day, revision, fingerprint, organization_id, assessment_name } = life.certification;
  const recorded = lastRevision(life);
  const kind = kindOfLast(life);
  if (recorded === undefined || kind === undefined) return 'withoutHistory';
  const at = Temporal.Instant.from(recorded.at);
  const announced = {
    integration: settings.name,
    revision,
    // As it was announced. Where that is not known, by the settings of today, which may be others.
    late: recorded.late ?? isLate(day, recentWindow(at, settings.timeZone, settings.recentDays)),
    time: recorded.at,
    replay: true,
  };
  const owed = { certificationId: id, revision, owes: 'event-and-digest' } as const;
  if (kind === 'withdrawn') {
    const assessment = { id, organization_id, assessment_name, certified_on: day };
    return { kind, owed: { ...owed, event: withdrawalEvent({ ...announced, assessment }) } };
  }
  if (record === 'unreadable') return record;
  if (record === undefined || fingerprintOf(record, salt).whole !== fingerprint.whole)
    return 'changed';
  const event = sightingEvent({
    ...announced,
    type: `certification.${kind}`,
    assessment: record,
    changed: recorded.changed,
    fields: settings.fields,
  });
  return { kind, owed: { ...owed, event } };
}
