import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { revisionsTold } from '../../../lambda/commands/lives.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import type { Revision } from '../../../lambda/ports/ledger.ts';
import { serverError } from '../../scaffold/partner.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { on, resultOf } from './answers.ts';

let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

const explained = (id: number) => resultOf(story, 'explain', { id });

/** Changes the partner's records, and has a tick and an audit of all days find it. */
async function becomes(...world: Assessment[]) {
  story.world = world;
  story.clock.advance({ hours: 25 });
  await story.tick();
}

describe('the delivery of a revision', () => {
  type Decided = Revision['decisions'][number]['decision'];

  it.each<[string, Partial<Revision>, ...Decided[]]>([
    ['baseline', { kind: 'baseline' }],
    ['announced', {}],
    ['announced', {}, 'released'],
    ['announced-to-people', {}, 'released', 'released-to-people'],
    ['digest-owed', { waits: 'digest' }],
    ['digest-owed', { waits: 'digest' }, 'released'],
    ['digest-only-owed', { waits: 'digest' }, 'released', 'released-to-people'],
    ['pending', { waits: 'pending' }, 'retried'],
    ['held', { waits: 'held' }],
    ['undeliverable', { waits: 'undeliverable' }],
    ['discarded', {}, 'released', 'discarded'],
    ['undone', { undone: true }, 'released'],
  ])('is %s after %j and the decisions of ops', async (delivery, more, ...decided) => {
    await story.recall(on('2026-11-20', 1));
    const life = await story.opsLedger.story(1);
    if (life === undefined) throw new Error('it is not recorded');
    const at = '2026-11-21T08:00:00Z';
    const decisions = decided.map((decision) => ({ decision, at }));
    const revision: Revision = {
      ...{ revision: 3, kind: 'created', at, changed: [], isBehind: false, decisions },
      ...more,
    };
    const event = more.kind === 'baseline' ? undefined : 'north/1/3';
    expect(revisionsTold('north', { ...life, revisions: [revision] })).toEqual([
      { ...revision, event, delivery },
    ]);
  });
});

describe('the life of an assessment', () => {
  it("has the time when it was seen, each change of it, its day and the day's proof", async () => {
    await story.settle();
    await becomes(on('2026-11-21', 1));
    await story.tick();
    const created = {
      ...{ revision: 1, kind: 'created', at: '2026-11-22T09:00:00Z', found: { in: 'page' } },
      ...{ late: false, changed: [], event: `${story.name}/1/1`, decisions: [] },
    };
    expect(await explained(1)).toMatchObject({
      verdict: 'announced',
      known: {
        ...{ day: '2026-11-21', presence: 'present', revision: 1, organization_id: 7 },
        firstSeen: '2026-11-22T09:00:00Z',
        revisions: [{ ...created, delivery: 'announced' }],
      },
      day: { day: '2026-11-21', count: 1, proof: { kind: 'single-page' } },
      partner: { has: 'record', day: '2026-11-21', organization_id: 7, asRecorded: true },
    });
    await becomes(on('2026-11-19', 1));
    const moved = on('2026-11-19', 1, { email: 'c@example.org', seid: '1' });
    await becomes(moved);
    const { known, day } = await explained(1);
    expect([known?.day, day?.day]).toEqual(['2026-11-19', '2026-11-19']);
    expect(known?.revisions).toMatchObject([
      created,
      { revision: 2, kind: 'updated', changed: expect.arrayContaining(['certified_on']) },
      { revision: 3, kind: 'updated', changed: ['seid', 'email'] },
    ]);
    story.host.edit(1, { email: 'd@example.org' });
    expect(await explained(1)).toMatchObject({ partner: { asRecorded: false } });
    await becomes();
    await story.minutes(12);
    expect(await explained(1)).toMatchObject({
      known: { presence: 'withdrawn', revisions: [{}, {}, {}, { kind: 'withdrawn' }] },
      partner: { has: 'nothing' },
    });
  });

  it('has a revision that waits behind a held one', async () => {
    await story.settle();
    await story.commit([on('2026-11-20', 1)], 'held');
    await story.commit([on('2026-11-20', 1, { email: 'b@example.org' })]);
    const revisions = [{ delivery: 'held' }, { delivery: 'held', behind: true }];
    expect(await explained(1)).toMatchObject({ verdict: 'held', known: { revisions } });
  });

  it('names the read and the proof by which each revision was found', async () => {
    story.world = Array.from({ length: 150 }, (_, index) => on('2026-11-20', index + 10));
    await story.settle();
    const found = async (id: number) =>
      (await explained(id)).known?.revisions.map(({ found }) => found);
    const [inSearch, inAudit, inBaseline] = (['search', 'audit', 'baseline'] as const).map(
      (read) => ({ in: read, proof: 'single-page' }),
    );
    await becomes(...story.world, on('2016-02-03', 1));
    await becomes(...story.world.filter(({ id }) => id !== 1), on('2016-02-03', 1, { seid: '7' }));
    expect(await found(1)).toEqual([inSearch, inAudit]);
    expect((await explained(1)).known?.revisions[0]?.late).toBe(true);
    story.add(on('2016-02-04', 2));
    await story.operate({ command: 'restart-baseline' });
    await story.settle();
    expect(await found(2)).toEqual([inBaseline]);
    expect(await found(10)).toEqual([undefined]);
    expect(await explained(10)).toMatchObject({ verdict: 'baseline' });
  });

  it('has the baseline that announced it, or the page on which it appeared meanwhile', async () => {
    story.settings = { announce: 'all' };
    story.world = [on('2016-02-03', 1)];
    story.requestSeconds = 1;
    const tick = () => story.tick({ seconds: 14 });
    expect(await tick()).toMatchObject({ outcome: 'baseline' });
    story.add(on('2026-11-21', 2));
    expect(await tick()).toMatchObject({ outcome: 'baseline' });
    await story.settle();
    for (const [id, read] of ['baseline', 'page'].entries())
      expect(await explained(id + 1)).toMatchObject({
        verdict: 'announced',
        known: { revisions: [{ kind: 'created', found: { in: read } }] },
      });
  });
});

describe('an assessment that the ledger lacks', () => {
  const add = () => story.add(on('2026-11-21', 1));
  const down = () => Object.assign(story.host, { fault: serverError });
  const malformed = async () => {
    story.host.add(1, '2026-11-21');
    story.host.spoil(1);
    await becomes(on('2026-11-21', 1));
  };
  const until = Temporal.Instant.from('2026-11-21T08:04:00Z');
  const leave = () => story.ledger.saveState({ backOff: { until, failures: 2 } });
  const pause = () => story.ledger.saveState({ paused: true });
  const silence = (code: string) => ({ has: 'no-answer', problem: { code } });

  it.each<[string, object, (() => unknown)[]]>([
    ['not-at-partner', { has: 'nothing' }, []],
    ['not-yet-seen', { has: 'record', day: '2026-11-21', organization_id: 7 }, [add]],
    ['quarantined', { has: 'malformed' }, [malformed]],
    ['quarantined', silence('unavailable'), [malformed, down]],
    ['partner-silent', silence('unavailable'), [down]],
    ['partner-silent', silence('paused'), [pause]],
    ['partner-silent', silence('backing-off'), [leave]],
  ])('is %s to a partner that %j', async (verdict, partner, happens) => {
    if (verdict !== 'not-yet-seen') await story.settle();
    for (const happen of happens) await happen();
    story.requests.length = 0;
    const life = await explained(1);
    expect(life).toMatchObject({ id: 1, verdict, partner });
    expect(life).not.toHaveProperty('known');
    const isLeftAlone = happens.includes(pause) || happens.includes(leave);
    expect(story.requests).toEqual(isLeftAlone ? [] : ['get 1']);
  });
});
