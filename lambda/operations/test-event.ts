import { randomUUID } from 'node:crypto';
import { errorOf } from '../errors.ts';
import { testEvent } from '../events/event.ts';
import type { Carrier } from './parts.ts';

/** SNS did not accept the test event, so it does not accept others either. */
export class TestEventRefusedError extends errorOf('test-event-refused', 'aws', 'retry-helps') {
  readonly whatToDo =
    'Send it again in a minute. If it is refused again, look at the policy of the events topic and of its key, and at the role of the operate function: events of the ticks are likely refused as well.';

  constructor(code: string) {
    super(`SNS refused the test event (${code}).`);
  }
}

/**
 * Announces an invented assessment, marked as a test, the way every event goes: same topic, same
 * attributes, same encryption, the same choice of fields.
 *
 * @throws TestEventRefusedError
 */
export const sendTestEvent: Carrier<'test-event'> = async (
  { settings, clock, announcer },
  command,
) => {
  const event = testEvent({
    ...command,
    integration: settings.name,
    unique: randomUUID(),
    time: clock.now(),
    fields: settings.fields,
  });
  const certificationId = event.data.assessment.id;
  const { refused } = await announcer.publish([
    { certificationId, revision: 1, event, owes: 'event-and-digest' },
  ]);
  const [refusal] = refused;
  if (refusal !== undefined) throw new TestEventRefusedError(refusal.code);
  return { result: { id: event.id } };
};
