import { beforeEach, describe, expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { assessment } from '../../support/assessments.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

/** Rows of a page with which the read of a day takes 61 to 80 requests. */
const longRead = 5;

describe('the audits', () => {
  const reads = () => story.requests.filter((request) => request.startsWith('prove')).length;

  beforeEach(async () => {
    story.world = Array.from({ length: 390 }, (_, index) =>
      assessment({ id: index + 1, certified_on: `2026-11-${18 + (index % 3)}` }),
    );
    await story.tick();
    story.clock.advance({ minutes: 16 });
    story.requests.length = 0;
  });

  it('read as many days in one tick as the budget allows', async () => {
    story.settings = { audit: { ...tickSettings().audit, requests: 4 } };
    await story.tick();
    expect(reads()).toBe(2);
    await story.tick();
    expect(reads()).toBe(4);
  });

  it('save in later ticks what a long read has cost beyond the budget', async () => {
    story.settings = { audit: { ...tickSettings().audit, requests: 20 } };
    story.host.pageRows = longRead;
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
    story.host.pageRows = longRead;
    await story.tick();
    story.host.pageRows = 100;
    story.clock.advance({ minutes: 1 });
    story.requests.length = 0;
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
