import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { PartnerError } from '../../../lambda/partner/errors.ts';
import type { PartnerReader } from '../../../lambda/ports/partner-reader.ts';
import { Integration } from '../../scaffold/integration.ts';
import { assessment } from '../../support/assessments.ts';
import { answering, numbers, on, titles, withdrawn } from './scenarios.ts';

let story: Integration;
const day = '2024-02-29';
const gone = () => withdrawn(story).length;
const missing = () => story.memory.remembered.missing;
const forty = on(day, numbers(1, 40));
const many = [
  'many certifications are missing at the partner',
  'the missing certifications are back, few or accepted',
];

beforeEach(async () => {
  story = new Integration();
  story.world = forty;
  await story.minutes(2);
  story.notices.length = 0;
});

describe('a certification that disappeared', () => {
  it('is withdrawn after two looks ten minutes apart and a 404, and can be restored', async () => {
    story.world = forty.slice(1);
    expect(await story.minute()).toMatchObject({ withdrawn: 0, missing: 1 });
    await story.minutes(8);
    await story.minutesUntil(() => gone() > 0, 6);
    expect(story.requests.filter((request) => request.startsWith('get'))).toEqual(['get 1']);
    expect(story.heard.at(-1)).toMatchObject({
      id: `${story.name}/1/2`,
      type: 'certification.withdrawn',
      data: { assessment: { id: 1, organization_id: 7, certified_on: day }, late: true },
    });
    expect(JSON.stringify(story.heard.at(-1))).not.toMatch(/Odalys|SEID|@/);
    story.world = forty;
    expect(await story.minute()).toMatchObject({ restored: 1, missing: 0 });
    expect(story.heard.at(-1)).toMatchObject({ type: 'certification.restored', sequence: '3' });
  });

  it('is not withdrawn early by a tick whose clock is hours ahead', async () => {
    story.world = forty.slice(1);
    await story.minutes(4);
    const { clock } = story;
    const now = () => clock.now().add({ hours: 2 });
    const fast = { ...systemClock, now };
    story.mutate = (parts) => ({ ...parts, clock: fast });
    await story.tick({ seconds: 7_255 });
    story.mutate = (parts) => parts;
    await story.minutes(6);
    expect(gone()).toBe(0);
    await story.minutesUntil(() => gone() > 0, 6);
  });

  it('is withdrawn at five requests a minute after gaps, and its day is not read again and again', async () => {
    story = new Integration();
    story.host.requestsPerMinute = 5;
    const others = on('2024-03-01', numbers(61, 110));
    story.world = [...on(day, numbers(1, 60)), ...others];
    await story.baseline(20);
    story.world = [...on(day, numbers(16, 60)), ...others];
    for (let ticks = 0; ticks < 30 && gone() < 15; ticks++) {
      story.requests.length = 0;
      await story.minute();
      expect(story.requests.filter((one) => one.endsWith(`..${day}`)).length).toBeLessThan(3);
      const { lookAt = 0 } = missing() ?? {};
      story.clock.advance({
        milliseconds: Math.max(0, lookAt - story.clock.now().epochMilliseconds),
      });
    }
    expect(gone()).toBe(15);
  });

  it('stays, and uses up no acceptance, as long as its withdrawal cannot be committed', async () => {
    story.world = forty.slice(20);
    await story.minutes(3);
    await story.operate({ command: 'accept-total', total: 20 });
    const commit = () => Promise.reject(new LedgerUnavailableError('UpdateItem', {}));
    const refusing = story.ledgerWith({ commit });
    let failed = 0;
    for (let minutes = 0; minutes < 30; minutes += 1) {
      failed += (await story.tick({ ledger: refusing })).failed;
      story.clock.advance({ minutes: 1 });
    }
    expect(failed).toBe(20);
    expect((await story.ledger.state()).missing).toMatchObject({ accepted: 20, withdrawn: [] });
    await story.minutesUntil(() => gone() === 20, 75);
  });
});

it.each([
  ['withdraws no certification', 'missing', { withdrawn: 0, created: 1 }],
  ['lets no change pass the gate', 'gate', { withdrawn: 0, created: 0, failed: 3 }],
] as const)('a tick that has lost its lease %s', async (_, memory, report) => {
  story.world = forty.slice(1);
  await story.minutes(10);
  story.add(assessment({ id: 77 }));
  const ledger = story.ledgerWith({
    saveState: async (changes, lease) =>
      (!(memory in changes) || 'heartbeat' in changes) && story.ledger.saveState(changes, lease),
  });
  story.clock.advance({ minutes: 5 });
  expect(await story.tick({ ledger })).toMatchObject(report);
  expect(story.warnings).toContain('lease lost');
});

describe('a certification that the list lacks and its id shows', () => {
  const answer = (get: PartnerReader['get']) => answering(story, { get });
  /** All records are of one day. */
  const hide = (...ids: number[]) => {
    story.host.hidden.clear();
    for (const id of ids) story.host.hidden.add(id);
    story.host.count = (right) => Math.max(0, right - ids.length);
  };

  it('stays missing, and ops hear its id', async () => {
    hide(7);
    await story.minutes(14);
    expect(missing()?.notes).toMatchObject([{ id: 7, isShownById: true }]);
    await story.minutes(10);
    expect(titles(story)).toEqual(['the list lacks records that their ids show']);
    expect(story.notices[0]?.text).toContain('assessment 7 of 2024-02-29');
    hide();
    await story.minutes(20);
    expect(titles(story).slice(1)).toEqual(['the list and the single records agree again']);
    expect(story.heard).toEqual([]);
  });

  it.each([
    // The list lacks it on its new day, too: an audit of that day notes it.
    ['moved', { certified_on: '2011-11-11' }],
    ['changed', { organization_name: 'Ashgrove' }],
  ])('%s is announced so, and not withdrawn', async (_, change) => {
    const get = story.partner.get.bind(story.partner);
    answer(async (id, deadline) => {
      const found = await get(id, deadline);
      return typeof found === 'object' ? { ...found, ...change } : found;
    });
    hide(7);
    await story.minutesUntil(() => story.heard.length > 0, 15);
    expect(story.heard.map(({ subject, data }) => [subject, data.changed])).toEqual([
      ['7', Object.keys(change)],
    ]);
    expect((await story.ledger.state()).missing?.total).toBe(1);
  });
});

it('an id without an answer is asked for again after an hour, and delays nothing else', async () => {
  const get = story.partner.get.bind(story.partner);
  answering(story, {
    get: (id, deadline) =>
      id <= 4 ? Promise.reject(new PartnerError('unavailable', 'list')) : get(id, deadline),
  });
  story.world = [...forty.slice(8), ...on('2011-11-11', [77])];
  expect(await story.minute()).toMatchObject({ created: 1 });
  await story.minutes(15);
  expect(gone()).toBe(4);
  expect(titles(story)).toEqual([]);
  await story.minutes(60);
  answering(story, { get });
  await story.minutesUntil(() => gone() === 8, 65);
  await story.minute();
  expect(titles(story)).toEqual([
    'missing records cannot be asked for by their ids',
    'missing records can be asked for by their ids again',
  ]);
});

describe('too many missing certifications', () => {
  it('are counted, although not all of them are looked up one by one', async () => {
    story = new Integration();
    story.world = on(day, numbers(1, 1_200));
    await story.minutes(4);
    story.world = [];
    expect(await story.minute()).toMatchObject({ withdrawn: 0, missing: 1_200 });
    expect(missing()).toMatchObject({ total: 1_200, notes: [] });
  });

  it('are not told to be back by a baseline, which looks for nothing', async () => {
    story.world = forty.slice(20);
    await story.minutes(15);
    await story.operate({ command: 'restart-baseline' });
    const { prove } = story.partner;
    answering(story, { prove: () => Promise.reject(new Error('reset')) });
    await story.minutes(15);
    answering(story, { prove });
    await story.minutes(3);
    expect(titles(story).filter((title) => title.includes('missing'))).toEqual(many.slice(0, 1));
    story.world = forty;
    await story.minutes(15);
    expect(await story.minute()).toMatchObject({ missing: 0, unexplained: 0 });
  });
});
