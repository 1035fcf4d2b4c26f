import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import type { TickSettings } from '../../../lambda/parts.ts';
import type { PartnerReader } from '../../../lambda/ports.ts';
import { assessment } from '../../support/assessments.ts';
import { Story, storiesHaveALedger } from '../../support/story.ts';

storiesHaveALedger();

let story: Story;
beforeEach(() => {
  story = new Story();
});

describe('the first tick', () => {
  it('records what is there and announces nothing', async () => {
    story.world = [assessment({ id: 1 }), assessment({ id: 2 })];
    expect(await story.tick()).toMatchObject({ outcome: 'baseline', recorded: 2, delivered: 0 });
    expect(await story.tick()).toMatchObject({ outcome: 'completed', created: 0 });
    expect(story.heard).toEqual([]);
    expect(story.mails).toEqual([]);
  });

  it('that died half-way is repeated as a baseline, silently', async () => {
    const certified_on = '2026-11-21';
    story.world = [assessment({ id: 1, certified_on }), assessment({ id: 2, certified_on })];
    const died = story.ledgerWith({
      recordSilently: async (changes, now) => {
        await story.ledger.recordSilently(changes.slice(0, 1), now);
        throw new LedgerUnavailableError('BatchWriteItem', {});
      },
    });
    await expect(story.tick({ ledger: died })).rejects.toThrow(LedgerUnavailableError);
    expect(await story.tick()).toMatchObject({ outcome: 'baseline', recorded: 1 });
    expect(story.heard).toEqual([]);
  });
});

describe('a baseline', () => {
  it('keeps what it has read when the partner fails in the middle', async () => {
    story.world = Array.from({ length: 3_000 }, (_, index) =>
      assessment({
        id: index + 1,
        certified_on: Temporal.PlainDate.from('2026-11-20')
          .subtract({ days: index % 400 })
          .toString(),
      }),
    );
    let recorded = 0;
    let outcome = '';
    for (let ticks = 0; outcome !== 'baseline' && ticks < 40; ticks++) {
      let answers = 4;
      const failing = story.partner.prove;
      const prove: PartnerReader['prove'] = async (range, deadline) => {
        answers -= 1;
        if (answers === 0) throw new Error('reset');
        return failing(range, deadline);
      };
      Object.assign(story.partner, { prove });
      const report = await story.tick().catch(() => undefined);
      Object.assign(story.partner, { prove: failing });
      outcome = report?.outcome ?? '';
      recorded += report?.recorded ?? 0;
    }
    expect(outcome).toBe('baseline');
    expect((await story.ledger.state()).baseline.status).toBe('completed');
    expect((await story.ledger.state()).expected).toBe(3_000);
    expect(recorded).toBeLessThan(3_000);
    expect(story.heard).toEqual([]);
  });

  it('announces what the config asks for: nothing, what is recent enough, or everything', async () => {
    const announce = async (announced: TickSettings['announce']) => {
      const other = new Story();
      other.settings = { announce: announced };
      other.world = [
        assessment({ id: 1, certified_on: '2026-11-20' }),
        assessment({ id: 2, certified_on: '2019-01-01' }),
      ];
      await other.tick();
      return other.heard.map(({ subject }) => subject).sort();
    };
    expect(await announce('none')).toEqual([]);
    expect(await announce({ since: '2026-01-01' })).toEqual(['1']);
    expect(await announce('all')).toEqual(['1', '2']);
  });

  it('ends with one notice of its counts and proofs', async () => {
    story.world = [assessment({ id: 1 }), assessment({ id: 2 })];
    await story.tick();
    await story.tick();
    expect(story.notices.map(({ subject }) => subject)).toEqual([
      `${story.name}: baseline completed`,
    ]);
    expect(story.notices[0]?.text).toMatch(/2 certifications on \d+ days/);
    expect(story.notices[0]?.text).toMatch(/single-page: \d+/);
  });
});

describe('the notice that the baseline is completed', () => {
  it('is owed while operations cannot be told, and keeps nothing else from going on', async () => {
    story.world = [assessment({ id: 1 })];
    story.digest = { accepted: false, code: 'AuthorizationError' };
    expect(await story.tick()).toMatchObject({ outcome: 'baseline' });
    expect((await story.ledger.state()).baseline.status).toBe('completed');
    story.world.push(assessment({ id: 2 }));
    expect(await story.tick()).toMatchObject({ created: 1 });
    expect(story.notices).toEqual([]);
    story.digest = { accepted: true };
    story.clock.advance({ minutes: 16 });
    await story.tick();
    await story.tick();
    const subjects = story.notices.map(({ subject }) => subject);
    expect(subjects.filter((subject) => subject.includes('baseline'))).toHaveLength(1);
  });
});
