import { Temporal } from 'temporal-polyfill';
import type { Change } from '../detection/compare.ts';
import { isLate, recentWindow } from '../detection/days.ts';
import { fingerprintOf } from '../detection/fingerprint.ts';
import type { Assessment } from '../events/assessment.ts';
import { sightingEvent, withdrawalEvent } from '../events/event.ts';
import type { OwedEvent } from '../events/owed-event.ts';
import type { Life, Revision } from '../ports/ledger.ts';
import type { CommandOf } from './contract.ts';
import type { EventSettings } from './parts.ts';

/** Why nothing of a certification is sent. */
export type Obstacle =
  /** The partner's record is no longer what was announced last: a tick announces what it is now. */
  | 'changed'
  /** Its last revision is still in the outbox: a tick delivers it. */
  | 'pending'
  /** Its last revision waits for ops to release it. */
  | 'held'
  /** SNS has refused its last revision for good. */
  | 'undeliverable'
  /** Subscribers do not get its last revision: ops decided so, or it undid what was held. */
  | 'discarded'
  /** Recorded by the baseline, which was not asked for. */
  | 'neverAnnounced'
  /** The partner's record does not have the documented shape. */
  | 'unreadable'
  /** Recorded before the ledger kept a history: of what type its event was is not known. */
  | 'withoutHistory';

export interface Replayed {
  readonly kind: Change['kind'];
  readonly owed: OwedEvent;
}

/** The revision that a certification is at, by its history. */
export function lastRevision({ certification, revisions }: Life): Revision | undefined {
  return revisions.findLast(({ revision }) => revision === certification.revision);
}

/** The type of a revision's event; what the baseline recorded would have been created. */
export function typeOf({ kind }: Revision): Change['kind'] {
  return kind === 'baseline' ? 'created' : kind;
}

/** What stands against a replay already by what the ledger knows. */
export function obstacleOf(
  life: Life,
  { baseline }: Pick<CommandOf<'replay'>, 'baseline'>,
): Obstacle | undefined {
  const revision = lastRevision(life);
  if (revision === undefined) return 'withoutHistory';
  if (revision.kind === 'baseline' && !baseline) return 'neverAnnounced';
  const decision = revision.decisions.at(-1)?.decision;
  if (decision === 'discarded' || decision === 'released-to-people') return 'discarded';
  if (revision.isUndone) return 'discarded';
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
  settings: EventSettings,
): Replayed | Obstacle {
  const { certification } = life;
  const recorded = lastRevision(life);
  if (recorded === undefined) return 'withoutHistory';
  const { id, day, revision, organization_id, assessment_name } = certification;
  const at = Temporal.Instant.from(recorded.at);
  const announced = {
    integration: settings.name,
    revision,
    // As it was announced. Where that is not known, by the settings of today, which may be others.
    late: recorded.late ?? isLate(day, recentWindow(at, settings.timeZone, settings.recentDays)),
    time: recorded.at,
    replay: true,
  };
  const owe = (event: OwedEvent['event']): OwedEvent => ({
    certificationId: id,
    revision,
    event,
    owes: 'event-and-digest',
  });

  const kind = typeOf(recorded);
  if (kind === 'withdrawn') {
    const assessment = { id, organization_id, assessment_name, certified_on: day };
    return { kind, owed: owe(withdrawalEvent({ ...announced, assessment })) };
  }
  if (record === 'unreadable') return record;
  if (record === undefined || fingerprintOf(record, salt).whole !== certification.fingerprint.whole)
    return 'changed';
  const event = sightingEvent({
    ...announced,
    type: `certification.${kind}`,
    assessment: record,
    changed: recorded.changed,
    fields: settings.fields,
  });
  return { kind, owed: owe(event) };
}
