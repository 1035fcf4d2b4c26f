import { Temporal } from 'temporal-polyfill';
import type { Assessment } from '../../lambda/events/assessment.ts';
import { type CertificationEvent, certificationEvent } from '../../lambda/events/event.ts';
import { testEvent } from '../../lambda/events/test-event.ts';

const common = { integration: 'district-a', fields: 'all', changed: [], late: false } as const;
const at = (time: string) => ({ time: Temporal.Instant.from(time) });

/** An invented assessment of two parts. */
const certified: Assessment = {
  id: 48_213,
  seid: 'SEID-48213',
  name: 'Odalys Quillfeather',
  first_name: 'Odalys',
  last_name: 'Quillfeather',
  email: 'odalys.quillfeather@example.org',
  organization_id: 7,
  organization_name: 'Larkspur Valley Schools',
  assessment_name: 'Rope Bridge Safety',
  certified_on: '2026-11-20',
  results: [
    {
      assessment_id: 51_877,
      assessment_name: 'Rope Bridge Safety: Knots',
      certified_on: '2026-11-18',
      proctor_id: 901,
      proctor_name: 'Ansel Thornbury',
    },
    {
      assessment_id: 51_902,
      assessment_name: 'Rope Bridge Safety: Crossing',
      certified_on: '2026-11-20',
      proctor_id: 902,
      proctor_name: 'Isaura Fenwillow',
    },
  ],
};

const renamed: Assessment = { ...certified, name: 'Odalys Marrowfield', last_name: 'Marrowfield' };

/** The life of one certification, and a test: an event of each type, built by the real functions. */
export function exampleEvents(): CertificationEvent[] {
  const { fields, changed: _, ...ofWithdrawal } = common;
  return [
    certificationEvent({
      ...{ ...common, type: 'certification.created', revision: 1, assessment: certified },
      ...at('2026-11-21T08:00:04.120Z'),
    }),
    certificationEvent({
      ...{ ...common, type: 'certification.updated', revision: 2, assessment: renamed },
      changed: ['name', 'last_name'],
      ...at('2026-11-21T14:15:02.733Z'),
    }),
    certificationEvent({
      ...{ ...ofWithdrawal, type: 'certification.withdrawn', revision: 3, assessment: renamed },
      ...at('2026-11-22T09:30:01.908Z'),
    }),
    certificationEvent({
      ...{ ...common, type: 'certification.restored', revision: 4, assessment: renamed },
      ...at('2026-11-22T10:45:03.064Z'),
    }),
    testEvent({
      integration: common.integration,
      fields,
      unique: '0d4f6a52-5a0e-4b8e-9d0c-3f1f6f0e7b11',
      ...at('2026-11-21T08:05:00.000Z'),
    }),
  ];
}
