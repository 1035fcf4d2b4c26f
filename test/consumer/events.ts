import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import {
  type CertificationEvent,
  certificationEvent,
  certificationEventSchema,
} from '../../lambda/events/event.ts';
import { testEvent } from '../../lambda/events/test-event.ts';
import { anyRecord, assessment } from '../support/assessments.ts';

const time = Temporal.Instant.from('2026-11-21T08:00:04.120Z');

const types = certificationEventSchema.def.options.flatMap(({ shape }) => shape.type.def.values);
/** Any event that certification-notifier may send. */
export const anyEvent: fc.Arbitrary<CertificationEvent> = fc
  .record({
    type: fc.constantFrom(...types),
    assessment: anyRecord,
    revision: fc.integer({ min: 1 }),
    fields: fc.constantFrom('all' as const, 'identifiers' as const, ['name', 'results']),
    late: fc.boolean(),
    replay: fc.boolean(),
  })
  .map(({ type, ...rest }) => {
    const announced = { ...rest, integration: 'district-a', time };
    if (type === 'certification.withdrawn') return certificationEvent({ ...announced, type });
    if (type === 'certification.test') return testEvent({ ...announced, unique: 'a1b2' });
    return certificationEvent({ ...announced, type, changed: ['email'] });
  });

/** The event of an invented certification. */
export function event({ id = 48_213, revision = 1, replay = false } = {}): CertificationEvent {
  const type = revision === 1 ? 'certification.created' : 'certification.updated';
  const [fields, changed] = ['all' as const, []];
  return certificationEvent({ type, fields, changed, ...announced(id, revision), replay });
}

export const withdrawal = (id: number, revision: number) =>
  certificationEvent({ type: 'certification.withdrawn', ...announced(id, revision) });

const announced = (id: number, revision: number) => ({
  ...{ integration: 'district-a', assessment: assessment({ id }), revision, late: false, time },
});
