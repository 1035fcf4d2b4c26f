import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { TimedOutError, UnavailableError } from '../../../lambda/partner/errors.ts';
import type { PartnerReader } from '../../../lambda/ports/partner-reader.ts';
import type { TickReport } from '../../../lambda/tick/tick.ts';
import { Integration } from '../../scaffold/integration.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { assessment } from '../../support/assessments.ts';
import {
  elsewhere,
  lag,
  newcomers,
  numbers,
  on,
  part,
  proofs,
  rest,
  stale,
  turns,
  vain,
} from './scenarios.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

/** The partner, with some of its answers replaced from now on. */
function partnerWith(replaced: Partial<PartnerReader>): void {
  Object.assign(story.partner, replaced);
}

describe('a tick at a slow partner', () => {
  beforeEach(async () => {
    story.world = [
      ...on('2024-02-29', numbers(1, 60)),
      ...on('2011-11-11', numbers(101, 160)),
      ...on('2026-11-20', [300]),
    ];
    await story.tick();
    await story.tick();
  });

  it('ends in order when its own deadline cuts a question off, and the next one goes on', async () => {
    const { count } = story.partner;
    partnerWith({ count: () => Promise.reject(new TimedOutError('list', 'deadline')) });
    story.world = [...story.world, ...on('2010-10-10', [400])];
    expect(await story.tick()).toMatchObject({ outcome: 'completed', created: 0 });
    partnerWith({ count });
    expect(await story.tick()).toMatchObject({ created: 1, delivered: 1 });
  });

  it('still fails when the partner does not answer in its own time', async () => {
    partnerWith({ count: () => Promise.reject(new TimedOutError('list', 'attempt')) });
    story.world = [...story.world, ...on('2010-10-10', [400])];
    await expect(story.tick()).rejects.toThrow(TimedOutError);
  });

  it('does not take a read that was cut off for a count of the day', async () => {
    expect(await vain.tell(new Integration())).toEqual(vain.seen);
  });

  it('does not spend each tick on the same half of what it cannot prove', async () => {
    expect(await turns.tell(new Integration())).toEqual(turns.seen);
  });
});

describe('what is missing', () => {
  it('is asked for over as many ticks as it takes, and none is forgotten', async () => {
    story.settings = { holdAbove: 10_000 };
    story.world = [...on('2024-02-29', numbers(1, 140)), ...on('2011-11-11', numbers(301, 500))];
    await story.tick();
    await story.tick();
    story.world = story.world.filter(({ id }) => id > 130);
    story.requests.length = 0;
    let { withdrawn } = await story.tick();
    expect(story.requests.filter((request) => request.startsWith('get'))).toHaveLength(100);
    withdrawn += (await story.tick()).withdrawn;
    expect(withdrawn).toBe(130);
    story.requests.length = 0;
    expect(await story.tick()).toMatchObject({ unexplained: 0, examined: 0 });
  });

  it.each([
    [3, 3, {}],
    [9, 6, { 'single-record-broken': 1 }],
  ])(
    'of which %i cannot be asked for, as nothing can, stands after %i requests, and ops hear if it is the endpoint',
    async (failing, requests, conditions) => {
      story.world = [...on('2024-02-29', numbers(1, 20)), ...on('2011-11-11', numbers(301, 320))];
      await story.tick();
      await story.tick();
      let asked = 0;
      partnerWith({
        get: () => {
          asked += 1;
          return Promise.reject(new UnavailableError('get', 'status 500'));
        },
      });
      story.world = story.world.filter(({ id }) => id > failing);
      expect(await story.tick()).toMatchObject({ outcome: 'completed', withdrawn: 0, conditions });
      expect(asked).toBe(requests);
      story.requests.length = 0;
      await story.tick();
      expect(story.requests).toEqual(['pulse']);
    },
  );

  it('and cannot be asked for keeps a tick from nothing else', async () => {
    story.world = [
      ...on('2026-11-20', numbers(1, 40)),
      ...on('2026-11-19', numbers(101, 180)),
      ...on('2024-02-29', numbers(301, 390)),
    ];
    await story.tick();
    await story.tick();
    const get = story.partner.get.bind(story.partner);
    partnerWith({
      get: (id, deadline) =>
        id <= 4 ? Promise.reject(new UnavailableError('get', 'status 500')) : get(id, deadline),
    });
    story.world = [
      ...story.world.filter(({ id }) => id > 5 && id !== 102),
      ...on('2024-02-29', [7_000]),
    ];
    expect(await story.tick()).toMatchObject({ created: 1, withdrawn: 2, conditions: {} });
    expect(story.ids()).toContain(`${story.name}/7000/1`);
  });

  it('and cannot be asked for does not keep the others from it, nor ticks from being quiet', async () => {
    story.settings = { holdAbove: 10_000 };
    story.world = on('2024-02-29', numbers(1, 400));
    await story.tick();
    await story.tick();
    const get = story.partner.get.bind(story.partner);
    partnerWith({
      get: (id, deadline) => {
        story.requests.push('get');
        return id <= 110
          ? Promise.reject(new UnavailableError('get', 'status 500'))
          : get(id, deadline);
      },
    });
    story.world = story.world.filter(({ id }) => id > 130);
    const withdrawn = [];
    for (let ticks = 0; ticks < 15; ticks += 1) {
      withdrawn.push((await story.tick()).withdrawn);
      story.clock.advance({ minutes: 1 });
    }
    expect(withdrawn.slice(0, 3).reduce((sum, many) => sum + many, 0)).toBe(20);
    await story.tick();
    story.requests.length = 0;
    await story.tick();
    expect(story.requests).toEqual(['pulse']);
    // After a day of it, operations hear that the day cannot be proven.
    for (let times = 0; times < 2; times += 1) {
      story.clock.advance({ hours: 25 });
      await story.tick();
    }
    expect(story.notices.at(-1)?.subject).toMatch(/cannot be proven complete/);
  });

  it('is held when it was most of a day, also if some of it could not be asked for until a day later', async () => {
    expect(await part.tell(new Integration())).toEqual(part.seen);
  });

  it('is held when it was most of a day, also what could not be committed at first', async () => {
    story.world = [...on('2024-02-29', numbers(1, 20)), ...on('2023-01-01', numbers(101, 140))];
    await story.tick();
    await story.tick();
    let commits = 0;
    const ledger = story.ledgerWith({
      commit: (...change) => {
        commits += 1;
        if (commits <= 6) throw new LedgerUnavailableError('UpdateItem', {});
        return story.ledger.commit(...change);
      },
    });
    story.world = story.world.filter(({ id }) => id > 12);
    expect(await story.tick({ ledger })).toMatchObject({ withdrawn: 6, held: 6, failed: 6 });
    expect(await story.tick()).toMatchObject({ withdrawn: 6, held: 6, delivered: 0 });
  });

  it('is withdrawn soon after a minute in which nothing could be had by its id', async () => {
    story.world = [...on('2026-11-20', numbers(1, 20)), ...on('2024-02-29', numbers(301, 390))];
    await story.tick();
    await story.tick();
    const get = story.partner.get.bind(story.partner);
    partnerWith({
      get: (id, deadline) =>
        id === 301 ? get(id, deadline) : Promise.reject(new UnavailableError('get', 'status 500')),
    });
    story.world = story.world.filter(({ id }) => id !== 301);
    expect(await story.tick()).toMatchObject({ withdrawn: 0 });
    partnerWith({ get });
    let minutes = 0;
    for (; minutes < 60 && story.heard.length === 0; minutes += 1) {
      story.clock.advance({ minutes: 1 });
      await story.tick();
    }
    // The endpoint is tried with the next audits.
    expect(minutes).toBeLessThanOrEqual(17);
  });

  it('stands while the records that the list shows get no answer, either: a flood ends', async () => {
    story.world = [...on('2026-11-20', numbers(1, 20)), ...on('2024-02-29', numbers(301, 390))];
    story.settings = { holdAbove: 10 };
    await story.tick();
    await story.tick();
    const get = story.partner.get.bind(story.partner);
    partnerWith({
      get: (id, deadline) =>
        id === 1 ? get(id, deadline) : Promise.reject(new UnavailableError('get', 'status 500')),
    });
    story.world = [
      ...story.world.filter(({ id }) => id !== 1),
      ...on('2026-11-20', numbers(501, 520)),
    ];
    expect(await story.tick()).toMatchObject({ held: 20, withdrawn: 0 });
    story.world = [...story.world, ...on('2026-11-20', [600])];
    expect(await story.tick()).toMatchObject({ created: 1, held: 0, delivered: 1 });
  });

  it('is held when it was most of a day, also if it takes many ticks to confirm', async () => {
    story.world = [...on('2024-02-29', numbers(1, 20)), ...on('2023-01-01', numbers(101, 140))];
    await story.tick();
    await story.tick();
    const get = story.partner.get.bind(story.partner);
    partnerWith({
      get: (id, deadline) => {
        story.clock.advance({ seconds: 5 });
        return get(id, deadline);
      },
    });
    story.world = story.world.filter(({ id }) => id > 12);
    const ticks: TickReport[] = [];
    for (let n = 0; n < 5; n += 1) {
      story.clock.advance({ minutes: 1 });
      ticks.push(await story.tick());
    }
    const sum = (what: 'withdrawn' | 'held' | 'delivered') =>
      ticks.reduce((total, tick) => total + tick[what], 0);
    expect([sum('withdrawn'), sum('held'), sum('delivered')]).toEqual([12, 12, 0]);
    expect(ticks[0]?.withdrawn).toBeLessThan(12);
  });

  it('is announced as far as a slow partner could be asked, and the rest by later ticks', async () => {
    story.world = [...on('2024-02-29', numbers(1, 30)), ...on('2011-11-11', numbers(301, 360))];
    await story.tick();
    await story.tick();
    const { get } = story.partner;
    partnerWith({
      get: (...asked) => {
        story.clock.advance({ seconds: 3 });
        return get(...asked);
      },
    });
    story.world = story.world.filter(({ id }) => id > 25);
    const withdrawn: number[] = [];
    for (let ticks = 0; ticks < 3; ticks++) withdrawn.push((await story.tick()).withdrawn);
    expect(withdrawn[0]).toBeGreaterThan(5);
    expect(withdrawn.reduce((sum, one) => sum + one)).toBe(25);
  });

  it('leaves its day unproven while no record at all can be fetched by its id', async () => {
    expect(await proofs.tell(new Integration())).toEqual(proofs.seen);
  });

  it('and found on another day is expected there, so that nothing stays unexplained', async () => {
    expect(await elsewhere.tell(new Integration())).toEqual(elsewhere.seen);
  });

  it('among the readable is expected as it is counted', async () => {
    expect(await rest.tell(new Integration())).toEqual(rest.seen);
  });
});

describe('ticks that meet', () => {
  beforeEach(async () => {
    story.world = on('2026-11-20', [1]);
    await story.tick();
    await story.tick();
  });

  const edited = (organization_name: string) =>
    assessment({ id: 1, certified_on: '2026-11-20', organization_name });

  it('do not commit what was seen before the other was at work', async () => {
    expect(await stale.tell(new Integration())).toEqual(stale.seen);
  });

  it('report at once what is malformed on the page that they look at again', async () => {
    story.world = [edited('newer')];
    let hasMet = false;
    const ledger = story.ledgerWith({
      takeLease: async (lease) => {
        if (!hasMet) {
          hasMet = true;
          story.clock.advance({ seconds: 1 });
          await story.tick();
          story.host.add(7, '2026-11-20');
          story.host.spoil(7);
        }
        return story.ledger.takeLease(lease, story.clock.now());
      },
    });
    expect(await story.tick({ ledger })).toMatchObject({ quarantined: 1 });
    expect((await story.ledger.state()).reported).toEqual(['7']);
  });
});

describe('the index of the undelivered', () => {
  it('is not trusted a minute after a crash, however long the trouble has lasted', async () => {
    expect(await lag.tell(new Integration())).toEqual(lag.seen);
  });
});

describe('what is held', () => {
  it('is not thought to be over while the same certifications wait for their digest', async () => {
    const alerts = { ...tickSettings().alerts, digestEvery: 60 };
    story.settings = { holdAbove: 3, alerts };
    await story.tick();
    await story.tick();
    for (const ids of [
      [1, 2],
      [3, 4],
    ]) {
      story.world = [...story.world, ...on('2026-11-20', ids)];
      expect(await story.tick()).toMatchObject({ delivered: 2 });
    }
    story.world = story.world.map((one) => ({ ...one, organization_name: 'Cinder Creek' }));
    expect(await story.tick()).toMatchObject({ held: 4 });
    story.clock.advance({ minutes: 20 });
    await story.tick();
    expect((await story.ledger.state()).conditions.has('held')).toBe(true);
    story.clock.advance({ hours: 2 });
    for (let ticks = 0; ticks < 3; ticks++) await story.tick();
    expect((await story.ledger.state()).conditions.has('held')).toBe(true);
  });
});

describe('a baseline that takes many ticks', () => {
  it('announces at once what appears on its start day, and records what was there before', async () => {
    expect(await newcomers.tell(new Integration())).toEqual(newcomers.seen);
  });

  it('tries a day again that could not be read, and announces nothing of it', async () => {
    story.world = [...on('2026-11-20', [1]), ...on('2024-02-29', [2])];
    const prove = story.partner.prove.bind(story.partner);
    let failures = 2;
    partnerWith({
      prove: async (...asked) => {
        const isPoison = asked[0].from?.toString() === '2026-11-20' && failures > 0;
        if (isPoison) failures -= 1;
        return isPoison ? Promise.reject(new UnavailableError('list', '500')) : prove(...asked);
      },
    });
    for (let ticks = 0; ticks < 4; ticks++) await story.tick();
    story.clock.advance({ hours: 25 });
    await story.tick();
    expect((await story.ledger.state()).baseline.status).toBe('completed');
    expect(story.heard).toEqual([]);
  });

  it('leaves a day to the audits that can never be read', async () => {
    story.world = [...on('2026-11-20', [1]), ...on('2024-02-29', [2])];
    const prove = story.partner.prove.bind(story.partner);
    partnerWith({
      prove: async (...asked) =>
        asked[0].from?.toString() === '2026-11-20'
          ? Promise.reject(new UnavailableError('list', '500'))
          : prove(...asked),
    });
    for (let ticks = 0; ticks < 6; ticks++) await story.tick();
    expect((await story.ledger.state()).baseline.status).toBe('completed');
  });

  it('begins when its start day is recorded: what comes before that is part of it', async () => {
    const prove = story.partner.prove.bind(story.partner);
    partnerWith({ prove: () => Promise.reject(new Error('reset')) });
    story.world = on('2026-11-21', [1]);
    await expect(story.tick()).rejects.toThrow('reset');
    story.world = [...story.world, ...on('2026-11-21', [2])];
    partnerWith({ prove });
    expect(await story.tick()).toMatchObject({ outcome: 'baseline', recorded: 2 });
    expect(story.heard).toEqual([]);
  });
});
