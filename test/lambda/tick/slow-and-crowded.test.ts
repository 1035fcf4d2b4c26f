import { beforeEach, describe, expect, it } from 'vitest';
import { PartnerError } from '../../../lambda/partner/errors.ts';
import { Integration } from '../../scaffold/integration.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { answering, numbers, on, withdrawn } from './scenarios.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

describe('a tick at a slow partner', () => {
  beforeEach(async () => {
    story.world = [...on('2024-02-29', numbers(1, 60)), ...on('2026-11-20', numbers(300, 400))];
    await story.minutes(2);
  });

  it('ends properly when its own deadline cuts a request off, and the next tick resumes', async () => {
    const { count } = story.partner;
    answering(story, { count: () => Promise.reject(new PartnerError('out-of-time', 'list')) });
    story.add(...on('2010-10-10', [900]));
    expect(await story.tick()).toMatchObject({ outcome: 'completed', created: 0 });
    answering(story, { count });
    expect(await story.tick()).toMatchObject({ created: 1, delivered: 1 });
  });

  it('withdraws as far as it could ask for ids, and the others in later ticks', async () => {
    story.world = story.world.filter(({ id }) => id > 5);
    await story.minutes(9);
    const { get } = story.partner;
    answering(story, {
      get: (...asked) => {
        story.clock.advance({ seconds: 20 });
        return get(...asked);
      },
    });
    const ticks: number[] = [];
    for (let minute = 0; minute < 10; minute++) ticks.push((await story.minute()).withdrawn);
    expect(ticks.filter((many) => many > 0).length).toBeGreaterThan(1);
    expect(withdrawn(story)).toHaveLength(5);
  });
});

it('held events stay told while the same certifications wait for their digest', async () => {
  const alerts = { ...tickSettings().alerts, digestEvery: 60 };
  const isHeld = async () => (await story.ledger.state()).conditions.has('held');
  story.settings = { holdAbove: 4, alerts };
  await story.emptyBaseline();
  story.add(...on('2026-11-20', [1, 2, 3, 4]));
  expect(await story.tick()).toMatchObject({ delivered: 4 });
  story.settings = { holdAbove: 3, alerts };
  for (const id of [1, 2, 3, 4]) story.host.edit(id);
  expect(await story.tick()).toMatchObject({ held: 4 });
  for (const minutes of [20, 120]) {
    story.clock.advance({ minutes });
    await story.minutes(2);
    expect(await isHeld()).toBe(true);
  }
});
