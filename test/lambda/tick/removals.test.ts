import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { isWithin } from '../../../lambda/detection/days.ts';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { PartnerError } from '../../../lambda/partner/errors.ts';
import type { Ledger } from '../../../lambda/ports/ledger.ts';
import type { PartnerReader } from '../../../lambda/ports/partner-reader.ts';
import { Integration } from '../../scaffold/integration.ts';
import { assessment } from '../../support/assessments.ts';
import {
  accepted,
  believed,
  drip,
  elsewhere,
  forgottenNotes,
  looked,
  numbers,
  on,
  seenBetween,
  tooFast,
} from './scenarios.ts';

let story: Integration;
const old = (id: number) => assessment({ id, certified_on: '2024-02-29' });
const gone = () => story.heard.filter(({ type }) => type === 'certification.withdrawn').length;
const state = () => story.ledger.state();
const titles = () => story.notices.map(({ subject }) => subject.replace(`${story.name}: `, ''));

beforeEach(async () => {
  story = new Integration();
  story.world = Array.from({ length: 40 }, (_, index) => old(index + 1));
  await story.minutes(2);
  story.notices.length = 0;
});

describe('a certification that disappeared', () => {
  it('is withdrawn after two looks ten minutes apart and a 404, and can be restored', async () => {
    const [first, ...rest] = story.world;
    story.world = rest;
    expect(await story.minute()).toMatchObject({ withdrawn: 0, missing: 1 });
    expect(story.requests).not.toContain('get 1');
    expect(await story.minutesUntil(() => gone() > 0, 15)).toBeGreaterThanOrEqual(9);
    expect(story.requests.filter((request) => request === 'get 1')).toHaveLength(1);
    expect(story.heard.at(-1)).toMatchObject({
      id: `${story.name}/1/2`,
      type: 'certification.withdrawn',
      data: { assessment: { id: 1, organization_id: 7, certified_on: '2024-02-29' }, late: true },
    });
    expect(JSON.stringify(story.heard.at(-1))).not.toMatch(/Odalys|SEID|@/);
    story.world = first ? [first, ...rest] : rest;
    expect(await story.minute()).toMatchObject({ restored: 1, missing: 0 });
    expect(story.heard.at(-1)).toMatchObject({ type: 'certification.restored', sequence: '3' });
  });

  it('adds no request between the two looks', async () => {
    story.world = story.world.slice(1);
    await story.minute();
    story.requests.length = 0;
    await story.minutes(8);
    expect(new Set(story.requests)).toEqual(new Set(['pulse']));
  });

  it('from a day, and is on the newest page, is sighted in the next page', async () => {
    const shown = assessment({ id: 77, certified_on: '2026-11-21' });
    story.add(shown);
    await story.minutes(5);
    const { prove, pulse, count } = story.partner;
    const notes = () => story.memory.remembered.missing?.notes.map(({ id }) => id) ?? [];
    const hiding: Partial<PartnerReader> = {
      pulse: async (deadline) => ({ ...(await pulse(deadline)), count: 40 }),
      count: async (range, deadline) =>
        (await count(range, deadline)) - Number(isWithin('2026-11-21', range)),
      prove: async (...asked) => {
        const read = await prove(...asked);
        const assessments = read.assessments.filter(({ id }) => id !== 77);
        return { ...read, assessments, count: assessments.length };
      },
    };
    Object.assign(story.partner, hiding);
    await story.minutesUntil(() => notes().length > 0, 20);
    Object.assign(story.partner, { prove });
    expect(notes()).toEqual([77]);
    await story.minute();
    expect(notes()).toEqual([]);
  });

  it('and returned before the second look was never missing, and nobody hears of it', async () => {
    const before = story.world;
    for (let times = 0; times < 4; times += 1) {
      story.world = before.slice(1);
      await story.minutes(8);
      story.world = before;
      await story.minutes(4);
    }
    expect(story.heard).toEqual([]);
    expect(await story.minute()).toMatchObject({ missing: 0, unexplained: 0 });
  });

  it('is looked at twice again after any sighting', async () => {
    expect(await seenBetween.tell(new Integration())).toEqual(seenBetween.seen);
  });

  it('is withdrawn although the read of its day takes all requests of a tick', async () => {
    story.add(...Array.from({ length: 90 }, (_, index) => old(index + 41)));
    await story.minutes(2);
    story.heard.length = 0;
    story.host.pageRows = 4;
    story.world = story.world.slice(1);
    await story.minutesUntil(() => gone() === 1, 15);
    story.requests.length = 0;
    await story.minute();
    expect(story.requests.filter((request) => !request.startsWith('prove'))).toEqual(['pulse']);
  });

  it('is announced as an update of its day if it moved', async () => {
    const [moved, ...rest] = story.world;
    if (moved === undefined) throw new Error('the world has forty');
    story.world = [...rest, { ...moved, certified_on: '2011-11-11' }];
    story.clock.advance({ hours: 25 });
    expect(await story.tick()).toMatchObject({ updated: 1, withdrawn: 0, conflicts: 0 });
    expect(story.heard.at(-1)?.data.changed).toEqual(['certified_on']);
    await story.minutes(12);
    expect(story.heard).toHaveLength(1);
    expect(await story.minute()).toMatchObject({ missing: 0, unexplained: 0 });
  });

  it('and was found on another day is expected there, so nothing stays unexplained', async () => {
    expect(await elsewhere.tell(new Integration())).toEqual(elsewhere.seen);
  });

  it('stays missing if its withdrawal could not be committed, and is withdrawn later', async () => {
    story.world = story.world.slice(1);
    await story.minutes(9);
    const ledger = story.ledgerWith({
      commit: () => Promise.reject(new LedgerUnavailableError('UpdateItem', {})),
    });
    for (let failed = 0; failed === 0; ) {
      story.clock.advance({ minutes: 1 });
      ({ failed } = await story.tick({ ledger }));
    }
    await story.minutesUntil(() => gone() === 1, 75);
    expect(story.memory.remembered.missing?.withdrawn).toMatchObject([{ number: 1 }]);
  });

  it('does not count for the day or use up an acceptance if no withdrawal can be committed', async () => {
    story.world = story.world.slice(20);
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
    expect((await state()).missing).toMatchObject({ accepted: 20, withdrawn: [] });
    await story.minutesUntil(() => gone() === 20, 75);
  });

  it('counts for the day if only the answer to its withdrawal was lost', async () => {
    story = new Integration();
    story.world = on('2024-02-29', numbers(1, 6));
    await story.minutes(2);
    story.world = story.world.slice(2);
    let lost = 0;
    const commit: Ledger['commit'] = async (change, ...more) => {
      const committed = await story.ledger.commit(change, ...more);
      if (change.kind !== 'withdrawn' || lost > 0) return committed;
      lost += 1;
      throw new LedgerUnavailableError('UpdateItem', {});
    };
    for (let minutes = 0; minutes < 15; minutes += 1) {
      await story.tick({ ledger: story.ledgerWith({ commit }) });
      story.clock.advance({ minutes: 1 });
    }
    expect({ lost, withdrawn: gone() }).toEqual({ lost: 1, withdrawn: 2 });
    story.world = story.world.slice(1);
    await story.minutes(30);
    expect(gone()).toBe(2);
  });

  it('is not withdrawn by a tick that has lost its lease', async () => {
    story.world = story.world.slice(1);
    await story.minutes(10);
    const ledger = story.ledgerWith({
      saveState: async (changes, lease) =>
        (changes.missing === undefined || 'heartbeat' in changes) &&
        story.ledger.saveState(changes, lease),
    });
    story.clock.advance({ minutes: 5 });
    expect(await story.tick({ ledger })).toMatchObject({ withdrawn: 0 });
    expect(story.warnings).toContain('lease lost');
  });
});

describe('a certification that the list lacks and its id shows', () => {
  const get = (answer: PartnerReader['get']) => Object.assign(story.partner, { get: answer });
  /** All records are of one day. */
  const hide = (...ids: number[]) => {
    story.host.hidden.clear();
    for (const id of ids) story.host.hidden.add(id);
    story.host.count = (right) => Math.max(0, right - ids.length);
  };

  it('stays missing, ops hear its id, and ticks stay quiet', async () => {
    hide(7);
    await story.minutes(14);
    expect(story.memory.remembered.missing?.notes).toMatchObject([{ id: 7, isShownById: true }]);
    expect(titles()).toEqual([]);
    story.requests.length = 0;
    await story.minutes(10);
    expect(new Set(story.requests)).toEqual(new Set(['pulse']));
    expect(gone()).toBe(0);
    expect(titles()).toEqual(['the list lacks records that their ids show']);
    expect(story.notices[0]?.text).toContain('assessment 7 of 2024-02-29');
    story.requests.length = 0;
    await story.minutes(12);
    const reads = story.requests.filter((request) => request.startsWith('prove'));
    expect(new Set(story.requests)).toEqual(new Set(['pulse', ...reads]));
    // Each of the day's two parts may have one audit.
    expect(reads.length).toBeLessThanOrEqual(2);
    hide();
    await story.minutes(9);
    expect(titles()).toHaveLength(1);
    await story.minutes(4);
    expect(titles().slice(1)).toEqual(['the list and the single records agree again']);
    expect(story.heard).toEqual([]);
  });

  it('causes no notice if it returns while its id is asked for', async () => {
    const answer = story.partner.get.bind(story.partner);
    get((id, deadline) => {
      hide();
      return answer(id, deadline);
    });
    hide(7);
    await story.minutes(14);
    expect(story.memory.remembered.missing?.notes ?? []).toEqual([]);
    await story.minutes(30);
    expect([...titles(), ...story.heard]).toEqual([]);
    expect((await state()).conditions.size).toBe(0);
  });

  it("is asked for again with its day's audits", async () => {
    hide(7);
    await story.minutes(14);
    hide();
    story.host.remove(7);
    story.clock.advance({ hours: 25 });
    await story.minutes(2);
    expect(gone()).toBe(1);
  });

  it.each([
    // The list lacks it on its new day, too: an audit of that day notes it.
    ['moved', { certified_on: '2011-11-11' }, 1],
    ['changed', { organization_name: 'Ashgrove' }, 1],
  ])('and whose id shows it %s is announced so, and not withdrawn', async (_, change, missing) => {
    const answer = story.partner.get.bind(story.partner);
    get(async (id, deadline) => {
      const found = await answer(id, deadline);
      return typeof found === 'object' ? { ...found, ...change } : found;
    });
    hide(7);
    await story.minutesUntil(() => story.heard.length > 0, 15);
    expect(story.heard.map(({ subject, data }) => [subject, data.changed])).toEqual([
      ['7', Object.keys(change)],
    ]);
    expect((await state()).missing?.total ?? 0).toBe(missing);
  });

  it('and whose id shows it malformed is not withdrawn either', async () => {
    get(async () => 'unreadable');
    hide(7);
    await story.minutes(25);
    expect(gone()).toBe(0);
    expect(titles()).toEqual(['the list lacks records that their ids show']);
  });

  it('and whose id gives no answer is asked for again after an hour, others sooner', async () => {
    const answer = story.partner.get.bind(story.partner);
    get((id, deadline) =>
      id <= 4 ? Promise.reject(new PartnerError('unavailable', 'list')) : answer(id, deadline),
    );
    story.world = story.world.slice(8);
    await story.minutes(15);
    expect(gone()).toBe(4);
    get(answer);
    await story.minutesUntil(() => gone() === 8, 65);
  });
});

describe('too many missing certifications', () => {
  it('are not withdrawn, ops hear of them once, and new certifications are found as always', async () => {
    story.world = [...story.world.slice(0, 20), assessment({ id: 77, certified_on: '2011-11-11' })];
    expect(await story.minute()).toMatchObject({ withdrawn: 0, created: 1, missing: 20 });
    expect(titles()).toEqual([]);
    await story.minutes(70);
    expect(gone()).toBe(0);
    expect(titles()).toEqual(['many certifications are missing at the partner']);
    expect(story.memory.remembered.missing?.notes).toEqual([]);
    story.add(assessment({ id: 78, certified_on: '2012-12-12' }));
    expect(await story.minute()).toMatchObject({ created: 1, held: 0 });
    story.add(...Array.from({ length: 40 }, (_, index) => old(index + 1)));
    await story.minutes(2);
    expect(titles()).toHaveLength(1);
    await story.minutes(10);
    expect(titles().slice(1)).toEqual(['the missing certifications are back, few or accepted']);
    expect(story.heard.map(({ subject }) => subject)).toEqual(['77', '78']);
  });

  it('are told once, and once at their end, if a good answer comes now and then', async () => {
    const all = story.world;
    for (let time = 0; time < 8; time += 1) {
      story.world = [];
      await story.minutes(4);
      story.world = all;
      await story.minutes(1);
    }
    expect(titles()).toEqual(['many certifications are missing at the partner']);
    await story.minutes(12);
    expect(titles().slice(1)).toEqual(['the missing certifications are back, few or accepted']);
    expect(story.heard).toEqual([]);
  });

  it('are not told if they return within ten minutes', async () => {
    const before = story.world;
    story.world = [];
    await story.minutes(8);
    story.world = before;
    await story.minutes(20);
    expect(story.notices).toEqual([]);
    expect(story.heard).toEqual([]);
    expect(await story.minute()).toMatchObject({ missing: 0, unexplained: 0 });
  });

  it('are withdrawn once ops have accepted the total, after two looks each', async () => {
    expect(await accepted.tell(new Integration())).toEqual(accepted.seen);
  });

  it('are few again once the others are back, and are looked at twice from then on', async () => {
    expect(await forgottenNotes.tell(new Integration())).toEqual(forgottenNotes.seen);
  });

  it('are also those of one day that disappear slowly, while ticks die of it', async () => {
    story = new Integration();
    story.world = on('2024-02-29', numbers(1, 400));
    await story.minutes(2);
    for (let id = 1; id <= 60; id += 1) {
      story.host.remove(id);
      const dead = story.ledgerWith({
        saveState: (changes, lease) =>
          'heartbeat' in changes
            ? Promise.reject(new Error('killed'))
            : story.ledger.saveState(changes, lease),
      });
      story.clock.advance({ minutes: 1 });
      await story.tick({ ledger: dead }).catch(() => undefined);
      story.clock.advance({ minutes: 1 });
      await story.minutes(12);
    }
    expect(gone()).toBe(25);
  });

  it('of one day are counted, and at most a thousand of them are looked up one by one', async () => {
    story = new Integration();
    story.world = on('2024-02-29', numbers(1, 1_200));
    await story.minutes(4);
    story.world = [];
    const asked: number[] = [];
    const ledger = story.ledgerWith({
      known: (ids) => {
        asked.push(ids.length);
        return story.ledger.known(ids);
      },
    });
    story.clock.advance({ minutes: 1 });
    expect(await story.tick({ ledger })).toMatchObject({ withdrawn: 0, missing: 1_200 });
    expect(Math.max(0, ...asked)).toBeLessThanOrEqual(1_000);
  });

  it('are more than two in a small integration', async () => {
    story = new Integration();
    story.world = on('2024-02-29', numbers(1, 6));
    await story.minutes(2);
    story.world = [];
    await story.minutes(30);
    expect(story.heard).toEqual([]);
  });
});

describe('a missing certification', () => {
  it('is read again if ops restart the baseline, and no trace of it is left', async () => {
    story.world = story.world.slice(30);
    const before = Array.from({ length: 40 }, (_, index) => old(index + 1));
    await story.minutes(5);
    expect((await state()).missing?.total).toBe(30);
    await story.operate({ command: 'restart-baseline' });
    story.world = before;
    await story.minutes(5);
    expect(await story.minute()).toMatchObject({ missing: 0, unexplained: 0 });
    await story.minutes(30);
    expect(titles().filter((title) => title.includes('missing'))).toEqual([]);
  });

  it('is not told to have ended while a restarted baseline looks for nothing', async () => {
    story = new Integration();
    const days = (count: number) => Temporal.PlainDate.from('2006-01-01').add({ days: 18 * count });
    story.world = numbers(1, 400).map((id) =>
      assessment({ id, certified_on: days(id).toString() }),
    );
    await story.minutes(10);
    story.world = story.world.slice(200);
    story.notices.length = 0;
    await story.minutes(15);
    await story.operate({ command: 'restart-baseline' });
    story.requestSeconds = 11;
    while ((await state()).baseline.status !== 'completed') {
      await story.minute();
      story.clock.advance({ minutes: 4 });
    }
    story.requestSeconds = 0;
    await story.minutes(30);
    expect(titles().filter((title) => title.includes('missing'))).toEqual([
      'many certifications are missing at the partner',
    ]);
  });

  it('is found again although another record of its day is malformed', async () => {
    const before = story.world;
    story.world = before.slice(3);
    await story.minutes(3);
    story.world = before;
    story.host.spoil(9);
    await story.minutes(5);
    expect((await story.minute()).missing).toBe(0);
  });

  it('whose id had shown it is withdrawn no faster than any other', async () => {
    story = new Integration();
    story.world = on('2024-02-29', numbers(1, 100));
    await story.minutes(2);
    for (let hidden = 15; hidden <= 45; hidden += 15) {
      for (let id = 1; id <= hidden; id += 1) story.host.hidden.add(id);
      story.host.count = (right) => Math.max(0, right - hidden);
      await story.minutes(16);
    }
    story.host.hidden.clear();
    story.host.count = (right) => right;
    for (let id = 1; id <= 45; id += 1) story.host.remove(id);
    story.clock.advance({ hours: 25 });
    await story.minutes(30);
    expect(gone()).toBe(20);
  });
});

describe('two looks', () => {
  it('are as far apart as the setting says', async () => {
    expect(await looked.tell(new Integration())).toEqual(looked.seen);
  });

  it('do not withdraw a certification that its id still shows', async () => {
    expect(await believed.tell(new Integration())).toEqual(believed.seen);
  });

  it('of half a list withdraw nothing', async () => {
    expect(await tooFast.tell(new Integration())).toEqual(tooFast.seen);
  });

  it('withdraw a limited number a day, and ops hear of the others', async () => {
    expect(await drip.tell(new Integration())).toEqual(drip.seen);
  });
});
