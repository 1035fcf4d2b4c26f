import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  AtWorkError,
  BaselineRestartedError,
  BaselineUnfinishedError,
  PartnerLeftAloneError,
  RangeStuckError,
  UnknownTaskError,
} from '../../../lambda/fan-out/errors.ts';
import { takeShare } from '../../../lambda/fan-out/share.ts';
import { carryOutTask } from '../../../lambda/fan-out/task.ts';
import { readAnew } from '../../../lambda/operations/commands/restart-baseline.ts';
import type { PartnerReader } from '../../../lambda/ports/partner-reader.ts';
import type { PlannedRange } from '../../../lambda/ports/planned-range.ts';
import { Integration } from '../../scaffold/integration.ts';
import { tooManyRequests } from '../../scaffold/partner.ts';
import { assessment } from '../../support/assessments.ts';
import { FanOutIntegration, history } from './fan-out-integration.ts';

const today = '2026-11-21';
const yesterday = '2026-11-20';

let story: FanOutIntegration;
beforeEach(() => {
  story = new FanOutIntegration();
});

async function firstRange(): Promise<PlannedRange> {
  const [range] = (await story.plan()).left;
  if (range === undefined) throw new Error('nothing is left');
  return range;
}

const counts = (calendar: Awaited<ReturnType<FanOutIntegration['calendar']>>) =>
  new Map([...calendar].map(([day, { count, proof }]) => [day, [count, proof?.kind]]));

describe('a baseline that fans out', () => {
  it('ends with the same calendar, ledger and notice as a baseline by ticks', async () => {
    // All records fit into a page, so each division has the same proofs.
    const world = history(96, today, 2);
    const other = new Integration();
    other.world = world;
    for (let ticks = 0; (await other.ledger.state()).baseline.status !== 'completed'; ticks++) {
      if (ticks > 20) throw new Error('no end');
      await other.tick();
    }

    story.world = world;
    await story.tick();
    await story.divide(15);
    const planned = await story.plan();
    expect(planned).toMatchObject({ outcome: 'ready', ranges: 4 });
    await Promise.all(planned.left.map((range) => story.read(range)));
    expect(await story.complete()).toMatchObject({ outcome: 'completed' });
    expect(await story.tick()).toMatchObject({ outcome: 'completed', created: 0, unexplained: 0 });

    const { years } = await other.ledger.state();
    expect(counts(await story.calendar())).toEqual(counts(await other.ledger.calendar(years)));
    const ids = world.map(({ id }) => id);
    expect((await story.ledger.known(ids)).size).toBe(96);
    const [told, toldByTicks] = [story.notices, other.notices].map((notices) =>
      notices.map(({ subject, text }) => `${subject}\n${text}`.replaceAll(/district-\d+/g, '')),
    );
    expect(told).toEqual(toldByTicks);
    const { dueAt } = await other.ledger.state();
    expect(await story.ledger.state()).toMatchObject({ expected: 96, dueAt });
    expect(story.heard).toEqual([]);
  });

  it('has nothing to do before ticks have read the start day, amid a back-off, and at its end', async () => {
    const plans = [await story.plan()];
    await story.emptyBaseline();
    const backOff = { until: story.clock.now().add({ minutes: 4 }), failures: 2 };
    await story.ledger.saveState({ backOff });
    plans.push(await story.plan());
    expect(story.requests).not.toContain('oldest');
    await story.ledger.saveState({ backOff: undefined });
    story.host.fault = tooManyRequests();
    plans.push(await story.plan());
    story.host.fault = undefined;
    story.clock.advance({ minutes: 1 });
    await story.readAll();
    await story.complete();
    plans.push(await story.plan());
    const outcomes = ['not-begun', 'backing-off', 'backing-off', 'completed'];
    expect(plans).toEqual(outcomes.map((outcome) => ({ outcome, left: [], ranges: 0 })));
  });

  it('keeps its first plan when the partner shows more later', async () => {
    story.world = history(6_000, yesterday);
    await story.tick();
    const { left } = await story.plan();
    expect(left).toHaveLength(2);
    story.add(...history(9_000, '2019-05-05').map((one) => ({ ...one, id: one.id + 1e6 })));
    expect((await story.plan()).left).toEqual(left);
  });
});

describe('the ticks beside a fan-out', () => {
  beforeEach(async () => {
    story.world = [
      assessment({ id: 1, certified_on: today }),
      ...history(80, yesterday).map((one) => ({ ...one, id: one.id + 100 })),
    ];
    await story.tick();
  });

  it('announce certifications of the start day or later once, and none of the ranges', async () => {
    story.add(assessment({ id: 2, certified_on: today }));
    story.add(assessment({ id: 3, certified_on: '2026-11-22' }));
    story.add(assessment({ id: 4, certified_on: yesterday }));
    await story.tick();
    await story.readAll();
    await story.tick();
    await story.complete();
    await story.tick();
    expect(story.heard.map(({ subject }) => subject).sort()).toEqual(['2', '3']);
    expect((await story.ledger.known([4])).get(4)).toMatchObject({ revision: 1 });
    expect((await story.ledger.state()).expected).toBe(story.world.length);
  });
});

describe('a range', () => {
  beforeEach(async () => {
    story.world = history(400, yesterday);
    await story.tick();
    await story.divide(100);
  });

  it('resumes in another function if it takes longer than one may run', async () => {
    const range = await firstRange();
    story.host.answerMs = 9_000;
    let invocations = 0;
    for (let isDone = false; !isDone && invocations < 20; invocations++)
      ({ isDone } = await story.read(range, {}, 60));
    expect(invocations).toBeGreaterThan(1);
    expect(invocations).toBeLessThan(20);
    await story.complete();
    expect((await story.ledger.state()).expected).toBe(400);
  });

  it('is read by one task at a time, and not while the partner is left alone', async () => {
    const range = await firstRange();
    let second: unknown;
    const prove: PartnerReader['prove'] = async (...asked) => {
      second ??= await story.read(range).catch((error: unknown) => error);
      return story.partner.prove(...asked);
    };
    await story.read(range, { partner: { ...story.partner, prove } });
    expect(second).toBeInstanceOf(AtWorkError);
    const backOff = { until: story.clock.now().add({ minutes: 4 }), failures: 2 };
    await story.ledger.saveState({ backOff });
    await expect(story.read(range)).rejects.toThrow(PartnerLeftAloneError);
  });

  it('without any read in time fails visibly instead of going on for ever', async () => {
    const range = await firstRange();
    story.host.onList = ({ sort }) => (sort === 'user_name' ? 'silence' : undefined);
    await expect(story.read(range, {}, 60)).rejects.toThrow(RangeStuckError);
  });

  it('that one function cannot read at once counts each of its days, and proves none', async () => {
    const range = { ...(await firstRange()), sliceDays: 9_999 };
    story.host.answerMs = 12_000;
    expect(await story.read(range, {}, 60)).toMatchObject({ isDone: false });
    expect((await story.fanOut.progressOf([range]))[0]?.bookmark).toBeDefined();
    while (!(await story.read(range, {}, 60)).isDone);
    const days = [...counts(await story.calendar()).values()].filter(([count]) => count !== 0);
    expect(days).toEqual(Array.from({ length: 50 }, () => [8, undefined]));
  });

  it('is not recorded if the baseline ends during its read', async () => {
    const prove: PartnerReader['prove'] = async (...asked) => {
      const { baseline } = await story.ledger.state();
      await story.ledger.saveState({ baseline: { ...baseline, status: 'completed' } });
      return story.partner.prove(...asked);
    };
    const read = story.read(await firstRange(), { partner: { ...story.partner, prove } });
    await expect(read).rejects.toThrow(BaselineRestartedError);
    expect((await story.ledger.known(story.world.map(({ id }) => id))).size).toBe(0);
  });
});

it.each([
  ['is that of one more than read at once', 100, 4, {}, {}, [20, undefined]],
  ['is a request at least', 3, 4, {}, { learned: 2 }, [1, 1]],
  ['is one of what ticks have learned, too', 100, 4, {}, { learned: 15, refusedAt: 5 }, [20, 3]],
  ['is what it has learned since', 100, 1, { learned: 9, refusedAt: 6 }, { learned: 15 }, [50, 9]],
])('the share of a task %s', async (_, requestsPerMinute, atOnce, own, ticks, expected) => {
  const { partner, settings, clock } = story.taskParts;
  partner.pace.value = { since: 0, sent: 0, ...own };
  const pace = { since: 0, sent: 0, ...ticks };
  const asking = { partner, settings: { ...settings, requestsPerMinute }, clock };
  takeShare(asking, { ...(await story.ledger.state()), pace }, atOnce);
  expect([partner.pace.perMinute, partner.pace.value.learned]).toEqual(expected);
});

describe('a restarted baseline', () => {
  it('is planned and read again, with the days since then', async () => {
    story.world = history(80, yesterday);
    await story.tick();
    await story.divide(4);
    const [old] = (await story.plan()).left;
    await story.readAll();
    await story.complete();

    story.clock.advance({ hours: 48 });
    await story.ledger.saveState(readAnew(Temporal.PlainDate.from('2026-11-23')));
    story.add(assessment({ id: 500, certified_on: '2026-11-15' }));
    await story.tick();
    const { left } = await story.plan();
    expect(left).toMatchObject([{ isOldest: true }]);
    expect(left[0]?.to.toString()).toBe('2026-11-22');
    await expect(story.complete()).rejects.toThrow(BaselineUnfinishedError);
    if (old) await expect(story.read(old)).rejects.toThrow(BaselineRestartedError);
    await story.readAll();
    await story.complete();
    expect((await story.ledger.state()).expected).toBe(80);
    expect(await story.tick()).toMatchObject({ outcome: 'completed', created: 1, unexplained: 0 });
    expect(story.heard.map(({ subject }) => subject)).toEqual(['500']);
    expect((await story.ledger.state()).expected).toBe(81);
  });
});

describe('the completion of a fan-out', () => {
  beforeEach(async () => {
    story.world = history(80, yesterday);
    await story.tick();
    await story.divide(4);
  });

  it('names the ranges that are left, and sends no notice', async () => {
    const { left } = await story.plan();
    for (const range of left.slice(1)) await story.read(range);
    const [missing] = left;
    await expect(story.complete()).rejects.toThrow(BaselineUnfinishedError);
    await expect(story.complete()).rejects.toThrow(
      `1 of ${left.length} ranges have not been read to their end: ${missing?.from} to ${missing?.to}.`,
    );
    expect(story.notices).toEqual([]);
    expect((await story.plan()).left).toEqual([missing]);
  });

  it('fails while a tick is at work, and so does an unknown task', async () => {
    await story.readAll();
    const lease = { owner: 'tick', until: story.clock.now().add({ seconds: 60 }) };
    await story.ledger.takeLease(lease, story.clock.now());
    await expect(story.complete()).rejects.toThrow(AtWorkError);
    const unknown = carryOutTask(story.taskParts, { task: 'begin' }, story.run());
    await expect(unknown).rejects.toThrow(UnknownTaskError);
  });
});
