import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import type { PartnerReader } from '../../../lambda/ports/partner-reader.ts';
import { Integration } from '../../scaffold/integration.ts';
import { assessment } from '../../support/assessments.ts';
import { leftover } from './scenarios.ts';

let story: Integration;
beforeEach(async () => {
  story = new Integration();
  story.world = [
    assessment({ id: 1, certified_on: '2019-04-03' }),
    assessment({ id: 2, certified_on: '2026-11-20' }),
    ...Array.from({ length: 100 }, (_, index) =>
      assessment({ id: index + 3, certified_on: '2026-11-19' }),
    ),
  ];
  for (let ticks = 0; ticks < 3; ticks += 1) await story.tick();
  story.requests.length = 0;
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
const hasMore = async () => (await story.ledger.state()).pulseDigest === undefined;

describe('a change that a tick could not commit', () => {
  it('is dropped once the partner has undone it: one look finds this, and later ticks are quiet', async () => {
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
    story.requests.length = 0;
    expect(await story.tick({ ledger })).toMatchObject({ outcome: 'completed' });
    expect(story.requests).toEqual(['pulse']);
  });

  it('and only audits see is tried after 1, 2, 4 and more minutes, not in each tick', async () => {
    edit(1, 'changed@example.org');
    let looks = 0;
    const ledger = refusing();
    const counting = story.ledgerWith({
      commit: ledger.commit,
      saveState: (changes, lease) => {
        if ('pulseDigest' in changes) looks += 1;
        return story.ledger.saveState(changes, lease);
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
    expect(await tickFor(10)).toEqual({ looks: 6, failed: 3 });
    // Audits come every 15 minutes, too.
    expect(await tickFor(60)).toEqual({ looks: 10, failed: 4 });
  });
});

describe('audits that a tick has no time for', () => {
  it('leave no search behind: they are due, and resume', async () => {
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
    expect((await story.ledger.state()).dueAt).toBeGreaterThan(story.clock.now().epochMilliseconds);
  });

  it('do not hide uncommitted changes of the newest page', async () => {
    story.settings = { holdAbove: 1_000 };
    story.add(assessment({ id: 1_000, certified_on: '2026-11-21' }));
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

describe("a change during a tick's read, and another one after it", () => {
  const old = (id: number) => assessment({ id, certified_on: '2019-03-05' });
  const heard = () => story.heard.map(({ type, subject }) => `${type} ${subject}`);

  beforeEach(async () => {
    story.world = [...story.world, ...Array.from({ length: 20 }, (_, n) => old(1_001 + n))];
    story.settings = { announce: 'none' };
    for (let ticks = 0; ticks < 3; ticks += 1) await story.tick();
    story.heard.length = 0;
  });

  const duringTheNextRead = (change: () => void) => {
    const prove = story.partner.prove.bind(story.partner);
    let isOver = false;
    Object.assign(story.partner, {
      prove: async (...asked) => {
        if (!isOver) change();
        isOver = true;
        return prove(...asked);
      },
    } satisfies Partial<PartnerReader>);
  };
  const remove = (id: number) => {
    story.world = story.world.filter((one) => one.id !== id);
  };
  const aMinuteLater = () => {
    story.clock.advance({ minutes: 1 });
    return story.tick();
  };

  it('are announced within a minute each: an audit does not take them for a false total', async () => {
    story.clock.advance({ minutes: 16 });
    duringTheNextRead(() => remove(50));
    expect(await story.tick()).toMatchObject({ missing: 1, unexplained: 0 });
    story.add(old(5_000));
    expect(await aMinuteLater()).toMatchObject({ created: 1, unexplained: 0 });
  });

  it('are announced within a minute each in the other order', async () => {
    story.clock.advance({ minutes: 16 });
    duringTheNextRead(() => story.add(assessment({ id: 6_000, certified_on: '2026-11-20' })));
    expect(await story.tick()).toMatchObject({ created: 1, unexplained: 0 });
    remove(1_005);
    expect(await aMinuteLater()).toMatchObject({ missing: 1, unexplained: 0 });
  });

  it("are announced within two ticks if the read was a search's", async () => {
    duringTheNextRead(() => remove(1_004));
    story.add(old(5_000));
    await aMinuteLater();
    story.add(old(5_001));
    await aMinuteLater();
    expect(await aMinuteLater()).toMatchObject({ missing: 1, unexplained: 0 });
    const news = ['created 5000', 'created 5001'];
    expect(heard().sort()).toEqual(news.map((one) => `certification.${one}`));
  });

  it('are found although a tick had no time to search for the first and the total then agrees', async () => {
    expect(await leftover.tell(new Integration())).toEqual(leftover.seen);
  });

  it('are searched for if the calendar is wrong, instead of being remembered as unexplained', async () => {
    await story.ledger.addToDays(new Map([['2019-03-05', 1]]));
    story.clock.advance({ minutes: 16 });
    for (let ticks = 0; ticks < 2; ticks += 1)
      expect(await aMinuteLater()).toMatchObject({ unexplained: 0 });
    remove(1_010);
    expect(await aMinuteLater()).toMatchObject({ missing: 1 });
  });
});
