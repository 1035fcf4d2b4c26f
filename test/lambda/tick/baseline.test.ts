import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import type { PartnerReader } from '../../../lambda/ports/partner-reader.ts';
import type { TickSettings } from '../../../lambda/settings.ts';
import { Integration } from '../../scaffold/integration.ts';
import { assessment } from '../../support/assessments.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

describe('the first tick', () => {
  it('records the existing certifications and announces nothing', async () => {
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
  it('keeps its recorded certifications when the partner fails in the middle', async () => {
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

  it('announces by the setting: none, recent ones, or all', async () => {
    const announce = async (announced: TickSettings['announce']) => {
      const other = new Integration();
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

  it('of many ticks announces an edit made meanwhile as soon as the newest page shows it', async () => {
    const backwards = (days: number) =>
      Temporal.PlainDate.from('2026-11-21').subtract({ days }).toString();
    story.world = Array.from({ length: 80 }, (_, index) =>
      assessment({ id: index + 1, certified_on: backwards(index < 2 ? 10 * index : 90 * index) }),
    );
    const prove = story.partner.prove.bind(story.partner);
    Object.assign(story.partner, {
      prove: async (...asked) => {
        const read = await prove(...asked);
        story.clock.advance({ seconds: 20 });
        return read;
      },
    } satisfies Partial<PartnerReader>);
    let ticks = 0;
    while ((await story.ledger.state()).baseline.status !== 'completed') {
      await story.tick();
      ticks += 1;
      if (ticks === 2)
        story.world = story.world.map((one) =>
          one.id === 2 ? { ...one, email: 'x@example.org' } : one,
        );
    }
    expect(ticks).toBeGreaterThan(2);
    Object.assign(story.partner, { prove } satisfies Partial<PartnerReader>);
    expect(await story.tick()).toMatchObject({ updated: 1 });
  });

  it('neither calls the day of a malformed record proven nor counts the record', async () => {
    const day = '2024-02-29';
    story.world = [
      ...[assessment({ id: 1, certified_on: day }), assessment({ id: 2 })],
      assessment({ id: 5, certified_on: '2023-01-01' }),
    ];
    for (const [id, of] of [
      [3, day],
      [4, '2023-01-01'],
    ] as const) {
      story.host.add(id, of);
      story.host.spoil(id, { certified_on: null });
    }
    await story.tick();
    const isProven = async (of: string) => {
      const { years } = await story.ledger.state();
      return (await story.ledger.calendar(years)).get(of)?.proof !== undefined;
    };
    const days = [day, '2023-01-01', '2026-11-21'];
    expect(await Promise.all(days.map(isProven))).toEqual([false, false, true]);
    expect(story.notices[0]?.text).toMatch(/unproven/);
    // A read of many days cannot assign the records to days. The first search does.
    await story.tick();
    const { years, expected } = await story.ledger.state();
    const calendar = await story.ledger.calendar(years);
    expect(expected).toBe(5);
    expect([day, '2023-01-01'].map((of) => calendar.get(of)?.count)).toEqual([2, 2]);
    expect(await Promise.all(days.map(isProven))).toEqual([false, false, true]);
    expect(story.heard).toEqual([]);
  });

  it('dates its proofs by the beginning of their reads, so that a day that ends during a read is not complete', async () => {
    const { prove } = story.partner;
    story.clock.advance({ hours: 15, minutes: 59, seconds: 59 });
    story.world = [assessment({ id: 1, certified_on: '2026-11-21' })];
    Object.assign(story.partner, {
      prove: async (...asked) => {
        story.clock.advance({ seconds: 2 });
        return prove(...asked);
      },
    } satisfies Partial<PartnerReader>);
    await story.tick();
    const calendar = await story.ledger.calendar([2026]);
    const midnight = Temporal.Instant.from('2026-11-22T00:00:00Z').epochMilliseconds;
    expect(calendar.get('2026-11-21')?.proof?.at).toBe(midnight - 1_000);
    expect(calendar.get('2026-11-21')?.readAt).toBe(midnight - 1_000);
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

describe('the notice of the completed baseline', () => {
  it('is owed while SNS refuses it, and delays nothing else', async () => {
    story.world = [assessment({ id: 1 })];
    story.subscribers.mailing = { accepted: false, code: 'AuthorizationError' };
    expect(await story.tick()).toMatchObject({ outcome: 'baseline' });
    expect((await story.ledger.state()).baseline.status).toBe('completed');
    story.add(assessment({ id: 2 }));
    expect(await story.tick()).toMatchObject({ created: 1 });
    expect(story.notices).toEqual([]);
    story.subscribers.mailing = { accepted: true };
    story.clock.advance({ minutes: 16 });
    await story.tick();
    await story.tick();
    const subjects = story.notices.map(({ subject }) => subject);
    expect(subjects.filter((subject) => subject.includes('baseline'))).toHaveLength(1);
  });
});
