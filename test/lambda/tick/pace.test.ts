import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import type { TickReport } from '../../../lambda/tick/tick.ts';
import { Integration } from '../../scaffold/integration.ts';
import { tooManyRequests } from '../../scaffold/partner.ts';
import { learnedPace } from './scenarios.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
  story.host.answerMs = 200;
});

const subjects = () => story.notices.map(({ subject }) => subject.replace(`${story.name}: `, ''));
const tooFew = 'the partner allows too few requests';
const enough = 'the partner allows enough requests again';

/** Runs ticks until a report is the last. A failing tick fails the test. */
async function reports(isLast: (report: TickReport) => boolean, most: number) {
  const all: TickReport[] = [];
  while (all.length < most) {
    const report = await story.minute();
    all.push(report);
    if (isLast(report)) return all;
  }
  throw new Error(`not within ${most} ticks: ${JSON.stringify(all.at(-1))}`);
}

/** Adds so many records, thirty a day, the newest of yesterday. */
function populate(many: number): void {
  const today = story.clock.now().toZonedDateTimeISO('UTC').toPlainDate();
  for (let id = 1; id <= many; id++)
    story.host.add(id, today.subtract({ days: 1 + Math.floor(id / 30) }).toString());
}

describe('a host that allows 12 requests a minute and does not say how long to wait', () => {
  beforeEach(() => {
    story.host.requestsPerMinute = 12;
  });

  it('has its baseline of 3,000 read at that pace, and ops hear of one condition', async () => {
    populate(3_000);
    const least = 3_000 / 100 / 12;
    const began = story.clock.now();
    const all = await reports(() => subjects().includes('baseline completed'), 10);
    const { heartbeat = '' } = await story.ledger.state();
    expect(Temporal.Instant.from(heartbeat).since(began).total('minutes')).toBeLessThanOrEqual(
      1.5 * least,
    );
    expect(all.reduce((sum, { recorded }) => sum + recorded, 0)).toBeGreaterThanOrEqual(3_000);
    expect(story.memory.items.size).toBe(3_000);
    expect(subjects()).toEqual([tooFew, 'baseline completed']);
    expect(story.warnings).toEqual([]);
  });

  it('teaches its pace to one tick, and not to each', async () => {
    expect(await learnedPace.tell(new Integration())).toEqual(learnedPace.seen);
  });

  it('refuses two requests, and then none for ten minutes', async () => {
    populate(20_000);
    await story.minutes(9);
    expect(story.host.refusals).toBe(2);
    await story.minutes(3);
    expect(story.host.refusals).toBe(4);
  });

  it('refuses nothing if the setting is its pace, and ops hear nothing', async () => {
    story = new Integration(undefined, 12);
    story.host.answerMs = 200;
    story.host.requestsPerMinute = 12;
    populate(3_000);
    await reports(() => subjects().includes('baseline completed'), 6);
    expect(story.host.refusals).toBe(0);
    expect(subjects()).toEqual(['baseline completed']);
  });

  it('is asked at the learned pace during the baseline, and ops hear of the end', async () => {
    populate(3_000);
    await reports(() => subjects().includes('baseline completed'), 6);
    await story.minutes(66);
    expect(subjects()).toEqual([tooFew, 'baseline completed', enough]);
    const before = story.host.refusals;
    await story.minutes(120);
    expect(subjects()).toHaveLength(3);
    expect(story.host.refusals).toBe(before);
  });
});

describe('a host that allows 5 requests a minute', () => {
  it('shows a backdated record to ticks that resume the search', async () => {
    populate(3_000);
    await story.baseline();
    story.host.requestsPerMinute = 5;
    await story.minutes(3);
    story.host.add(5_000, '2026-09-05');
    const all = await reports(({ created }) => created === 1, 8);
    expect(all.map(({ outcome }) => outcome)).toEqual(all.map(() => 'completed'));
    expect(all.length).toBeGreaterThan(1);
    expect(story.ids()).toEqual([`${story.name}/5000/1`]);
  });
});

describe('a host that allows 3 requests a minute', () => {
  it('gets as many requests for reads as for its newest page, and its baseline ends', async () => {
    story = new Integration(undefined, 3);
    story.host.requestsPerMinute = 3;
    populate(300);
    await reports(() => subjects().includes('baseline completed'), 40);
    const { asked } = story.host;
    expect(asked.filter((what) => what === 'pulse').length).toBeLessThanOrEqual(asked.length / 2);
    expect(story.memory.items.size).toBe(300);
    expect(story.host.refusals).toBe(0);
  });
});

describe('a host that asks to be left alone', () => {
  beforeEach(async () => {
    populate(30);
    await story.baseline();
  });

  it('gets no request before its time, not even for a token, and the ticks do not fail', async () => {
    story.host.fault = tooManyRequests(600);
    expect(await story.minute()).toMatchObject({ outcome: 'backing-off' });
    story.host.fault = undefined;
    const before = story.host.requests.length;
    await reports(({ outcome }) => outcome === 'completed', 11);
    expect(story.host.requests.length).toBe(before + 1);
  });

  it('is left alone for an hour at most', async () => {
    story.host.fault = tooManyRequests(86_400);
    await story.minute();
    story.host.fault = undefined;
    const all = await reports(({ outcome }) => outcome === 'completed', 61);
    expect(all.length).toBeGreaterThan(58);
  });

  it('is waited for if the tick has time', async () => {
    const before = story.host.requests.length;
    let refusals = 1;
    story.host.onList = () => (refusals-- > 0 ? tooManyRequests(20) : undefined);
    expect(await story.minute()).toMatchObject({ outcome: 'completed' });
    expect(story.host.requests.length).toBe(before + 2);
    expect(await story.ledger.state()).not.toHaveProperty('pace');
  });

  it('does not delay owed events', async () => {
    story.subscribers.refuse = () => true;
    story.host.add(100, '2026-11-20');
    await story.minute();
    story.host.fault = tooManyRequests(600);
    story.subscribers.refuse = () => false;
    expect(await story.minute()).toMatchObject({ outcome: 'backing-off', delivered: 1 });
    story.subscribers.refuse = () => true;
    expect(await story.minute()).toMatchObject({ outcome: 'backing-off', delivered: 0 });
    expect(story.ids()).toEqual([`${story.name}/100/1`]);
  });
});

describe('a host that answers nothing but 429', () => {
  it('is a condition after a quarter of an hour, which ends with its first answer', async () => {
    populate(30);
    await story.baseline();
    story.host.fault = tooManyRequests();
    for (let minute = 0; minute < 15; minute++)
      expect(await story.minute()).toMatchObject({ outcome: 'backing-off' });
    expect(subjects()).toEqual(['baseline completed']);
    await story.minutes(2);
    expect(subjects()).toEqual(['baseline completed', tooFew]);
    expect(story.notices.at(-1)?.text).toContain('Set `requestsPerMinute`');
    story.host.fault = undefined;
    await story.minutes(62);
    expect(subjects()).toEqual(['baseline completed', tooFew, enough]);
  });

  it('is the same condition if it refuses tokens', async () => {
    story.host.onToken = () => tooManyRequests();
    for (let minute = 0; minute < 17; minute++)
      expect(await story.minute()).toMatchObject({ outcome: 'backing-off' });
    expect(subjects()).toEqual([tooFew]);
  });
});

describe('the pace between ticks', () => {
  it('is not written by a quiet tick', async () => {
    populate(30);
    await story.baseline();
    const keeps: string[] = [];
    const ledger = story.ledgerWith({
      saveState: async (changes) => keeps.push(...Object.keys(changes)) > 0,
    });
    await story.tick({ ledger });
    expect(keeps).toEqual(['heartbeat', 'activity']);
  });

  it("does not hide the tick's outcome if it cannot be saved", async () => {
    populate(30);
    await story.baseline();
    story.host.fault = tooManyRequests();
    const ledger = story.ledgerWith({
      saveState: (changes) =>
        'pace' in changes ? Promise.reject(new Error('no')) : story.ledger.saveState(changes),
    });
    expect(await story.tick({ ledger })).toMatchObject({ outcome: 'backing-off' });
    expect(story.warnings).toEqual(['pace not saved']);
  });

  it('begins again when a clock was set back', async () => {
    populate(30);
    await story.baseline();
    const future = story.clock.now().add({ hours: 30 }).epochMilliseconds;
    const pace = { since: future, sent: 9_000, learned: 4, refusedAt: future, closedUntil: future };
    await story.ledger.saveState({ pace });
    expect(await story.minute()).toMatchObject({ outcome: 'completed' });
    expect((await story.ledger.state()).pace).toBeUndefined();
  });
});
