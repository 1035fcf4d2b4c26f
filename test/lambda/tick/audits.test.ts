import { beforeEach, describe, expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { assessment } from '../../support/assessments.ts';
import { editedLongAgo } from './scenarios.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

/** With so many rows to a page, the read of a day takes 61 to 80 requests. */
const longRead = 5;

it('an audit finds within the hour an edit that neither a page nor a count shows', async () => {
  expect(await editedLongAgo.tell(new Integration())).toEqual(editedLongAgo.seen);
});

describe('the audits of the history', () => {
  const reads = () =>
    story.requests.filter((request) => /^prove .*2024-02-2\d$/.test(request)).length;
  const minutes = async (many: number) => {
    for (let minute = 0; minute < many; minute += 1) {
      story.clock.advance({ minutes: 1 });
      await story.tick();
    }
  };

  beforeEach(async () => {
    story.world = Array.from({ length: 390 }, (_, index) =>
      assessment({ id: index + 1, certified_on: `2024-02-2${6 + (index % 3)}` }),
    );
    await story.minutes(3);
    story.clock.advance({ hours: 25 });
    story.requests.length = 0;
  });

  it('read as many days in one tick as the budget allows, and save up the budget again', async () => {
    story.settings = { audit: { ...tickSettings().audit, requests: 4 } };
    await story.tick();
    expect(reads()).toBe(2);
    // Four requests, at two a minute.
    await minutes(1);
    expect(reads()).toBe(2);
    await minutes(1);
    expect(reads()).toBe(3);
  });

  it('make up in later ticks for a long read beyond the budget', async () => {
    story.host.pageRows = longRead;
    await story.tick();
    expect(reads()).toBe(1);
    await minutes(29);
    expect(reads()).toBe(1);
    await minutes(12);
    expect(reads()).toBe(2);
  });

  it('make up for it also if a search runs meanwhile', async () => {
    story.host.pageRows = longRead;
    await story.tick();
    story.host.pageRows = 100;
    await minutes(1);
    story.world = [...story.world, assessment({ id: 900, certified_on: '2011-11-11' })];
    await minutes(1);
    expect(story.ids()).toEqual([`${story.name}/900/1`]);
    // The neighbouring day was read with it.
    expect(reads()).toBe(2);
    await minutes(20);
    expect(reads()).toBe(2);
  });
});
