import type { ResultOf } from '../../lambda/commands/contract.ts';
import type { Reason } from '../../lambda/commands/status.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import type { Tone, View } from './layout.ts';
import { reasonTold } from './status.ts';
import { amount, assessmentNamed, counts, given, organizationNamed } from './text.ts';
import { moment } from './time.ts';

type Status = ResultOf<'status'>;

const labelWidth = 9;
const tones: Readonly<Record<string, Tone>> = { created: 'good', withdrawn: 'warning' };

/** The parts of an event that are no personal data. */
export function eventGist({ id, type, time, subject, data }: CertificationEvent) {
  const { assessment, late, changed, replay = false } = data;
  const { organization_id, assessment_name, certified_on } = assessment;
  return {
    id,
    type,
    time,
    subject,
    organization_id,
    assessment_name,
    certified_on,
    late,
    replay,
    changed,
  };
}

export type EventGist = ReturnType<typeof eventGist>;

export function eventLine(view: View, gist: EventGist): string {
  const kind = gist.type.replace('certification.', '');
  const facts = given(
    `assessment ${gist.subject}`,
    assessmentNamed(gist.assessment_name),
    organizationNamed(gist.organization_id),
    gist.certified_on,
    gist.changed.length > 0 && `changed: ${gist.changed.join(', ')}`,
    gist.late && view.paint('warning', 'late'),
    gist.replay && view.paint('warning', 'replay'),
  );
  return line(view, gist.time, view.paint(tones[kind] ?? 'plain', kind.padEnd(labelWidth)), facts);
}

/** A tick that has ended since the last look. */
export function tickLine(
  view: View,
  { settings, lastTick = '', certifications, today, waiting }: Status,
): string {
  const { day: _, ...changes } = today;
  const { held, undeliverable, pending } = waiting;
  const facts = given(
    settings.integration,
    `${amount(certifications)} known`,
    `today ${counts(changes, 'no changes')}`,
    held + undeliverable + pending > 0 &&
      view.paint('warning', counts({ pending, held, undeliverable })),
  );
  return line(view, lastTick, 'tick'.padEnd(labelWidth), facts);
}

/** A reason that has begun or ended. @param status the last status that has the reason */
export function noticeLine(
  view: View,
  at: string,
  status: Status,
  reason: Reason,
  isOver: boolean,
): string {
  const what = reasonTold(view, status, reason);
  const { lastTick } = status;
  const more =
    reason === 'behind' && !isOver && lastTick !== undefined
      ? `: the last one did at ${moment(lastTick, view)}; status tells more`
      : '';
  return line(view, at, view.paint(isOver ? 'good' : 'bad', 'notice'.padEnd(labelWidth)), [
    status.settings.integration,
    isOver ? `over: ${what}` : `${what}${more}`,
  ]);
}

function line(view: View, at: string, label: string, facts: readonly string[]): string {
  return `${view.paint('faint', moment(at, view))}  ${label}  ${facts.join(view.paint('faint', ' · '))}`;
}
