import { describe, expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';
import { numbers, on } from './scenarios.ts';

/** A list of 400 on forty days. Its host shows hidden records by id, or does not. */
async function listed(isShownById: boolean) {
  const story = new Integration();
  const days = numbers(10, 49).map((nth) => `20${nth}-03-04`.replace(/^20(2[7-9]|[34])/, '19$1'));
  story.world = days.flatMap((day, nth) => on(day, numbers(10 * nth + 1, 10 * nth + 10)));
  await story.baseline();
  const fullRead = story.host.requests.length;
  story.notices.length = 0;
  const before = story.world;
  const hide = (from: number, to: number) => {
    if (isShownById) for (const id of numbers(from, to)) story.host.hidden.add(id);
    else story.world = before.filter(({ id }) => id < from || id > to);
  };
  const show = () => {
    story.host.hidden.clear();
    story.world = before;
  };
  return { story, hide, show, fullRead };
}

describe.each([false, true])('certifications that disappear, and are shown by id: %s', (byId) => {
  it('all at once, and return, cost at most the requests of one full read, and nobody hears of it', async () => {
    const { story, hide, show, fullRead } = await listed(byId);
    hide(1, 400);
    await story.minutes(20);
    show();
    story.host.requests.length = 0;
    await story.minutes(10);
    const pulses = 10;
    expect(story.host.requests.length).toBeLessThanOrEqual(fullRead + pulses);
    expect(await story.ledger.state()).toMatchObject({ expected: 400 });
    expect(story.heard).toEqual([]);
  });

  it('for 25 minutes hold nothing back: true changes are announced at once', async () => {
    const { story, hide, show } = await listed(byId);
    hide(201, 400);
    await story.minutes(25);
    show();
    story.host.edit(400);
    story.add(...on('2026-11-21', [999]));
    await story.minutes(1);
    expect(story.ids()).toContain(`${story.name}/999/1`);
    // Audits find the edit.
    await story.minutes(20);
    expect(story.ids().sort()).toEqual([`${story.name}/400/2`, `${story.name}/999/1`]);
    expect(story.memory.held).toEqual([]);
  });
});
