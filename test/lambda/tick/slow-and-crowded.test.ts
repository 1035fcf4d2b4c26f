import { beforeEach, describe, expect, it } from 'vitest';
import { PartnerError } from '../../../lambda/partner/errors.ts';
import type { PartnerReader } from '../../../lambda/ports/partner-reader.ts';
import { Integration } from '../../scaffold/integration.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { assessment } from '../../support/assessments.ts';
import { apart, lag, newcomers, numbers, on, rest, stale, vain } from './scenarios.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

/** Replaces answers of the partner from now on. */
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

  it('ends properly when its own deadline cuts a request off, and the next tick resumes', async () => {
    const { count } = story.partner;
    partnerWith({ count: () => Promise.reject(new PartnerError('out-of-time', 'list')) });
    story.world = [...story.world, ...on('2010-10-10', [400])];
    expect(await story.tick()).toMatchObject({ outcome: 'completed', created: 0 });
    partnerWith({ count });
    expect(await story.tick()).toMatchObject({ created: 1, delivered: 1 });
  });

  it("fails if the partner does not answer in the partner's own time", async () => {
    partnerWith({ count: () => Promise.reject(new PartnerError('timed-out', 'list')) });
    story.world = [...story.world, ...on('2010-10-10', [400])];
    const failure = { code: 'timed-out' };
    expect(await story.tick()).toMatchObject({ outcome: 'disturbed', failure });
  });

  it('does not take a read that was cut off for a count of the day', async () => {
    expect(await vain.tell(new Integration())).toEqual(vain.seen);
  });

  it('does not spend each tick on the same half of an unprovable range', async () => {
    expect(await apart.tell(new Integration())).toEqual(apart.seen);
  });
});

describe('missing certifications', () => {
  const gone = () => story.heard.filter(({ type }) => type === 'certification.withdrawn').length;

  it('are asked for over several ticks, and none is forgotten', async () => {
    story.world = [...on('2024-02-29', numbers(1, 140)), ...on('2011-11-11', numbers(301, 500))];
    await story.minutes(2);
    story.world = story.world.filter(({ id }) => id > 130);
    await story.minutes(2);
    await story.operate({ command: 'accept-total', total: 210 });
    story.requests.length = 0;
    for (let asked = 0; asked < 130; ) {
      await story.minute();
      const gets = story.requests.filter((request) => request.startsWith('get')).length;
      expect(gets - asked).toBeLessThanOrEqual(100);
      asked = gets;
    }
    expect(gone()).toBe(130);
    story.requests.length = 0;
    expect(await story.minute()).toMatchObject({ unexplained: 0, examined: 0 });
  });

  it('without an answer delay nothing else', async () => {
    story.world = [
      ...on('2026-11-20', numbers(1, 40)),
      ...on('2026-11-19', numbers(101, 180)),
      ...on('2024-02-29', numbers(301, 390)),
    ];
    await story.minutes(2);
    const get = story.partner.get.bind(story.partner);
    partnerWith({
      get: (id, deadline) =>
        id <= 4 ? Promise.reject(new PartnerError('unavailable', 'list')) : get(id, deadline),
    });
    story.world = [
      ...story.world.filter(({ id }) => id > 5 && id !== 102),
      ...on('2024-02-29', [7_000]),
    ];
    expect(await story.minute()).toMatchObject({ created: 1 });
    await story.minutesUntil(() => gone() === 2, 20);
  });

  it('are withdrawn as far as a slow partner could be asked, and the others in later ticks', async () => {
    story.world = [...on('2024-02-29', numbers(1, 30)), ...on('2011-11-11', numbers(301, 420))];
    await story.minutes(2);
    story.world = story.world.filter(({ id }) => id > 25);
    await story.minutes(9);
    const { get } = story.partner;
    partnerWith({
      get: (...asked) => {
        story.clock.advance({ seconds: 20 });
        return get(...asked);
      },
    });
    const withdrawn: number[] = [];
    for (let ticks = 0; ticks < 20; ticks++) withdrawn.push((await story.minute()).withdrawn);
    const some = withdrawn.filter((many) => many > 0);
    expect(some.length).toBeGreaterThan(1);
    expect(some.reduce((sum, one) => sum + one)).toBe(25);
  });

  it('among malformed records are expected as counted', async () => {
    expect(await rest.tell(new Integration())).toEqual(rest.seen);
  });
});

describe('ticks that overlap', () => {
  beforeEach(async () => {
    story.world = on('2026-11-20', [1]);
    await story.tick();
    await story.tick();
  });

  const edited = (organization_name: string) =>
    assessment({ id: 1, certified_on: '2026-11-20', organization_name });

  it("do not commit sightings from before the other tick's work", async () => {
    expect(await stale.tell(new Integration())).toEqual(stale.seen);
  });

  it('report malformed records of a repeated page at once', async () => {
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
  it('is not trusted a minute after a crash, also after an hour of crashes', async () => {
    expect(await lag.tell(new Integration())).toEqual(lag.seen);
  });
});

describe('the condition of held events', () => {
  it('does not end while the same certifications wait for their digest', async () => {
    const alerts = { ...tickSettings().alerts, digestEvery: 60 };
    story.settings = { holdAbove: 4, alerts };
    await story.tick();
    await story.tick();
    for (const ids of [
      [1, 2],
      [3, 4],
    ]) {
      story.world = [...story.world, ...on('2026-11-20', ids)];
      expect(await story.tick()).toMatchObject({ delivered: 2 });
    }
    story.settings = { holdAbove: 3, alerts };
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
  it('announces certifications that appear on its start day at once, and records earlier ones', async () => {
    expect(await newcomers.tell(new Integration())).toEqual(newcomers.seen);
  });

  it('reads a failed day again, and announces nothing of it', async () => {
    story.world = [...on('2026-11-20', [1]), ...on('2024-02-29', [2])];
    const prove = story.partner.prove.bind(story.partner);
    let failures = 2;
    partnerWith({
      prove: async (...asked) => {
        const isPoison = asked[0].from?.toString() === '2026-11-20' && failures > 0;
        if (isPoison) failures -= 1;
        return isPoison ? Promise.reject(new PartnerError('unavailable', 'list')) : prove(...asked);
      },
    });
    for (let ticks = 0; ticks < 4; ticks++) await story.tick();
    story.clock.advance({ hours: 25 });
    await story.tick();
    expect((await story.ledger.state()).baseline.status).toBe('completed');
    expect(story.heard).toEqual([]);
  });

  it('leaves a day that can never be read to the audits', async () => {
    story.world = [...on('2026-11-20', [1]), ...on('2024-02-29', [2])];
    const prove = story.partner.prove.bind(story.partner);
    partnerWith({
      prove: async (...asked) =>
        asked[0].from?.toString() === '2026-11-20'
          ? Promise.reject(new PartnerError('unavailable', 'list'))
          : prove(...asked),
    });
    for (let ticks = 0; ticks < 6; ticks++) await story.tick();
    expect((await story.ledger.state()).baseline.status).toBe('completed');
  });

  it('begins when its start day is recorded, so earlier certifications are part of it', async () => {
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
