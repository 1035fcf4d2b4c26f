import { beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../../../lambda/ports/journal.ts';
import { Integration } from '../../scaffold/integration.ts';
import { assessment } from '../../support/assessments.ts';
import { on, titles } from './scenarios.ts';

let story: Integration;
let lines: unknown[];
beforeEach(async () => {
  story = new Integration();
  story.world = on('2024-02-29', [1, 2, 3]);
  await story.baseline();
  await story.passSelfChecks();
  story.notices.length = 0;
  lines = [];
});

const begins = 'fields of records are not as documented';
const journal: Journal = { warn: (...line) => void lines.push(line) };
async function ticks(hours: number, times: number) {
  for (let n = 0; n < times; n++) {
    story.clock.advance({ hours });
    await story.tick({ journal });
  }
}

describe('records with odd fields', () => {
  it('are announced, and a notice and the log have their paths without a value', async () => {
    for (const id of [1, 2]) story.host.edit(id, { email: null });
    await ticks(24, 1);
    expect(story.heard.map(({ subject }) => subject).sort()).toEqual(['1', '2']);
    expect(titles(story)).toEqual([begins]);
    expect(story.notices[0]?.text).toContain('\n  email: 2 records\n');
    expect(story.notices[0]?.text).not.toMatch(/Odalys|Quillfeather|@/);
    expect(lines).toEqual([['odd field', { path: 'email', records: 2, ids: [1, 2] }]]);
    expect(await story.tick()).toMatchObject({ quarantined: 0, conditions: { 'odd-fields': 1 } });
    story.host.edit(2, { organization_id: null });
    await ticks(1, 5);
    expect(titles(story)).toEqual([begins]);
    await ticks(24, 3);
    expect(titles(story).slice(1)).toEqual(['more fields of records are not as documented']);
    expect(story.notices[1]?.text).toContain('\n  organization_id: 1 record\n');
  });

  it('cause a notice of the end once each day was read without one', async () => {
    story.add(assessment({ id: 9, certified_on: '2019-05-06' }));
    story.host.edit(1, { last_name: null });
    await ticks(24, 2);
    story.host.edit(1, { last_name: 'Quillfeather' });
    await ticks(0, 1);
    expect(titles(story)).toEqual([begins]);
    await ticks(24, 3);
    expect(titles(story).slice(1)).toEqual(['all fields of records are as documented again']);
    expect((await story.ledger.state()).conditions.has('odd-fields')).toBe(false);
  });
});
