import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { contract } from '../../../lambda/operations/contract.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';

let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

const on = (certified_on: string, id: number, more = {}) =>
  assessment({ id, certified_on, ...more });
type Happening = { readonly add: number } | { readonly tick: number } | { readonly restart: true };

async function happens(one: Happening, id: number): Promise<void> {
  if ('add' in one) {
    // From 2009 to today, of which the last is the most frequent.
    story.add(on(one.add > 8 ? '2026-11-21' : `${2009 + one.add * 2}-05-05`, id));
  } else if ('tick' in one) {
    story.requestSeconds = one.tick;
    await story.tick();
    story.requestSeconds = 0;
  } else await story.operate({ command: 'restart-baseline' });
}

const untilRead = async () => {
  while ((await story.ledger.state()).baseline.status !== 'completed') await story.tick();
};
const ids = () => story.heard.map(({ id }) => id.replace(`${story.name}/`, ''));

describe('a pause', () => {
  it('stops ticks, and its end starts them again; nothing is lost', async () => {
    await story.settle();
    expect(await story.operate({ command: 'pause', reason: 'a migration' })).toMatchObject({
      ok: true,
      result: { changed: true, paused: { reason: 'a migration' } },
    });
    story.world = [on('2026-11-21', 1)];
    expect(await story.tick()).toMatchObject({ outcome: 'paused' });
    expect(story.heard).toEqual([]);
    expect(await story.operate({ command: 'resume' })).toMatchObject({
      result: { changed: true },
    });
    await story.tick();
    expect(ids()).toEqual(['1/1']);
  });

  it('that is made twice is the first one', async () => {
    await story.operate({ command: 'pause', reason: 'the first' });
    story.clock.advance({ hours: 1 });
    expect(await story.operate({ command: 'pause', reason: 'the second' })).toMatchObject({
      ok: true,
      result: { changed: false, paused: { reason: 'the first', since: '2026-11-21T08:00:00Z' } },
    });
    await story.operate({ command: 'resume' });
    expect(await story.operate({ command: 'resume' })).toMatchObject({
      result: { changed: false },
    });
  });

  it('that the SDK writes again, as its answer was lost, is still made by whoever has made it', async () => {
    await story.settle();
    const { opsLedger, clock } = story;
    const pause = { since: clock.now(), by: 'odile', reason: 'a migration' };
    expect(await opsLedger.pause(pause, 'a')).toBe(true);
    expect(await opsLedger.pause(pause, 'a')).toBe(true);
    expect(await opsLedger.pause({ ...pause, by: 'odette' }, 'b')).toBe(false);
    expect((await story.ledger.state()).pause).toMatchObject({ by: 'odile' });
    expect(await opsLedger.resume('c')).toBe(true);
    expect(await opsLedger.resume('c')).toBe(true);
    expect(await opsLedger.resume('d')).toBe(false);
    expect(await story.ledger.state()).toMatchObject({ paused: false });
  });

  it('can be made before the very first tick', async () => {
    await story.operate({ command: 'pause', reason: 'not yet' });
    expect(await story.tick()).toMatchObject({ outcome: 'paused' });
    await story.operate({ command: 'resume' });
    expect(await story.tick()).toMatchObject({ outcome: 'baseline' });
  });

  it('is told of by what only happens when it is over', async () => {
    await story.settle();
    await story.commit([on('2026-11-20', 1)], 'held');
    await story.operate({ command: 'pause', reason: 'a migration', by: 'odile' });
    const paused = { since: '2026-11-21T08:00:00Z', by: 'odile', reason: 'a migration' };
    for (const command of [
      { command: 'release' },
      { command: 'release', as: 'digest' },
      { command: 'accept-total', total: 0 },
      { command: 'restart-baseline' },
    ])
      expect(await story.operate(command)).toMatchObject({ ok: true, result: { paused } });
    await story.tick();
    expect(story.heard).toEqual([]);
    await story.operate({ command: 'resume' });
    await story.tick();
    expect(ids()).toEqual(['1/1']);
    for (const command of ['release', 'restart-baseline'])
      expect((await story.operate({ command })).result).not.toHaveProperty('paused');
  });

  it.each([
    ['a path of many signs', `arn:aws:iam::111122223333:user/!dept/#1;(x)/odile`, true],
    ['a long path', `arn:aws:iam::111122223333:user/${'d'.repeat(510)}/odile`, true],
    ['what is none', 'odile\u0007', false],
    ['too much', 'd'.repeat(2_049), false],
  ])('is by whoever AWS says: %s', async (_, by, isTaken) => {
    await story.settle();
    const answer = await story.operate({ command: 'pause', reason: 'a migration', by });
    expect(answer.ok).toBe(isTaken);
    if (isTaken) expect(answer).toMatchObject({ result: { paused: { by } } });
  });

  it('needs a reason', async () => {
    expect(await story.operate({ command: 'pause' })).toMatchObject({
      problem: { code: 'command-invalid', message: expect.stringContaining('reason') },
    });
  });
});

describe('a tick on demand', () => {
  it('announces what has changed and answers what it did', async () => {
    await story.settle();
    story.world = [on('2026-11-21', 1)];
    const answer = await story.operate({ command: 'tick' });
    expect(answer).toMatchObject({
      ok: true,
      result: { outcome: 'completed', created: 1, delivered: 1 },
    });
    expect(ids()).toEqual(['1/1']);
  });

  it('leaves the field to one that is at work', async () => {
    await story.settle();
    const until = story.clock.now().add({ minutes: 1 });
    await story.ledger.takeLease({ owner: 'another', until }, story.clock.now());
    expect(await story.operate({ command: 'tick' })).toMatchObject({ result: { outcome: 'busy' } });
  });

  it('that fails says why', async () => {
    await story.settle();
    story.partner.pulse = () => Promise.reject(new TypeError('Odalys'));
    expect(await story.operate({ command: 'tick' })).toMatchObject({
      ok: false,
      problem: { code: 'unexpected', message: 'The command failed: TypeError.' },
    });
  });
});

describe('stored credentials', () => {
  it('are tried by the next tick, whatever was refused before', async () => {
    await story.settle();
    await story.ledger.saveState({
      backOff: { until: story.clock.now().add({ minutes: 50 }), failures: 6 },
    });
    expect(await story.tick()).toMatchObject({ outcome: 'backing-off' });
    expect(await story.operate({ command: 'credentials-stored' })).toMatchObject({
      result: { changed: true },
    });
    expect(await story.tick()).toMatchObject({ outcome: 'completed' });
    expect(await story.operate({ command: 'credentials-stored' })).toMatchObject({
      result: { changed: false },
    });
  });
});

describe('credentials that are about to be stored', () => {
  const named = { command: 'credentials-stored', by: 'odile', operation: 'mine' };
  const history = async () =>
    z
      .object({ history: z.array(z.looseObject({})) })
      .parse((await story.operate({ command: 'status', history: true })).result).history;

  it('are on record before they are, and once: as under way, and then as done', async () => {
    await story.settle();
    await story.ledger.saveState({
      backOff: { until: story.clock.now().add({ minutes: 50 }), failures: 6 },
    });
    const begun = await story.operate({ ...named, stored: false });
    expect(begun).toMatchObject({ ok: true, result: { changed: false } });
    expect(await story.tick()).toMatchObject({ outcome: 'backing-off' });
    expect(await history()).toMatchObject([
      { command: 'credentials-stored', by: 'odile', outcome: { ok: true, rest: {} } },
    ]);

    const { next } = z.object({ next: z.looseObject({}) }).parse(begun.result);
    expect(await story.operate(next)).toMatchObject({ result: { changed: true } });
    const [done, ...others] = await history();
    expect(others).toEqual([]);
    expect(done).toMatchObject({ by: 'odile', outcome: { ok: true, changed: true } });
    expect(done?.outcome).not.toHaveProperty('rest');
    expect(await story.tick()).toMatchObject({ outcome: 'completed' });
  });

  it('are the same on record for a caller who only knows what he has called it', async () => {
    await story.settle();
    await story.operate({ ...named, stored: false });
    await story.operate(named);
    expect(await history()).toHaveLength(1);
  });
});

describe('how far the baseline is', () => {
  it('is told by what was read since it began, also once it was restarted', async () => {
    story.world = Array.from({ length: 40 }, (_, index) =>
      on(index < 20 ? '2026-11-21' : '2020-01-01', index + 1),
    );
    const progress = async () => {
      const { result } = await story.operate({ command: 'status', partner: false });
      return contract.status.result.parse(result).baseline;
    };
    for (let round = 0; round < 2; round += 1) {
      story.requestSeconds = 17;
      story.clock.advance({ minutes: 1 });
      await story.tick();
      expect(await progress()).toMatchObject({
        status: 'running',
        counted: 20,
        before: '2026-11-21',
      });
      story.requestSeconds = 0;
      await untilRead();
      expect(await progress()).toMatchObject({ status: 'completed', counted: 40 });
      story.clock.advance({ minutes: 1 });
      await story.operate({ command: 'restart-baseline' });
      expect(await progress()).toMatchObject({ status: 'running', counted: 0 });
    }
  });

  it.each([
    ['paused', () => story.operate({ command: 'pause', reason: 'a reason' })],
    [
      'backing-off',
      () =>
        story.ledger.saveState({
          backOff: { until: story.clock.now().add({ minutes: 4 }), failures: 2 },
        }),
    ],
  ] as const)('is told without the partner while that is left alone: %s', async (code, leave) => {
    await story.settle();
    await leave();
    story.requests.length = 0;
    expect(await story.operate({ command: 'status' })).toMatchObject({
      ok: true,
      result: { baseline: { status: 'completed' }, partner: { problem: { code } } },
    });
    expect(story.requests).toEqual([]);
  });
});

describe('a baseline that is restarted', () => {
  it('announces nothing again, but what has changed since', async () => {
    story.world = [on('2020-01-01', 1), on('2020-01-02', 2)];
    await story.settle();
    story.add(on('2026-11-21', 3));
    await story.tick();
    expect(ids()).toEqual(['3/1']);
    story.host.edit(2, { email: 'b@example.org' });
    expect(await story.operate({ command: 'restart-baseline' })).toMatchObject({
      ok: true,
      result: { changed: true },
    });
    await story.tick();
    await story.tick();
    expect(ids()).toEqual(['3/1', '2/2']);
    expect(await story.operate({ command: 'status' })).toMatchObject({
      result: { baseline: { status: 'completed', counted: 3 } },
    });
    expect(await story.tick()).toMatchObject({ outcome: 'completed', examined: 0 });
  });

  it('twice is restarted once, also when ticks have begun with it', async () => {
    story.world = [on('2020-01-01', 1), on('2019-01-01', 2)];
    await story.settle();
    await story.operate({ command: 'restart-baseline' });
    const isDone = { ok: true, result: { changed: false } };
    expect(await story.operate({ command: 'restart-baseline' })).toMatchObject(isDone);
    story.requestSeconds = 17;
    expect(await story.tick()).toMatchObject({ outcome: 'baseline' });
    expect((await story.ledger.state()).baseline).toMatchObject({ status: 'running' });
    expect(await story.operate({ command: 'restart-baseline' })).toMatchObject(isDone);
  });

  it('announces what has appeared since the last tick, on whatever day', async () => {
    story.world = [on('2020-01-01', 1), on('2020-01-02', 2)];
    await story.settle();
    story.add(on('2026-11-21', 3), on('2020-01-01', 4));
    await story.operate({ command: 'restart-baseline' });
    story.add(on('2026-11-21', 5), on('2019-01-01', 6));
    await story.tick();
    await story.tick();
    expect(ids().sort()).toEqual(['3/1', '4/1', '5/1', '6/1']);
    expect(await story.operate({ command: 'status' })).toMatchObject({
      result: { standing: 'up-to-date', certifications: 6 },
    });
  });

  it('announces what appears while it is read, before and behind where it is', async () => {
    const years = Array.from({ length: 12 }, (_, index) => 2008 + index);
    story.world = years.map((year) => on(`${year}-05-05`, year));
    await story.settle();
    await story.operate({ command: 'restart-baseline' });
    story.requestSeconds = 9;
    for (let ticks = 1; (await story.ledger.state()).baseline.status !== 'completed'; ticks += 1) {
      story.add(on('2009-03-03', 100 + ticks), on('2026-11-20', 200 + ticks));
      await story.tick();
    }
    story.requestSeconds = 0;
    const appeared = story.world.filter(({ id }) => id < 2008).map(({ id }) => `${id}/1`);
    expect(appeared.length).toBeGreaterThan(2);
    await story.tick();
    await story.tick();
    expect(ids().sort()).toEqual(appeared.sort());
  });

  it('holds what it finds if that is a flood, to its end', async () => {
    story.world = [on('2020-01-01', 1)];
    await story.settle();
    for (let id = 2; id <= 602; id += 1) story.add(on(`20${10 + (id % 10)}-02-02`, id));
    await story.operate({ command: 'restart-baseline' });
    story.requestSeconds = 9;
    await untilRead();
    expect(ids()).toEqual([]);
    const { result } = await story.operate({ command: 'holds' });
    expect(result).toHaveProperty('list.length', 601);
  });

  it('loses nothing and tells nothing twice, whenever it is restarted', async () => {
    const happening = fc.oneof(
      { weight: 4, arbitrary: fc.record({ add: fc.nat(12) }) },
      { weight: 3, arbitrary: fc.record({ tick: fc.nat(14) }) },
      { weight: 2, arbitrary: fc.constant({ restart: true as const }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 6, maxLength: 20 }), async (life) => {
        story = new IntegrationWithPast();
        story.world = [2009, 2013, 2018, 2026].map((year) => on(`${year}-05-05`, year));
        await story.settle();
        const appeared: string[] = [];
        for (const [index, one] of life.entries()) {
          story.clock.advance({ seconds: 20 });
          await happens(one, index + 1);
          if ('add' in one) appeared.push(`${index + 1}/1`);
        }
        await untilRead();
        for (let ticks = 0; ticks < 2; ticks += 1) await story.tick();
        expect(ids().sort()).toEqual(appeared.sort());
      }),
      { numRuns: 15 },
    );
  });

  it('that has never been completed records what was there before, as it has begun to', async () => {
    story.world = [on('2020-01-01', 1), on('2019-01-01', 2)];
    story.requestSeconds = 17;
    await story.tick();
    expect(await story.operate({ command: 'restart-baseline' })).toMatchObject({
      result: { changed: false },
    });
    story.requestSeconds = 0;
    await story.settle();
    expect(ids()).toEqual([]);
    expect(await story.operate({ command: 'status' })).toMatchObject({
      result: { baseline: { status: 'completed', counted: 2 } },
    });
  });

  it('finds what has gone meanwhile', async () => {
    story.world = [on('2020-01-01', 1), on('2020-01-01', 2), on('2020-01-02', 3)];
    await story.settle();
    await story.operate({ command: 'restart-baseline' });
    story.host.remove(3);
    for (let ticks = 0; ticks < 4; ticks += 1) {
      story.clock.advance({ hours: 25 });
      await story.tick();
    }
    expect(ids()).toEqual(['3/2']);
  });
});

describe('more that are missing than may be withdrawn', () => {
  const accept = (total: number) => story.operate({ command: 'accept-total', total });
  const gone = () => story.heard.filter(({ type }) => type === 'certification.withdrawn').length;

  beforeEach(async () => {
    story.world = Array.from({ length: 40 }, (_, index) => on('2026-10-01', index + 1));
    story.add(on('2026-11-20', 100));
    await story.settle();
    story.world = story.world.filter(({ id }) => id <= 5 || id === 100);
    await story.minutes(15);
    expect(gone()).toBe(0);
  });

  it('are withdrawn once ops accept the total, and it need not be accepted again', async () => {
    expect(await accept(6)).toMatchObject({
      ok: true,
      result: { changed: true, total: 6, before: 41 },
    });
    expect(await accept(6)).toMatchObject({ result: { changed: false } });
    await story.minutesUntil(() => gone() === 35, 20);
    expect(await story.operate({ command: 'holds' })).toMatchObject({ result: { list: [] } });
    expect(story.notices.map(({ subject }) => subject)).toContainEqual(
      expect.stringContaining('are back, few or accepted'),
    );
    expect(await accept(6)).toMatchObject({ result: { changed: false } });
    expect(await story.operate({ command: 'status' })).toMatchObject({
      result: { certifications: 6, missing: { number: 0, isTooMany: false }, reasons: [] },
    });
  });

  it('are those that were looked at: what goes afterwards waits for ops again', async () => {
    await accept(6);
    await story.minutesUntil(() => gone() === 35, 30);
    story.world = story.world.slice(0, 1);
    await story.minutes(30);
    expect(gone()).toBe(35);
    await accept(1);
    await story.minutesUntil(() => gone() === 40, 30);
  });

  it('are told by the status, with what to do', async () => {
    expect(await story.operate({ command: 'status' })).toMatchObject({
      result: {
        certifications: 6,
        missing: { number: 35, isTooMany: true },
        reasons: ['missing'],
        conditions: [{ name: 'missing', number: 35 }],
      },
    });
  });

  it.each([
    [8, false],
    [9, true],
    [11, true],
    [12, false],
  ])(
    'are accepted as they were looked at, give or take a tenth: 10, and %i are shown: %s',
    async (shown, isTaken) => {
      story.host.count = () => shown;
      const answer = await accept(10);
      expect(answer.ok).toBe(isTaken);
      if (isTaken) expect(answer).toMatchObject({ result: { changed: true, total: shown } });
    },
  );

  it('are accepted only as they were looked at', async () => {
    expect(await accept(20)).toMatchObject({ ok: false, problem: { code: 'total-changed' } });
    expect(await accept(0)).toMatchObject({ ok: false, problem: { code: 'total-changed' } });
  });
});

describe('a handful of which most or all has gone', () => {
  const known = async (many: number) => {
    story.world = Array.from({ length: many }, (_, index) => on('2026-10-01', index + 1));
    await story.settle();
  };

  it.each([
    [3, 0],
    [30, 0],
    [400, 0],
  ])('is withdrawn once ops say that it is right: %i known, %i left', async (many, left) => {
    await known(many);
    story.world = story.world.slice(0, left);
    await story.minutes(3);
    expect(await story.operate({ command: 'accept-total', total: left })).toMatchObject({
      result: { changed: true, total: left, before: many },
    });
    await story.minutesUntil(() => story.heard.length === many - left, 60);
    await story.minutes(2);
    expect(await story.operate({ command: 'status' })).toMatchObject({
      result: { certifications: left, reasons: [] },
    });
  });

  it.each([1, 2])('of two or one is withdrawn after two looks, as ever: %i', async (many) => {
    await known(many);
    story.world = [];
    expect(await story.operate({ command: 'accept-total', total: 0 })).toMatchObject({
      result: { changed: false },
    });
    await story.minutesUntil(() => story.heard.length === many, 15);
  });

  it('is found again, if ops were wrong about nothing being left', async () => {
    await known(3);
    const back = story.world;
    story.world = [];
    await story.minutes(2);
    await story.operate({ command: 'accept-total', total: 0 });
    story.world = back;
    await story.minutes(30);
    expect(story.heard).toEqual([]);
    story.world = [];
    await story.minutes(30);
    expect(story.heard).toEqual([]);
  });

  it('may go, too, if no tick has noticed it before', async () => {
    await known(5);
    story.world = [];
    await story.operate({ command: 'accept-total', total: 0 });
    await story.minutesUntil(() => story.heard.length === 5, 15);
    story.world = [on('2026-10-01', 1)];
    await story.minute();
    expect(story.heard.at(-1)?.type).toBe('certification.restored');
  });
});
