import { beforeEach, describe, expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';

const limit = 2 * 1024 * 1024;

let story: Integration;
beforeEach(() => {
  story = new Integration();
  for (let id = 1; id <= 300; id++)
    story.host.add(id, `2026-11-${String(1 + (id % 20)).padStart(2, '0')}`, {
      name: `Ada${id} Poe${id}`,
    });
});

const subjects = () => story.notices.map(({ subject }) => subject.replace(`${story.name}: `, ''));

describe('a host whose pages are too large', () => {
  beforeEach(() => {
    for (const id of story.host.records.keys()) story.host.weights.set(id, limit / 30);
  });

  it('is read with fewer rows a page, all with proof', async () => {
    await story.baseline();
    expect(story.memory.items.size).toBe(300);
    expect([...story.memory.days.values()].filter(({ proof }) => !proof)).toEqual([]);
    expect(subjects()).toEqual(['baseline completed']);
  });

  it('has its new certifications announced', async () => {
    await story.baseline();
    story.host.add(1_000, '2026-11-21');
    story.host.add(1_001, '2026-11-03');
    await story.minutes(2);
    expect(story.ids().sort()).toEqual([`${story.name}/1000/1`, `${story.name}/1001/1`]);
  });
});

describe('a row that is too large alone', () => {
  it('is told, and leaves only its own day unproven', async () => {
    story.host.weights.set(7, limit + 1);
    await story.baseline();
    // The baseline reads many days at once. The audits find the single day.
    story.clock.advance({ hours: 24 });
    await story.minutes(10);
    expect(story.memory.items.size).toBe(299);
    const unproven = [...story.memory.days].flatMap(([day, { proof }]) => (proof ? [] : [day]));
    expect(unproven).toEqual(['2026-11-08']);
    expect(subjects()).toEqual([
      'baseline completed',
      'the partner sends malformed records',
      'days cannot be proven complete',
    ]);
    expect(story.notices[1]?.text).toContain('a record without an id: too large to be read');
  });

  it('does not prevent other finds, and is announced once it is smaller', async () => {
    await story.baseline();
    story.host.add(1_000, '2026-11-08');
    story.host.weights.set(1_000, limit + 1);
    story.host.add(1_001, '2026-11-08');
    await story.minutes(3);
    expect(story.ids()).toEqual([`${story.name}/1001/1`]);
    story.host.weights.clear();
    story.clock.advance({ hours: 24 });
    await story.minutes(10);
    expect(story.ids()).toEqual([`${story.name}/1001/1`, `${story.name}/1000/1`]);
    expect(subjects().at(-1)).toBe('no record is malformed any more');
  });

  it('is not withdrawn', async () => {
    await story.baseline();
    story.host.weights.set(7, limit + 1);
    await story.minutes(40);
    expect(story.heardOf(7)).toEqual([]);
    expect((await story.ledger.state()).missing?.total ?? 0).toBe(0);
  });
});
