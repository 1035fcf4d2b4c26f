import { beforeEach, describe, expect, it } from 'vitest';
import type { PartnerReader } from '../../../lambda/ports.ts';
import { assessment } from '../../support/assessments.ts';
import { Story, storiesHaveALedger } from '../../support/story.ts';

storiesHaveALedger();

let story: Story;
beforeEach(() => {
  story = new Story();
});

describe('the audits', () => {
  /** A day that takes so many requests to read. */
  const taking = (requests: number, prove: PartnerReader['prove']): PartnerReader['prove'] => {
    return async (...asked) => ({ ...(await prove(...asked)), requests });
  };
  const reads = () => story.requests.filter((request) => request === 'prove').length;

  beforeEach(async () => {
    story.world = Array.from({ length: 300 }, (_, index) =>
      assessment({ id: index + 1, certified_on: `2026-11-${18 + (index % 3)}` }),
    );
    await story.tick();
    story.clock.advance({ minutes: 16 });
    story.requests = [];
  });

  it('read as many days in one tick as the budget allows', async () => {
    story.settings = { audit: { recentMs: 900_000, historyMs: 86_400_000, requests: 2 } };
    await story.tick();
    expect(reads()).toBe(2);
    await story.tick();
    expect(reads()).toBe(4);
  });

  it('save in later ticks what a long read has cost beyond the budget', async () => {
    story.settings = { audit: { recentMs: 900_000, historyMs: 86_400_000, requests: 20 } };
    story.partner.prove = taking(61, story.partner.prove);
    await story.tick();
    expect(reads()).toBe(1);
    story.clock.advance({ minutes: 2 });
    await story.tick();
    expect(reads()).toBe(1);
    story.clock.advance({ minutes: 1 });
    await story.tick();
    expect(reads()).toBe(2);
  });

  it('save it also if something else is searched for meanwhile', async () => {
    const prove = story.partner.prove.bind(story.partner);
    story.partner.prove = taking(61, prove);
    await story.tick();
    story.partner.prove = prove;
    story.clock.advance({ minutes: 1 });
    story.requests = [];
    story.world = [...story.world, assessment({ id: 900, certified_on: '2011-11-11' })];
    await story.tick();
    expect(story.ids()).toEqual([`${story.name}/900/1`]);
    expect(reads()).toBe(1);
    story.clock.advance({ minutes: 1 });
    await story.tick();
    expect(reads()).toBe(1);
    story.clock.advance({ minutes: 1 });
    await story.tick();
    expect(reads()).toBeGreaterThan(1);
  });
});
