import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import type { DayRange } from '../../../lambda/detection/days.ts';
import {
  AtWorkError,
  BaselineRestartedError,
  BaselineUnfinishedError,
  PartnerLeftAloneError,
  RangeStuckError,
  UnknownTaskError,
} from '../../../lambda/fan-out/errors.ts';
import { carryOutTask } from '../../../lambda/fan-out/task.ts';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { readAnew } from '../../../lambda/operations/commands/restart-baseline.ts';
import { progressOf } from '../../../lambda/operations/commands/status.ts';
import { PartnerError } from '../../../lambda/partner/errors.ts';
import type { PartnerReader } from '../../../lambda/ports/partner-reader.ts';
import type { PlannedRange } from '../../../lambda/ports/planned-range.ts';
import { noLease } from '../../../lambda/ports/state.ts';
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
  it('counts the ranges that have been read, in any order', async () => {
    story.world = history(80, today);
    const progress = async () =>
      progressOf(await story.ledger.state(), await story.calendar(), 'fan-out');
    await story.tick();
    expect(await progress()).toEqual({ status: 'running', counted: 8 });
    await story.divide(3);
    const { left } = await story.plan();
    expect(left).toHaveLength(3);
    for (const [index, range] of left.toReversed().entries()) {
      await story.read(range);
      expect((await progress()).counted).toBe(8 + 24 * (index + 1));
    }
  });

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
    const { expected, dueAt } = await story.ledger.state();
    expect({ expected, dueAt }).toEqual({
      expected: 96,
      dueAt: (await other.ledger.state()).dueAt,
    });
    expect(story.heard).toEqual([]);
  });

  it('leaves odd fields that its tasks meet to the audits, which have them told once within a day', async () => {
    const titles = () => story.notices.map(({ subject }) => subject.replace(`${story.name}: `, ''));
    // The newest page shows none of them.
    const shown = history(120, today, 120).map((one) => ({ ...one, id: one.id + 1_000 }));
    const odd = history(80, yesterday).map((one) => ({ ...one, email: null }));
    story.world = [...shown, ...odd];
    await story.tick();
    await story.divide(3);
    await story.readAll();
    await story.complete();
    await story.tick();
    expect(titles()).toEqual(['baseline completed']);
    await story.passSelfChecks();
    for (let hours = 0; hours < 26; hours += 1) {
      story.clock.advance({ hours: 1 });
      await story.tick();
    }
    expect(titles().slice(1)).toEqual(['fields of records are not as documented']);
    expect(story.notices[1]?.text).toMatch(/\n {2}email: \d+ records\n/);
  });

  it('has nothing to do before ticks have read the start day, and after its completion', async () => {
    expect(await story.plan()).toMatchObject({ outcome: 'not-begun', left: [] });
    await story.tick();
    await story.readAll();
    await story.complete();
    expect(await story.plan()).toMatchObject({ outcome: 'completed', left: [] });
  });

  it('does not begin while the partner refuses the credentials', async () => {
    await story.tick();
    await story.ledger.saveState({
      backOff: { until: story.clock.now().add({ minutes: 4 }), failures: 2 },
    });
    expect(await story.plan()).toMatchObject({ outcome: 'backing-off', left: [] });
    expect(story.requests).not.toContain('oldest');
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

  it('read no history and do not complete the baseline', async () => {
    story.requests.length = 0;
    expect(await story.tick()).toMatchObject({ outcome: 'baseline', recorded: 0 });
    expect(story.requests).toEqual(['pulse']);
    expect((await story.ledger.state()).baseline).toMatchObject({ status: 'running' });
    expect((await story.ledger.known([101])).size).toBe(0);
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

  it('announce certifications that appeared in a range after its read as soon as the baseline is completed', async () => {
    await story.readAll();
    story.add(assessment({ id: 5, certified_on: '2026-11-15' }));
    await story.tick();
    expect(story.heard).toEqual([]);
    await story.complete();
    await story.tick();
    expect(story.heard.map(({ subject, data }) => [subject, data.late])).toEqual([['5', true]]);
  });

  it('deliver earlier events that SNS refused', async () => {
    story.add(assessment({ id: 2, certified_on: today }));
    story.subscribers.refuse = () => true;
    expect(await story.tick()).toMatchObject({ undelivered: 1 });
    story.subscribers.refuse = () => false;
    expect(await story.tick()).toMatchObject({ outcome: 'baseline', delivered: 1 });
  });

  it('still owe earlier events at the end of the fan-out', async () => {
    story.add(assessment({ id: 2, certified_on: today }));
    await story.readAll();
    story.subscribers.refuse = () => true;
    await story.tick();
    await story.complete();
    story.subscribers.refuse = () => false;
    expect(await story.tick()).toMatchObject({ delivered: 1 });
    expect(story.heard.map(({ subject }) => subject)).toEqual(['2']);
  });

  it('lose no event of a record that the partner moves out of a range during its read', async () => {
    const moved = assessment({ id: 101, certified_on: today });
    const range = await firstRange();
    await story.read(range, {
      fanOut: {
        ...bound(story.fanOut),
        // The record has just been looked up and found unknown.
        recordNew: async (sightings, now) => {
          story.world = story.world.map((one) => (one.id === moved.id ? moved : one));
          story.subscribers.refuse = () => true;
          await story.tick();
          return story.fanOut.recordNew(sightings, now);
        },
      },
    });
    story.subscribers.refuse = () => false;
    await story.tick();
    expect(story.heard.map(({ id }) => id)).toEqual([`${story.name}/101/1`]);
    await story.complete();
    for (let ticks = 0; ticks < 3; ticks++) await story.tick();
    expect(await story.ledger.state()).toMatchObject({
      expected: story.world.length,
      unexplained: 0,
    });
    expect(story.heard).toHaveLength(1);
  });
});

describe('at a host that allows 12 requests a minute', () => {
  beforeEach(async () => {
    story = new FanOutIntegration(undefined, 12);
    story.host.requestsPerMinute = 12;
    story.world = history(400, yesterday);
    await story.tick();
    story.clock.advance({ minutes: 1 });
  });

  it('four ranges at once and the ticks beside them get no refusal', async () => {
    await story.divide(13);
    const { left } = await story.plan();
    const tasks = left.map((range) => ({ range, process: story.process(), isDone: false }));
    expect(tasks).toHaveLength(4);
    for (let minutes = 0; tasks.some(({ isDone }) => !isDone) && minutes < 30; minutes++) {
      story.clock.advance({ minutes: 1 });
      await story.tick();
      for (const task of tasks.filter(({ isDone }) => !isDone))
        ({ isDone: task.isDone } = await story.read(task.range, task.process, 50));
    }
    await story.complete();
    expect((await story.ledger.state()).expected).toBe(400);
    expect(story.host.refusals).toBe(0);
  });

  it('the plan waits for another execution if there is no room for its first requests', async () => {
    story.host.fault = tooManyRequests();
    expect(await story.plan()).toEqual({ outcome: 'backing-off', left: [], ranges: 0 });
    story.host.fault = undefined;
    story.clock.advance({ minutes: 1 });
    expect(await story.plan()).toMatchObject({ outcome: 'ready', ranges: 1 });
  });
});

describe('a range', () => {
  beforeEach(async () => {
    story.world = history(400, yesterday);
    await story.tick();
    await story.divide(100);
  });

  it('is not read again once it is done', async () => {
    const range = await firstRange();
    expect(await story.read(range)).toEqual(
      expect.objectContaining({ isDone: true, recorded: 400 }),
    );
    story.requests.length = 0;
    expect(await story.read(range)).toMatchObject({ isDone: true, recorded: 400 });
    expect((await story.plan()).left).toEqual([]);
    expect(story.requests).toEqual([]);
  });

  it('asks for its own days only, each once, and the oldest range for all earlier days', async () => {
    await story.tick();
    const asked: DayRange[] = [];
    const prove: PartnerReader['prove'] = async (range, ...rest) => {
      asked.push(range);
      return story.partner.prove(range, ...rest);
    };
    const { before, begunAt = 0 } = (await story.ledger.state()).baseline;
    const day = (days: number) => Temporal.PlainDate.from(before ?? today).subtract({ days });
    for (const range of [
      { begunAt, from: day(7), to: day(1), sliceDays: 5 },
      { begunAt, from: day(20), to: day(8), sliceDays: 5, isOldest: true } as const,
    ])
      await story.read(range, { partner: { ...story.partner, prove } });
    let end = before;
    for (const { from, to } of asked) {
      expect(to?.add({ days: 1 })).toEqual(end);
      end = from;
    }
    expect(end).toBeUndefined();
    expect(asked.map(({ from }) => from?.toString())).toContain(day(7).toString());
  });

  it('is read by one task at a time', async () => {
    const range = await firstRange();
    let second: unknown;
    const prove: PartnerReader['prove'] = async (...asked) => {
      second ??= await story.read(range).catch((error: unknown) => error);
      return story.partner.prove(...asked);
    };
    await story.read(range, { partner: { ...story.partner, prove } });
    expect(second).toBeInstanceOf(AtWorkError);
  });

  it('resumes after a failure, and records no record twice', async () => {
    const range = await firstRange();
    let answers = 3;
    const prove: PartnerReader['prove'] = async (...asked) => {
      answers -= 1;
      if (answers === 0) throw new Error('reset');
      return story.partner.prove(...asked);
    };
    await expect(story.read(range, { partner: { ...story.partner, prove } })).rejects.toThrow();
    const already = (await story.ledger.known(story.world.map(({ id }) => id))).size;
    expect(already).toBeGreaterThan(0);
    let recorded = 0;
    await story.read(range, {
      fanOut: {
        ...bound(story.fanOut),
        recordNew: async (sightings, now) => {
          recorded += sightings.length;
          return story.fanOut.recordNew(sightings, now);
        },
      },
    });
    expect(recorded).toBe(400 - already);
  });

  it('counts right although a crash interrupted its recording', async () => {
    const range = await firstRange();
    const died = {
      ...bound(story.fanOut),
      recordNew: async (...[sightings, now]: Parameters<typeof story.fanOut.recordNew>) => {
        await story.fanOut.recordNew(sightings.slice(0, 5), now);
        throw new LedgerUnavailableError('PutItem', {});
      },
    };
    await expect(story.read(range, { fanOut: died })).rejects.toThrow(LedgerUnavailableError);
    await story.readAll();
    await story.complete();
    expect((await story.ledger.state()).expected).toBe(400);
    expect(await story.tick()).toMatchObject({ outcome: 'completed', created: 0, unexplained: 0 });
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

  it('without any read in time fails visibly instead of going on for ever', async () => {
    const range = await firstRange();
    story.host.onList = ({ sort }) => (sort === 'user_name' ? 'silence' : undefined);
    await expect(story.read(range, {}, 60)).rejects.toThrow(RangeStuckError);
  });

  it('resumes by its bookmark if one read of it is too large for a function', async () => {
    const range = { ...(await firstRange()), sliceDays: 9_999 };
    story.host.answerMs = 12_000;
    const first = await story.read(range, {}, 60);
    expect(first).toMatchObject({ isDone: false, recorded: expect.any(Number) });
    expect(first.recorded).toBeGreaterThan(0);
    expect((await story.fanOut.progressOf([range]))[0]?.bookmark).toBeDefined();
    let last = first;
    for (let invocations = 1; !last.isDone && invocations < 20; invocations++)
      last = await story.read(range, {}, 60);
    expect(last).toMatchObject({ isDone: true, recorded: 400 });
    await story.complete();
    expect((await story.ledger.state()).expected).toBe(400);
  });

  it('leaves a day that the host cannot serve to the audits, and reads all others', async () => {
    const poison = '2026-11-03';
    const prove: PartnerReader['prove'] = async (range, ...rest) => {
      const isIn = [range.from?.toString() ?? '', poison, range.to?.toString() ?? '~'];
      if (isIn.toSorted()[1] === poison) throw new PartnerError('unavailable', 'list');
      return story.partner.prove(range, ...rest);
    };
    const range = { ...(await firstRange()), sliceDays: 8 };
    const poisoned = { partner: { ...story.partner, prove } };
    let invocations = 0;
    while (!(await story.read(range, poisoned)).isDone && invocations < 20) invocations += 1;
    await story.complete();
    expect(invocations).toBeGreaterThan(0);
    expect((await story.ledger.state()).expected).toBe(392);
    expect((await story.calendar()).get(poison)).toMatchObject({ count: 0 });
  });

  it('leaves the partner alone while it refuses the credentials of ticks', async () => {
    const range = await firstRange();
    await story.ledger.saveState({
      backOff: { until: story.clock.now().add({ minutes: 4 }), failures: 2 },
    });
    await expect(story.read(range)).rejects.toThrow(PartnerLeftAloneError);
  });

  it('waits, and does not fail, while the partner has asked ticks to wait', async () => {
    const range = await firstRange();
    const now = story.clock.now().epochMilliseconds;
    await story.ledger.saveState({ pace: { since: 0, sent: 0, closedUntil: now + 3_000_000 } });
    const before = story.host.requests.length;
    expect(await story.read(range)).toMatchObject({
      isDone: false,
      recorded: 0,
      waitSeconds: 3_000,
    });
    expect(story.host.requests.length).toBe(before);
    story.clock.advance({ seconds: 3_000 });
    expect(await story.read(range)).toMatchObject({ isDone: true, waitSeconds: 0 });
  });

  it('waits, and does not fail, while the partner refuses for pace', async () => {
    const range = await firstRange();
    story.host.fault = tooManyRequests();
    expect(await story.read(range, {}, 50)).toMatchObject({ isDone: false, waitSeconds: 60 });
    story.host.fault = undefined;
    story.clock.advance({ seconds: 60 });
    expect(await story.read(range)).toMatchObject({ isDone: true, waitSeconds: 0 });
  });

  it('uses its share of the pace that ticks have learned', async () => {
    const range = await firstRange();
    const refusedAt = story.clock.now().epochMilliseconds;
    await story.ledger.saveState({ pace: { since: refusedAt, sent: 15, learned: 15, refusedAt } });
    const before = story.host.requests.length;
    expect(await story.read(range, {}, 50)).toMatchObject({ isDone: false });
    expect(story.host.requests.length - before).toBe(3);
  });

  it('continues at the pace that its own process has learned since', async () => {
    const range = await firstRange();
    const refusedAt = story.clock.now().epochMilliseconds;
    await story.ledger.saveState({ pace: { since: 0, sent: 0, learned: 20, refusedAt } });
    story.clock.advance({ minutes: 1 });
    story.host.fault = tooManyRequests(900);
    await story.read(range, {}, 50);
    story.host.fault = undefined;
    const before = story.host.requests.length;
    expect(await story.read(range, {}, 50)).toMatchObject({ waitSeconds: 900 });
    expect(story.host.requests.length).toBe(before);
  });

  it('is not recorded after the baseline was completed', async () => {
    const range = await firstRange();
    await story.readAll();
    await story.complete();
    story.add(assessment({ id: 9_000, certified_on: '2026-11-01' }));
    const other = { ...range, to: range.to.subtract({ days: 1 }) };
    await expect(story.read(other)).rejects.toThrow(BaselineRestartedError);
    expect((await story.ledger.known([9_000])).size).toBe(0);
  });

  it('is not recorded if the baseline is completed during its read', async () => {
    const range = await firstRange();
    const prove: PartnerReader['prove'] = async (...asked) => {
      const read = await story.partner.prove(...asked);
      const { baseline } = await story.ledger.state();
      await story.ledger.saveState({ baseline: { ...baseline, status: 'completed' } });
      return read;
    };
    const late = { partner: { ...story.partner, prove } };
    await expect(story.read(range, late)).rejects.toThrow(BaselineRestartedError);
    expect((await story.ledger.known(story.world.map(({ id }) => id))).size).toBe(0);
  });
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

  it('leaves unknown certifications to the ticks, in any number and over several tasks', async () => {
    story.world = history(80, yesterday);
    await story.tick();
    await story.readAll();
    await story.complete();
    story.clock.advance({ minutes: 1 });
    await story.ledger.saveState(readAnew(Temporal.PlainDate.from(today)));
    const news = history(30, '2026-11-15', 2).map((one) => ({ ...one, id: one.id + 500 }));
    story.add(...news, assessment({ id: 600, certified_on: today }));
    await story.tick();
    expect(story.heard.map(({ subject }) => subject)).toEqual(['600']);
    await story.readAll();
    await story.complete();
    for (let ticks = 0; ticks < 3; ticks += 1) await story.tick();
    expect(story.heard.map(({ subject }) => Number(subject)).sort()).toEqual(
      [600, ...news.map(({ id }) => id)].sort(),
    );
    expect((await story.ledger.state()).expected).toBe(111);
    for (const [, { proof }] of await story.calendar()) expect(proof).toBeDefined();
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

  it('and an unknown task, which fails for good', async () => {
    const unknown = carryOutTask(story.taskParts, { task: 'begin' }, story.run());
    await expect(unknown).rejects.toThrow(UnknownTaskError);
    await expect(unknown).rejects.toMatchObject({ fault: 'ops', retryHelps: false });
  });

  it('fails while a tick is at work, and succeeds after it', async () => {
    await story.readAll();
    const lease = { owner: 'tick', until: story.clock.now().add({ seconds: 60 }) };
    await story.ledger.takeLease(lease, story.clock.now());
    await expect(story.complete()).rejects.toThrow(AtWorkError);
    await story.ledger.saveState(noLease, lease);
    await story.complete();
    expect((await story.ledger.state()).baseline.status).toBe('completed');
  });

  it('is told to ops by the ticks, once, as soon as SNS accepts the notice', async () => {
    await story.readAll();
    await story.complete();
    story.subscribers.mailing = { accepted: false, code: 'InternalError' };
    await story.tick();
    expect((await story.ledger.state()).baseline).toMatchObject({ isNoticeOwed: true });
    story.subscribers.mailing = { accepted: true };
    story.notices.length = 0;
    for (let minutes = 0; minutes < 40; minutes += 1) {
      story.clock.advance({ minutes: 1 });
      await story.tick();
    }
    expect(story.notices.map(({ subject }) => subject)).toEqual([
      `${story.name}: baseline completed`,
    ]);
  });
});

/** The methods of a ledger, whose prototype a spread would lose. */
function bound(ledger: FanOutIntegration['fanOut']): FanOutIntegration['fanOut'] {
  return {
    plan: (begunAt) => ledger.plan(begunAt),
    keepPlan: (begunAt, ranges) => ledger.keepPlan(begunAt, ranges),
    progressOf: (ranges) => ledger.progressOf(ranges),
    takeRange: (range, lease, now) => ledger.takeRange(range, lease, now),
    keepProgress: (range, lease, progress) => ledger.keepProgress(range, lease, progress),
    giveBackRange: (range, lease) => ledger.giveBackRange(range, lease),
    recordNew: (sightings, now) => ledger.recordNew(sightings, now),
  };
}
