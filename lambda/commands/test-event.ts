import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { likenesses } from '../events/event.ts';
import { testEvent as invented } from '../events/test-event.ts';
import { deadlineOf } from '../tick/time.ts';
import { define } from './definition.ts';
import { EventsRefusedError } from './errors.ts';
import { by, id, nameOfAssessment } from './shapes.ts';
import { setting } from './words.ts';

/**
 * Announces an invented assessment, marked as a test, like every event: same topic, same
 * attributes, same encryption, same choice of fields.
 *
 * @throws EventsRefusedError
 */
export const testEvent = define({
  does: 'Sends an event about nobody, marked as a test, like any other event.',
  command: z.strictObject({
    command: z.literal('test-event'),
    /** Values for subscribers' filters; absent: invented. */
    organization_id: setting(z.optional(id), 'organization_id of the event', {
      option: 'organization',
      value: 'id',
    }),
    assessment_name: setting(z.optional(nameOfAssessment), 'assessment_name of the event', {
      option: 'assessment',
    }),
    /** Absent: a new certification. */
    like: setting(
      z.optional(z.enum(likenesses)),
      'shaped like an event of this kind, and named so in data.like',
      { value: 'kind' },
    ),
    by,
  }),
  /** The event that SNS has accepted, by the `id` that subscribers find in it. */
  result: z.object({ id: z.string() }),
  seenIn: 'the test event may be sent.',
  async carry({ settings, clock, announcer }, command, { time }) {
    const event = invented({
      ...command,
      integration: settings.name,
      unique: randomUUID(),
      time: clock.now(),
      fields: settings.fields,
    });
    const certificationId = event.data.assessment.id;
    const owed = { certificationId, revision: 1, event, owes: 'event-and-digest' } as const;
    const { refused, denial } = await announcer.publish([owed], deadlineOf(time));
    const [refusal] = refused;
    if (refusal !== undefined) throw new EventsRefusedError(1, refusal.code, denial);
    return { result: { id: event.id } };
  },
});
