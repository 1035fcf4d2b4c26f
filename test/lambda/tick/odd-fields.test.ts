import { beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../../../lambda/ports/journal.ts';
import { Integration } from '../../scaffold/integration.ts';
import { assessment } from '../../support/assessments.ts';

const day = '2024-02-29';

let story: Integration;
beforeEach(async () => {
  story = new Integration();
  story.world = [1, 2, 3].map((id) => assessment({ id, certified_on: day }));
  await story.baseline();
  await story.passSelfChecks();
  story.notices.length = 0;
});

const titles = () => story.notices.map(({ subject }) => subject.replace(`${story.name}: `, ''));
const begins = 'fields of records are not as documented';
const grows = 'more fields of records are not as documented';
const ends = 'all fields of records are as documented again';

async function ticks(minutes: number, times: number) {
  for (let n = 0; n < times; n++) {
    story.clock.advance({ minutes });
    await story.tick();
  }
}

describe('records with odd fields', () => {
  it('are announced, and one notice has their paths without a value', async () => {
    story.host.edit(1, { email: null, name: null });
    story.host.edit(2, { email: null });
    await ticks(24 * 60, 1);
    expect(story.heard.map(({ subject }) => subject).sort()).toEqual(['1', '2']);
    expect(titles()).toEqual([begins]);
    expect(story.notices[0]?.text).toContain('\n  email: 2 records\n  name: 1 record\n');
    expect(story.notices[0]?.text).not.toMatch(/Odalys|Quillfeather|@/);
    await ticks(20, 5);
    expect(titles()).toEqual([begins]);
    expect((await story.ledger.state()).conditions.get('odd-fields')).toMatchObject({ number: 2 });
  });

  it('cause another notice for one more field, after a day at the earliest', async () => {
    story.host.edit(1, { email: null });
    await ticks(24 * 60, 1);
    story.host.edit(2, { organization_id: null });
    await ticks(20, 5);
    expect(titles()).toEqual([begins]);
    await ticks(24 * 60, 1);
    expect(titles()).toEqual([begins, grows]);
    expect(story.notices[1]?.text).toContain('\n  email: 1 record\n  organization_id: 1 record\n');
    await ticks(24 * 60, 3);
    expect(titles()).toEqual([begins, grows]);
  });

  it('cause a notice of the end once each day was read without one', async () => {
    story.add(assessment({ id: 9, certified_on: '2019-05-06' }));
    story.host.edit(1, { last_name: null });
    await ticks(24 * 60, 2);
    expect(titles()).toEqual([begins]);
    story.host.edit(1, { last_name: 'Quillfeather' });
    await ticks(1, 1);
    expect(titles()).toEqual([begins]);
    await ticks(24 * 60, 3);
    expect(titles()).toEqual([begins, ends]);
    expect((await story.ledger.state()).conditions.has('odd-fields')).toBe(false);
  });

  it('are told in full once SNS accepts the notice', async () => {
    story.host.edit(1, { email: null });
    story.subscribers.mailing = { accepted: false, code: 'InternalError' };
    await ticks(24 * 60, 1);
    expect(titles()).toEqual([]);
    story.subscribers.mailing = { accepted: true };
    await ticks(1, 1);
    expect(titles()).toEqual([begins]);
    expect(story.notices[0]?.text).toContain('\n  email: 1 record\n');
  });

  it('add no call to a quiet tick, and make nothing unproven or quarantined', async () => {
    story.add(assessment({ id: 8, certified_on: '2026-11-20' }));
    story.host.edit(8, { email: null });
    await ticks(1, 2);
    const before = (await story.ledger.state()).conditions;
    const requests = story.host.requests.length;
    story.clock.advance({ minutes: 1 });
    const { quarantined, proofs, conditions } = await story.tick();
    expect({ quarantined, proofs }).toEqual({ quarantined: 0, proofs: {} });
    expect(conditions).toEqual({ 'odd-fields': 1 });
    expect(story.host.requests.length - requests).toBe(1);
    expect((await story.ledger.state()).conditions).toEqual(before);
  });

  it('cause a line in the log with some of their ids when a path is new', async () => {
    for (const id of [1, 2, 3]) story.host.edit(id, { email: null });
    const lines: unknown[] = [];
    const journal: Journal = { warn: (...line) => void lines.push(line) };
    for (let n = 0; n < 2; n++) {
      story.clock.advance({ hours: 24 });
      await story.tick({ journal });
    }
    expect(lines).toEqual([['odd field', { path: 'email', records: 3, ids: [1, 2, 3] }]]);
  });
});
