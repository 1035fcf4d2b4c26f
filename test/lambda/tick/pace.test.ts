import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { nothingFound } from '../../../lambda/decisions/gate.ts';
import { allowedAt, unhurried } from '../../../lambda/decisions/pace.ts';
import { PartnerError } from '../../../lambda/partner/errors.ts';
import type { TickReport } from '../../../lambda/tick/report.ts';
import { Integration } from '../../scaffold/integration.ts';
import { tooManyRequests } from '../../scaffold/partner.ts';
import { answering, on, titles } from './scenarios.ts';

let story: Integration;

/** An integration with so many records, thirty a day, the newest of yesterday. */
function begin(records: number, ofHost = Number.POSITIVE_INFINITY, set?: number): void {
  story = new Integration(undefined, set);
  story.host.answerMs = 200;
  story.host.requestsPerMinute = ofHost;
  for (let id = 1; id <= records; id++) {
    const day = Temporal.PlainDate.from('2026-11-20').subtract({ days: Math.floor(id / 30) });
    story.host.add(id, day.toString());
  }
}

const tooFew = 'the partner allows too few requests';
const enough = 'the partner allows enough requests again';
const done = 'baseline completed';

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
const isRead = () => titles(story).includes(done);

it('a baseline is read at the pace that its host allows, and ops hear of it and of its end', async () => {
  begin(4_000, 12);
  // 40 requests at 12 a minute take three and a half minutes.
  await reports(isRead, 5);
  expect(story.memory.items.size).toBe(4_000);
  // Two minutes teach the pace; from the third after them on, a higher one is tried.
  expect(story.host.refusals).toBe(4);
  await story.minutes(70);
  expect(titles(story)).toEqual([tooFew, done, enough]);
  await story.minutes(120);
  expect(titles(story)).toHaveLength(3);
  expect(story.warnings).toEqual([]);
});

describe('a host that asks to be left alone', () => {
  beforeEach(async () => {
    begin(30);
    await story.baseline();
  });
  const alone = { outcome: 'backing-off' };

  it('does not delay owed events', async () => {
    story.subscribers.refuse = () => true;
    story.host.add(100, '2026-11-20');
    await story.minute();
    story.host.fault = tooManyRequests(600);
    story.subscribers.refuse = () => false;
    expect(await story.minute()).toMatchObject({ ...alone, delivered: 1 });
    expect(await story.minute()).toMatchObject({ ...alone, delivered: 0 });
    expect(story.ids()).toEqual([`${story.name}/100/1`]);
  });

  it('leaves a pace that cannot always be saved, which does not hide the outcome', async () => {
    story.host.fault = tooManyRequests();
    const error = new Error('no');
    const warn = vi.spyOn(story.journal, 'warn');
    const ledger = story.ledgerWith({
      saveState: (changes) =>
        'pace' in changes ? Promise.reject(error) : story.ledger.saveState(changes),
    });
    expect(await story.tick({ ledger })).toMatchObject(alone);
    expect(warn.mock.calls).toEqual([['pace not saved', { error }]]);
  });
});

it('a tick that the pace ends amid its changes leaves it to the next one to catch up', async () => {
  begin(30, undefined, 60);
  story.host.addMany(2_000, 150, '2020-01-01');
  await story.baseline();
  story.add(...on('2026-11-21', [900]), ...on('2019-01-01', [901]));
  const { prove } = story.partner;
  answering(story, { prove: () => Promise.reject(new PartnerError('rate-limited', 'list')) });
  expect(await story.minute()).toMatchObject({ outcome: 'backing-off', created: 1 });
  expect((await story.ledger.state()).dirtySince).toBeDefined();
  answering(story, { prove });
  await story.minutes(3);
  expect([story.heardOf(900), story.heardOf(901)]).toEqual([['created'], ['created']]);
});

it('a tick that loses its lease before it has mended a stored time ends at once', async () => {
  begin(30, undefined, 60);
  await story.baseline();
  const ahead = story.clock.now().epochMilliseconds + 7_200_000;
  await story.ledger.saveState({ dueAt: ahead, auditsFrom: ahead + 9e9, pulseDigest: undefined });
  const ledger = story.ledgerWith({
    saveState: async (changes, lease) =>
      changes.auditsFrom === undefined && story.ledger.saveState(changes, lease),
  });
  expect(await story.tick({ ledger })).toMatchObject({ outcome: 'busy' });
});

it('a learned pace and a wait of held changes end in time after a clock two hours ahead', async () => {
  begin(30, undefined, 60);
  await story.baseline();
  const ahead = story.clock.now().epochMilliseconds + 7_200_000;
  const pace = { ...unhurried, refusal: { at: ahead, until: ahead, answered: 4, learned: 4 } };
  const events = [{ id: 1, revision: 1, kind: 'created' }] as const;
  const gate = { ...nothingFound, foretold: { events, forOps: [], agreedSince: ahead } };
  await story.ledger.saveState({ pace, gate, gateLook: ahead });
  await story.minutes(12);
  const { pace: value = unhurried } = await story.ledger.state();
  expect(allowedAt(value, 60, story.clock.now().epochMilliseconds)).toBe(60);
  expect(await story.ledger.gate()).not.toHaveProperty('foretold');
});
