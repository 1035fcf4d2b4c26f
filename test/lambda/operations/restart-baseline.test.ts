import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
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
    // Years from 2009 to today, the last of which is the most frequent.
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

describe('the progress of the baseline', () => {
  it('counts the reads since it began, also after a restart', async () => {
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
  ] as const)(
    'is shown without a request to the partner while that is left alone: %s',
    async (code, leave) => {
      await story.settle();
      await leave();
      story.requests.length = 0;
      expect(await story.operate({ command: 'status' })).toMatchObject({
        ok: true,
        result: { baseline: { status: 'completed' }, partner: { problem: { code } } },
      });
      expect(story.requests).toEqual([]);
    },
  );
});

describe('a baseline that is restarted', () => {
  it('announces nothing again except changes since then', async () => {
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

  it('twice is restarted once, also if ticks have begun with it', async () => {
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

  it('announces certifications that appeared after the last tick, on any day', async () => {
    story.world = [on('2020-01-01', 1), on('2020-01-02', 2)];
    await story.settle();
    story.add(on('2026-11-21', 3), on('2020-01-01', 4));
    await story.operate({ command: 'restart-baseline' });
    story.add(on('2026-11-21', 5), on('2019-01-01', 6));
    await story.tick();
    await story.tick();
    expect(ids().sort()).toEqual(['3/1', '4/1', '5/1', '6/1']);
    expect(await story.operate({ command: 'status' })).toMatchObject({
      result: { state: 'up-to-date', certifications: 6 },
    });
  });

  it('announces certifications that appear during its reads, before and behind its place', async () => {
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

  it('holds a flood to its end', async () => {
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

  it('loses no event and announces none twice, after a restart at any time', async () => {
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

  it('that was never completed records earlier certifications, as it began to', async () => {
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

  it('finds certifications that have disappeared meanwhile', async () => {
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
