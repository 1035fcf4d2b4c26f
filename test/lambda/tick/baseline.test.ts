import { setImmediate } from 'node:timers/promises';
import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { Integration } from '../../scaffold/integration.ts';
import { answering, on, titles } from './scenarios.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

const today = '2026-11-21';
const daysAgo = (days: number) => Temporal.PlainDate.from(today).subtract({ days }).toString();
const status = async () => (await story.ledger.state()).baseline.status;

describe('a baseline', () => {
  it('records the existing certifications, announces nothing, and ends with one notice', async () => {
    story.world = on('2026-11-20', [1, 2]);
    expect(await story.tick()).toMatchObject({ outcome: 'baseline', recorded: 2, delivered: 0 });
    expect(await story.tick()).toMatchObject({ outcome: 'completed', created: 0 });
    expect([...story.heard, ...story.mails]).toEqual([]);
    expect(titles(story)).toEqual(['baseline completed']);
    expect(story.notices[0]?.text).toMatch(/2 certifications on \d+ days.*single-page: \d+/s);
  });

  it('owes its notice while SNS refuses it, which delays nothing else', async () => {
    story.world = on('2026-11-20', [1]);
    story.subscribers.mailing = { accepted: false, code: 'AuthorizationError' };
    expect(await story.tick()).toMatchObject({ outcome: 'baseline' });
    expect(await status()).toBe('completed');
    story.add(...on('2026-11-20', [2]));
    expect(await story.tick()).toMatchObject({ created: 1 });
    expect(story.notices).toEqual([]);
    story.subscribers.mailing = { accepted: true };
    for (const minutes of [16, 16]) {
      story.clock.advance({ minutes });
      await story.tick();
    }
    expect(titles(story).filter((title) => title.includes('baseline'))).toHaveLength(1);
  });

  it.each([
    ['none', []],
    [{ since: '2026-01-01' }, ['1']],
    ['all', ['1', '2']],
  ] as const)('announces by the setting: %o', async (announce, subjects) => {
    story.settings = { announce };
    story.world = [...on('2026-11-20', [1]), ...on('2019-01-01', [2])];
    await story.tick();
    expect(story.heard.map(({ subject }) => subject).sort()).toEqual(subjects);
  });

  it('reads several ranges at once, and records one after another', async () => {
    for (let n = 0; n < 12; n++) story.host.addMany(1_000 * n + 1, 700, daysAgo(1 + 40 * n));
    story.settings = { baseline: { atOnce: 4 } };
    const now = { reads: 0, records: 0 };
    const most = { ...now };
    const counted = <T>(what: 'reads' | 'records', work: Promise<T>) => {
      now[what] += 1;
      most[what] = Math.max(most[what], now[what]);
      return work.finally(() => {
        now[what] -= 1;
      });
    };
    const { prove } = story.partner;
    answering(story, { prove: (...asked) => counted('reads', prove(...asked)) });
    const ledger = story.ledgerWith({
      recordSilently: (...asked) => counted('records', story.ledger.recordSilently(...asked)),
    });
    expect(await story.tick({ ledger })).toMatchObject({ outcome: 'baseline', recorded: 8_400 });
    // None is asked for twice.
    expect(story.requests).toEqual([...new Set(story.requests)]);
    expect(most).toEqual({ reads: 4, records: 1 });
    expect([await status(), now.reads]).toEqual(['completed', 0]);
  });

  it('has ended all of its reads, also where the log itself fails', async () => {
    for (let n = 0; n < 12; n++) story.host.addMany(1_000 * n + 1, 700, daysAgo(1 + 40 * n));
    story.settings = { baseline: { atOnce: 4 }, announce: 'all', holdAbove: 100_000 };
    const { prove } = story.partner;
    let [begun, ended] = [0, 0];
    answering(story, {
      prove: async (...asked) => {
        begun += 1;
        if (begun > 2) for (let n = 0; n < 50; n++) await setImmediate();
        const read = await prove(...asked);
        ended += 1;
        return read;
      },
    });
    const ledger = story.ledgerWith({
      commit: (...asked) =>
        begun > 2
          ? Promise.reject(new LedgerUnavailableError('UpdateItem', {}))
          : story.ledger.commit(...asked),
    });
    const warn = (what: string) => {
      if (what === 'commit failed') throw new Error('a defect');
    };
    await expect(story.tick({ ledger, journal: { warn } })).rejects.toThrow('a defect');
    expect([begun > 3, ended]).toEqual([true, begun]);
  });

  it('neither calls the day of a malformed record proven nor counts the record', async () => {
    const days = ['2024-02-29', '2023-01-01', today];
    story.world = days.flatMap((day, index) => on(day, [10 + index]));
    for (const [index, day] of days.slice(0, 2).entries()) {
      story.host.add(index, day);
      story.host.spoil(index, { certified_on: null });
    }
    const calendar = async () => {
      const known = await story.ledger.calendar((await story.ledger.state()).years);
      return days.map((day) => [known.get(day)?.count, known.get(day)?.proof !== undefined]);
    };
    await story.tick();
    expect((await calendar()).map(([, isProven]) => isProven)).toEqual([false, false, true]);
    expect(await status()).toBe('running');
    // A read of many days cannot assign the records to days. A search does, before the end.
    await story.tick();
    expect(story.notices.at(-1)?.text).toMatch(/unproven/);
    expect((await calendar()).join(' ')).toBe('2,false 2,false 1,true');
    expect((await story.ledger.state()).expected).toBe(5);
    expect(story.heard).toEqual([]);
  });

  it('dates its proofs by the beginning of their reads, so a day that ends in one is not complete', async () => {
    story.clock.advance({ hours: 15, minutes: 59, seconds: 59 });
    story.world = on(today, [1]);
    const { prove } = story.partner;
    answering(story, {
      prove: async (...asked) => {
        story.clock.advance({ seconds: 2 });
        return prove(...asked);
      },
    });
    await story.tick();
    const at = Temporal.Instant.from('2026-11-21T23:59:59Z').epochMilliseconds;
    const entry = (await story.ledger.calendar([2026])).get(today);
    expect(entry).toMatchObject({ readAt: at, proof: { at } });
  });
});
