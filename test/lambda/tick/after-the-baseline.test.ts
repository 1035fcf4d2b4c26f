import { beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../lambda/ports/ledger.ts';
import { Integration } from '../../scaffold/integration.ts';
import { serverError } from '../../scaffold/partner.ts';
import { assessment } from '../../support/assessments.ts';
import { numbers, on } from './scenarios.ts';

let story: Integration;
beforeEach(async () => {
  story = new Integration();
  await story.emptyBaseline();
});

const eventIds = (...ids: number[]) => ids.map((id) => `${story.name}/${id}/1`);

describe('a tick after the baseline', () => {
  it('finds new certifications on a day of thousands with one more request', async () => {
    story = new Integration();
    story.world = on('2026-11-21', numbers(1, 2_500));
    await story.tick();
    story.requests.length = 0;
    story.add(...on('2026-11-21', [2_501, 2_502]));
    expect(await story.tick()).toMatchObject({ created: 2, delivered: 2 });
    expect(story.requests).toEqual(['pulse', 'tail']);
    expect(await story.tick()).toMatchObject({ created: 0, examined: 0 });
  });

  it('delivers leftovers while the partner is down, and reports the failure', async () => {
    story.world = [assessment()];
    story.subscribers.refuse = () => true;
    await story.tick();
    story.subscribers.refuse = () => false;
    story.host.fault = serverError;
    const failure = { code: 'unavailable' };
    expect(await story.tick()).toMatchObject({ outcome: 'disturbed', delivered: 1, failure });
    story.host.fault = undefined;
    expect(await story.tick()).toMatchObject({ outcome: 'completed', delivered: 0 });
  });

  it('ends quietly while another one has the lease', async () => {
    const now = story.clock.now();
    await story.ledger.takeLease({ owner: 'other', until: now.add({ seconds: 65 }) }, now);
    story.world = [assessment({ id: 1 })];
    expect(await story.tick()).toMatchObject({ outcome: 'busy', created: 0 });
    story.clock.advance({ seconds: 66 });
    expect(await story.tick()).toMatchObject({ outcome: 'completed', delivered: 1 });
  });
});

describe('a commit', () => {
  const commit: Ledger['commit'] = (...change) => story.ledger.commit(...change);
  const commits: [string, Ledger['commit'], object, object][] = [
    [
      'that the SDK sends twice',
      (...change) => commit(...change).then(() => commit(...change)),
      { conflicts: 1, failed: 0 },
      { created: 0 },
    ],
    ['that comes second', async () => undefined, { conflicts: 1, failed: 0 }, { created: 1 }],
  ];

  it.each(commits)(
    '%s stops no other, and its change is delivered by the next tick',
    async (_, strange, report, next) => {
      story.world = [assessment({ id: 1 }), assessment({ id: 2 })];
      const ledger = story.ledgerWith({
        commit: (...change) => (change[0].id === 1 ? strange : commit)(...change),
      });
      expect(await story.tick({ ledger })).toMatchObject({ ...report, delivered: 1 });
      expect(await story.tick()).toMatchObject({ ...next, delivered: 1 });
      expect(story.ids()).toEqual(eventIds(2, 1));
    },
  );
});
