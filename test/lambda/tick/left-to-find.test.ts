import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { assessment } from '../../support/assessments.ts';
import { Story, storiesHaveALedger } from '../../support/story.ts';

storiesHaveALedger();

let story: Story;
beforeEach(async () => {
  story = new Story();
  story.world = [
    assessment({ id: 1, certified_on: '2019-04-03' }),
    assessment({ id: 2, certified_on: '2026-11-20' }),
    ...Array.from({ length: 100 }, (_, index) =>
      assessment({ id: index + 3, certified_on: '2026-11-19' }),
    ),
  ];
  for (let ticks = 0; ticks < 3; ticks += 1) await story.tick();
  story.requests = [];
});

const edit = (id: number, email: string) => {
  story.world = story.world.map((one) => (one.id === id ? { ...one, email } : one));
};
const refusing = () =>
  story.ledgerWith({
    commit: async () => {
      throw new LedgerUnavailableError('UpdateItem', {});
    },
  });
const hasMore = async () => (await story.ledger.state()).hasMoreToFind;

describe('what a tick could not commit', () => {
  it('is nothing any more once the partner has taken it back: one look tells, and then it is quiet', async () => {
    const before = story.world;
    edit(2, 'changed@example.org');
    expect(await story.tick({ ledger: refusing() })).toMatchObject({ failed: 1 });
    expect(await hasMore()).toBe(true);

    story.world = before;
    story.clock.advance({ minutes: 1 });
    await story.tick();
    expect(await hasMore()).toBe(false);

    const ledger = story.ledgerWith({
      known: () => Promise.reject(new Error('a quiet tick does not look')),
    });
    story.requests = [];
    expect(await story.tick({ ledger })).toMatchObject({ outcome: 'completed' });
    expect(story.requests).toEqual(['pulse']);
  });

  it('and that only audits see costs one look after each of them, not one a tick', async () => {
    edit(1, 'changed@example.org');
    let looks = 0;
    const ledger = refusing();
    const counting = story.ledgerWith({
      commit: ledger.commit,
      known: (ids) => {
        if (ids.length === 100) looks += 1;
        return story.ledger.known(ids);
      },
    });
    const tickFor = async (minutes: number) => {
      looks = 0;
      let failed = 0;
      for (let minute = 0; minute < minutes; minute += 1) {
        story.clock.advance({ minutes: 1 });
        failed += (await story.tick({ ledger: counting })).failed;
      }
      return { looks, failed };
    };
    story.clock.advance({ hours: 24 });
    expect(await tickFor(1)).toEqual({ looks: 1, failed: 1 });
    expect(await tickFor(10)).toEqual({ looks: 1, failed: 0 });
    // The audits of the recent window, every 15 minutes.
    expect(await tickFor(60)).toEqual({ looks: 4, failed: 0 });
  });
});

describe('audits that a tick has no time for', () => {
  it('leave nothing to find: they are due, and go on', async () => {
    const slow = story.ledgerWith({
      knownOfDay: (day) => {
        story.clock.advance({ seconds: 55 });
        return story.ledger.knownOfDay(day);
      },
    });
    story.clock.advance({ minutes: 15 });
    expect(await story.tick({ ledger: slow })).toMatchObject({ cutShort: true, failed: 0 });
    expect(await hasMore()).toBe(false);
    await story.tick();
    expect((await story.ledger.state()).recentAuditAt).toBeGreaterThan(
      story.clock.now().epochMilliseconds,
    );
  });

  it('do not hide that what the page shows was not committed in time', async () => {
    story.settings = { holdAbove: 1_000 };
    story.world.push(assessment({ id: 1_000, certified_on: '2026-11-21' }));
    const slow = story.ledgerWith({
      known: (ids) => {
        story.clock.advance({ seconds: 55 });
        return story.ledger.known(ids);
      },
    });
    expect(await story.tick({ ledger: slow })).toMatchObject({ cutShort: true, created: 0 });
    expect(await hasMore()).toBe(true);
    expect(await story.tick()).toMatchObject({ created: 1 });
    expect(await hasMore()).toBe(false);
  });
});
