import { describe, expect, it } from 'vitest';
import { fifoIds } from '../../../lambda/delivery/fifo-ids.ts';
import { sightingEvent } from '../../../lambda/events/event.ts';
import { assessment } from '../../support/assessments.ts';

const idsIn = (integration: string, replay = false) =>
  fifoIds(
    sightingEvent({
      integration,
      type: 'certification.created',
      assessment: assessment({ id: 48_213 }),
      fields: 'all',
      revision: 3,
      changed: [],
      late: false,
      time: '2026-11-21T08:00:04.120Z',
      replay,
    }),
  );
const allowed = /^[a-zA-Z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]{1,128}$/;

describe('what a FIFO topic orders and deduplicates by', () => {
  it('is the subject within its integration, and the id of the event', () => {
    expect(idsIn('district-a')).toEqual({
      MessageGroupId: 'district-a/48213',
      MessageDeduplicationId: 'district-a/48213/3',
    });
  });

  it('is within what AWS allows, whatever the name of the integration', () => {
    for (const name of ['Bezirk Süd', 'x'.repeat(200), '学区'])
      for (const id of Object.values(idsIn(name))) expect(id).toMatch(allowed);
    expect(idsIn('Bezirk Süd')).toEqual(idsIn('Bezirk Süd'));
    expect(idsIn('Bezirk Süd').MessageGroupId).not.toBe(idsIn('Bezirk Nord').MessageGroupId);
  });

  it('differs for a replay, which SNS would drop as a duplicate otherwise', () => {
    expect(idsIn('district-a', true).MessageDeduplicationId).toBe('district-a/48213/3/replay');
  });
});
