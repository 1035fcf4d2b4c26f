import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { contract } from '../../../lambda/operations/contract.ts';
import { serverError } from '../../scaffold/partner.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';

let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

async function explained(id: number, more = {}) {
  const answer = await story.operate({ command: 'explain', id, ...more });
  expect(answer).toMatchObject({ ok: true });
  expect(JSON.stringify(answer)).not.toMatch(/Odalys|Quillfeather|@example/);
  return z.strictObject(contract.explain.result.shape).parse(answer.result);
}

const on = (certified_on: string, id: number, more: Partial<Assessment> = {}): Assessment => ({
  ...assessment({ id, certified_on }),
  ...more,
});

/** Changes the partner's records, and has a tick and an audit of all days find it. */
async function becomes(...world: ReturnType<typeof on>[]) {
  story.world = world;
  story.clock.advance({ hours: 25 });
  await story.tick();
}

describe('the life of an assessment', () => {
  it("that was announced: the time when it was seen, its event, its day and the day's proof", async () => {
    await story.settle();
    await becomes(on('2026-11-21', 1, { organization_id: 7 }));
    await story.tick();
    const life = await explained(1);
    expect(life).toMatchObject({
      verdict: 'announced',
      known: {
        day: '2026-11-21',
        presence: 'present',
        revision: 1,
        organization_id: 7,
        firstSeen: '2026-11-22T09:00:00Z',
        revisions: [
          {
            kind: 'created',
            found: { in: 'page' },
            late: false,
            event: `${story.name}/1/1`,
            delivery: 'announced',
            decisions: [],
          },
        ],
      },
      day: { day: '2026-11-21', count: 1 },
      partner: { has: 'record', asRecorded: true },
    });
  });

  it('names the read and the proof by which each revision was found', async () => {
    story.world = Array.from({ length: 150 }, (_, index) => on('2026-11-20', index + 10));
    await story.settle();
    await becomes(...story.world, on('2016-02-03', 1));
    await becomes(...story.world.filter(({ id }) => id !== 1), on('2016-02-03', 1, { seid: '7' }));
    expect((await explained(1)).known?.revisions).toMatchObject([
      { kind: 'created', found: { in: 'search', proof: 'single-page' } },
      { kind: 'updated', found: { in: 'audit', proof: 'single-page' } },
    ]);
  });

  it('that a baseline announced names the baseline', async () => {
    story.settings = { ...story.settings, announce: 'all' };
    story.world = [on('2026-11-20', 1), on('2016-02-03', 2)];
    await story.settle();
    for (const id of [1, 2])
      expect(await explained(id)).toMatchObject({
        verdict: 'announced',
        known: {
          revisions: [{ kind: 'created', found: { in: 'baseline', proof: 'single-page' } }],
        },
      });
  });

  it('that appeared during the baseline names the newest page', async () => {
    story.world = [on('2016-02-03', 1)];
    story.requestSeconds = 1;
    const tick = () => story.tick({ seconds: 14 });
    expect(await tick()).toMatchObject({ outcome: 'baseline' });
    story.add(on('2026-11-21', 2));
    expect(await tick()).toMatchObject({ outcome: 'baseline', created: 1 });
    await story.settle();
    expect((await explained(1)).known).toMatchObject({ revisions: [{ kind: 'baseline' }] });
    expect((await explained(2)).known).toMatchObject({
      revisions: [{ kind: 'created', found: { in: 'page' } }],
    });
  });

  it('that was unknown to a ledger with a restarted baseline', async () => {
    story.world = [on('2026-11-20', 1)];
    await story.settle();
    story.add(on('2016-02-03', 2));
    await story.operate({ command: 'restart-baseline' });
    await story.settle();
    expect((await explained(1)).known?.revisions).toEqual([
      expect.not.objectContaining({ found: expect.anything() }),
    ]);
    expect((await explained(2)).known).toMatchObject({
      revisions: [{ kind: 'created', found: { in: 'baseline' } }],
    });
  });

  it('that was late', async () => {
    await story.settle();
    await becomes(on('2016-02-03', 1));
    expect(await explained(1)).toMatchObject({
      verdict: 'announced',
      known: { revisions: [{ late: true }] },
      day: { proof: { kind: 'single-page' } },
    });
  });

  it('that was edited twice: the changed fields of each time', async () => {
    await story.settle();
    await becomes(on('2026-11-20', 1));
    await becomes(on('2026-11-20', 1, { email: 'b@example.org' }));
    await becomes(on('2026-11-20', 1, { email: 'c@example.org', seid: '1' }));
    expect((await explained(1)).known?.revisions).toMatchObject([
      { revision: 1, kind: 'created', changed: [] },
      { revision: 2, kind: 'updated', changed: ['email'] },
      { revision: 3, kind: 'updated', changed: ['seid', 'email'] },
    ]);
  });

  it('that moved to another day', async () => {
    await story.settle();
    await becomes(on('2026-11-20', 1));
    await becomes(on('2026-11-19', 1));
    expect(await explained(1)).toMatchObject({
      known: {
        day: '2026-11-19',
        revisions: [{}, { changed: expect.arrayContaining(['certified_on']) }],
      },
      day: { day: '2026-11-19' },
    });
  });

  it('that was withdrawn and came back', async () => {
    await story.settle();
    await becomes(on('2026-11-20', 1), on('2026-11-20', 2), on('2026-11-20', 3));
    await becomes(on('2026-11-20', 1), on('2026-11-20', 2));
    await story.minutes(12);
    expect(await explained(3)).toMatchObject({
      verdict: 'announced',
      known: { presence: 'withdrawn' },
      partner: { has: 'nothing' },
    });
    await becomes(on('2026-11-20', 1), on('2026-11-20', 2), on('2026-11-20', 3));
    expect((await explained(3)).known?.revisions.map(({ kind }) => kind)).toEqual([
      'created',
      'withdrawn',
      'restored',
    ]);
  });

  it('that was held, then released', async () => {
    await story.settle();
    await story.commit([on('2026-11-20', 1)], 'held');
    expect(await explained(1)).toMatchObject({ verdict: 'held' });
    story.clock.advance({ minutes: 5 });
    await story.operate({ command: 'release' });
    expect(await explained(1)).toMatchObject({
      verdict: 'pending',
      known: {
        revisions: [{ decisions: [{ decision: 'released', at: '2026-11-21T08:05:00Z' }] }],
      },
    });
    await story.tick();
    expect(await explained(1)).toMatchObject({ verdict: 'announced' });
  });

  it('that was held, then discarded', async () => {
    await story.settle();
    await story.commit([on('2026-11-20', 1)], 'held');
    await story.operate({ command: 'discard' });
    expect(await explained(1)).toMatchObject({
      verdict: 'discarded',
      known: { revisions: [{ delivery: 'discarded', decisions: [{ decision: 'discarded' }] }] },
    });
  });

  it('that systems have, and people not yet', async () => {
    await story.settle();
    await story.ledger.settle(await story.commit([on('2026-11-20', 1)]), 'digest');
    expect(await explained(1)).toMatchObject({
      verdict: 'digest-owed',
      known: { revisions: [{ delivery: 'digest-owed' }] },
    });
  });

  it('that is released for people, before and after their mail', async () => {
    await story.settle();
    await story.commit([on('2026-11-20', 1)], 'held');
    await story.operate({ command: 'release', as: 'digest' });
    expect(await explained(1)).toMatchObject({
      verdict: 'digest-only-owed',
      known: { revisions: [{ delivery: 'digest-only-owed' }] },
    });
    await story.tick();
    expect(story.mails).toEqual([[`${story.name}/1/1`]]);
    expect(await explained(1)).toMatchObject({
      verdict: 'announced-to-people',
      known: { revisions: [{ delivery: 'announced-to-people' }] },
    });
    expect(story.heard).toEqual([]);
  });

  it('that waits behind a held one', async () => {
    await story.settle();
    await story.commit([on('2026-11-20', 1)], 'held');
    await story.commit([on('2026-11-20', 1, { email: 'b@example.org' })]);
    const life = await explained(1);
    expect(life).toMatchObject({
      verdict: 'held',
      known: { revisions: [{ delivery: 'held' }, { delivery: 'held', behind: true }] },
    });
    expect(life.known?.revisions[0]).not.toHaveProperty('behind');
  });

  it('that only the baseline has recorded', async () => {
    story.world = [on('2020-01-01', 1)];
    await story.settle();
    const life = await explained(1);
    expect(life).toMatchObject({
      verdict: 'baseline',
      known: { revisions: [{ kind: 'baseline', delivery: 'baseline' }] },
      day: { proof: { kind: 'single-page' } },
    });
    expect(life.known?.revisions[0]).not.toHaveProperty('event');
  });

  it('whose record is malformed', async () => {
    await story.settle();
    story.host.add(1, '2026-11-21');
    story.host.spoil(1);
    await becomes(on('2026-11-21', 1));
    expect(await explained(1)).toMatchObject({
      verdict: 'quarantined',
      partner: { has: 'malformed' },
    });
    story.host.fault = serverError;
    expect(await explained(1)).toMatchObject({
      verdict: 'quarantined',
      partner: { has: 'no-answer', problem: { code: 'unavailable' } },
    });
  });

  it('that is out of scope, or does not exist', async () => {
    await story.settle();
    expect(await explained(4711)).toEqual({
      id: 4711,
      verdict: 'not-at-partner',
      partner: { has: 'nothing' },
    });
  });

  it('about which the partner could not be asked', async () => {
    await story.settle();
    story.host.fault = serverError;
    expect(await explained(4711)).toMatchObject({
      verdict: 'partner-silent',
      partner: { has: 'no-answer', problem: { code: 'unavailable' } },
    });
  });

  it('that no tick has found yet, and the obstacles', async () => {
    await story.settle();
    story.world = [on('2026-11-21', 1)];
    await story.operate({ command: 'restart-baseline' });
    expect(await explained(1)).toMatchObject({
      verdict: 'not-yet-seen',
      partner: { has: 'record', day: '2026-11-21' },
    });
  });

  it.each([
    ['paused', () => story.operate({ command: 'pause', reason: 'migration of the partner' })],
    [
      'backing-off',
      () =>
        story.ledger.saveState({
          backOff: { until: story.clock.now().add({ minutes: 4 }), failures: 2 },
        }),
    ],
  ] as const)(
    'about which the partner is not asked while it is left alone: %s',
    async (code, leave) => {
      await story.settle();
      await leave();
      story.requests.length = 0;
      expect(await explained(4711)).toMatchObject({
        verdict: 'partner-silent',
        partner: { has: 'no-answer', problem: { code } },
      });
      expect(story.requests).toEqual([]);
    },
  );

  it('before the very first tick', async () => {
    story.world = [on('2026-11-21', 1)];
    expect(await explained(1)).toMatchObject({ verdict: 'not-yet-seen' });
  });

  it('that the partner has changed since is reported as different', async () => {
    await story.settle();
    await becomes(on('2026-11-20', 1));
    story.host.edit(1, { email: 'b@example.org' });
    expect(await explained(1)).toMatchObject({ partner: { asRecorded: false } });
  });
});
