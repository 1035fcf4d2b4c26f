import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../lambda/delivery/digest.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { sightingEvent } from '../../../lambda/events/event.ts';
import { assessment } from '../../support/assessments.ts';

function created(overrides: Partial<Assessment> = {}, late = false) {
  return sightingEvent({
    integration: 'district-a',
    type: 'certification.created',
    assessment: assessment(overrides),
    revision: 1,
    changed: [],
    late,
    time: '2026-11-21T08:00:04.120Z',
  });
}

function updated(changed: string[], overrides: Partial<Assessment> = {}) {
  return sightingEvent({
    integration: 'district-a',
    type: 'certification.updated',
    assessment: assessment(overrides),
    revision: 2,
    changed,
    late: false,
    time: '2026-11-21T08:00:04.120Z',
  });
}

describe('the digest', () => {
  it('says in its subject how many there are of what', () => {
    const events = [
      created({ assessment_name: 'CPR' }),
      created({ assessment_name: 'First Aid' }),
      created({ assessment_name: 'CPR' }),
    ];
    expect(digestOf('district-a', events).subject).toBe('3 new certifications: CPR (2), First Aid');
  });

  it('reads like a letter: newest first, by organization, late and changed ones marked', () => {
    const events = [
      created({ certified_on: '2024-02-29', name: 'Iñaki Brightwater' }, true),
      created({ name: 'Odalys Quillfeather', certified_on: '2026-11-21' }),
      created({
        name: 'Tove Marrowfield',
        organization_id: 8,
        organization_name: 'Cinder Creek Academy',
      }),
      updated(['email', 'last_name'], { name: 'Perpetua Vane' }),
    ];
    expect(digestOf('district-a', events).body).toBe(`3 new certifications

Larkspur Valley Schools
  2026-11-21  Odalys Quillfeather: Rope Bridge Safety
  2024-02-29  Iñaki Brightwater: Rope Bridge Safety (late)

Cinder Creek Academy
  2026-11-20  Tove Marrowfield: Rope Bridge Safety

1 changed certification

Larkspur Valley Schools
  2026-11-20  Perpetua Vane: Rope Bridge Safety (changed: email, last_name)

Integration: district-a
`);
  });

  it('keeps the subject below 100 characters and free of line breaks and control characters', () => {
    const events = Array.from({ length: 30 }, (_, index) =>
      created({ assessment_name: `Assessment\r\nnumber\u0007 ${index} 🪢` }),
    );
    const { subject } = digestOf('district-a', events);
    expect(subject.length).toBeLessThan(100);
    expect(subject).not.toMatch(/\p{Cc}/u);
    expect(subject).toMatch(/^30 new certifications: .*…$/u);
  });

  it('lists fifty and counts the rest', () => {
    const events = Array.from({ length: 300 }, (_, id) => created({ id: id + 1 }));
    const { body } = digestOf('district-a', events);
    expect(body).toContain('… and 250 more');
    expect(body.match(/Odalys Quillfeather/g)).toHaveLength(50);
  });

  it('has no e-mail address and no State Educator ID in it', () => {
    const { subject, body } = digestOf('district-a', [created(), updated(['seid', 'email'])]);
    expect(subject + body).not.toMatch(/@|SEID-/);
  });

  it('does not let a name forge a row of its own', () => {
    const { body } = digestOf('district-a', [
      created({ name: 'A\n  2026-11-20  Forged Row: CPR' }),
    ]);
    expect(body).not.toMatch(/^ {2}2026-11-20 {2}Forged/m);
  });

  it('stays within a message of SNS, however long the names are', () => {
    const events = Array.from({ length: 60 }, (_, id) =>
      created({ id: id + 1, name: '🪢'.repeat(6_000), organization_name: 'é'.repeat(6_000) }),
    );
    const { subject, body } = digestOf('district-a', events);
    expect(subject.length).toBeLessThan(100);
    expect(Buffer.byteLength(body)).toBeLessThan(100_000);
    expect(body.isWellFormed()).toBe(true);
  });
});
