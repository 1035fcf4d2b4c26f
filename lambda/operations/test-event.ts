import { randomUUID } from 'node:crypto';
import { testEvent } from '../events/event.ts';
import { EventsRefusedError } from './errors.ts';
import type { Carrier } from './parts.ts';

/**
 * Announces an invented assessment, marked as a test, the way every event goes: same topic, same
 * attributes, same encryption, the same choice of fields.
 *
 * @throws EventsRefusedError
 */
export const sendTestEvent: Carrier<'test-event'> = async (
  { settings, clock, announcer },
  command,
  { limit },
) => {
  const event = testEvent({
    ...command,
    integration: settings.name,
    unique: randomUUID(),
    time: clock.now(),
    fields: settings.fields,
  });
  const certificationId = event.data.assessment.id;
  const owed = { certificationId, revision: 1, event, owes: 'event-and-digest' } as const;
  const { refused } = await announcer.publish([owed], limit.deadline);
  const [refusal] = refused;
  if (refusal !== undefined) throw new EventsRefusedError(1, refusal.code);
  return { result: { id: event.id } };
};
