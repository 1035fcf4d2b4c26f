import { beforeEach, describe, expect, it } from 'vitest';
import type { Assessment } from '../../lambda/events/assessment.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import type { ListQuery } from '../../lambda/partner/index.ts';
import { partnerReader } from '../../lambda/partner/reader.ts';
import type { Announcer, Notice } from '../../lambda/ports.ts';
import { tick } from '../../lambda/tick.ts';
import { assessment } from '../support/assessments.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryLedger } from '../support/memory-ledger.ts';
import { answer } from './partner/proven/answer.ts';

/** A host that takes a second for each answer, so that a tick of a minute reads 2,700 records. */
class SlowStory {
  readonly clock = new ManualClock();
  readonly ledger = new MemoryLedger();
  readonly world = new Map<number, Assessment>();
  readonly heard: CertificationEvent[] = [];
  readonly notices: Notice[] = [];
  readonly queries: ListQuery[] = [];
  #ticks = 0;

  readonly #client = {
    list: async (query: ListQuery = {}) => {
      this.clock.advance({ seconds: 1 });
      this.queries.push(query);
      const records = [...this.world.values()].map((one) => ({
        assessment: one,
        legacy: false,
        archived: false,
      }));
      return answer(records, query, 'full-name', () => 0);
    },
    get: async (id: number) => this.world.get(id),
  };

  readonly #announcer: Announcer = {
    publish: async (owed) => {
      this.heard.push(...owed.map(({ event }) => event));
      return { accepted: owed, refused: [] };
    },
    digest: () => ({ add: () => undefined, send: async () => ({ accepted: true }) }),
    notify: async (notice) => {
      this.notices.push(notice);
      return { accepted: true };
    },
  };

  add(id: number, certified_on: string): void {
    const name = `Ada Number${String(id).padStart(5, '0')}`;
    const names = { name, first_name: 'Ada', last_name: name.slice(4) };
    this.world.set(id, assessment({ id, certified_on, ...names }));
  }

  async tick() {
    const began = this.clock.now();
    this.#ticks += 1;
    const deadline = began.add({ seconds: 60 });
    const report = await tick(
      {
        settings: {
          name: 'slow',
          timeZone: 'UTC',
          recentDays: 3,
          audit: { recentMs: 900_000, historyMs: 86_400_000, requests: 20 },
          holdAbove: 500,
          announce: 'none',
          fields: 'all',
          alerts: { detail: 'names', maxRows: 60 },
          resources: { secret: 'credentials' },
        },
        clock: this.clock,
        partner: partnerReader(this.#client, this.clock),
        ledger: this.ledger,
        announcer: this.#announcer,
        journal: { warn: () => undefined },
      },
      { id: `tick-${this.#ticks}`, deadline },
    );
    expect(this.clock.now().epochMilliseconds).toBeLessThan(deadline.epochMilliseconds);
    this.clock.advance({ seconds: 1 });
    return report;
  }

  async ticksUntil(isDone: () => boolean | Promise<boolean>, most: number): Promise<void> {
    for (let ticks = 0; ticks < most; ticks++) {
      if (await isDone()) return;
      await this.tick();
    }
    expect(await isDone()).toBe(true);
  }

  async baselineIsDone(): Promise<boolean> {
    return (await this.ledger.state()).baseline.status === 'completed';
  }

  heardOf(id: number): boolean {
    return this.heard.some(({ subject }) => subject === String(id));
  }
}

const migrated = '2015-01-01';
const size = 8_000;

describe('a day that does not fit into one tick', () => {
  let story: SlowStory;
  beforeEach(() => {
    story = new SlowStory();
    for (let id = 1; id <= size; id++) story.add(id, migrated);
    for (let id = size + 1; id <= size + 50; id++) story.add(id, '2026-11-19');
  });

  it('is recorded whole by the baseline, silently, each tick going on where the last one stopped', async () => {
    await story.ticksUntil(() => story.baselineIsDone(), 8);
    expect(story.ledger.items.size).toBe(size + 50);
    expect(story.heard).toEqual([]);
    expect((await story.ledger.state()).expected).toBe(size + 50);
  });

  it('tells of what is new at its far end, and of what is new today at once', async () => {
    await story.ticksUntil(() => story.baselineIsDone(), 8);
    story.add(99_999, migrated);
    await story.tick();
    story.add(90_000, '2026-11-21');
    await story.tick();
    expect(story.heardOf(90_000)).toBe(true);
    await story.ticksUntil(() => story.heardOf(99_999), 5);
    expect(story.heard).toHaveLength(2);
  });

  it('is called unproven, infers no removal, and leaves the ticks quiet afterwards', async () => {
    await story.ticksUntil(() => story.baselineIsDone(), 8);
    story.world.delete(17);
    await story.tick();
    expect((await story.ledger.state()).bookmark?.day).toBe(migrated);
    await story.ticksUntil(async () => (await story.ledger.state()).bookmark === undefined, 12);
    story.queries.length = 0;
    await story.tick();
    expect(story.queries).toHaveLength(1);
    expect(story.heard).toEqual([]);
    const { days } = story.ledger;
    expect(days.get(migrated)?.count).toBe(size - 1);
    expect(days.get(migrated)?.proof).toBeUndefined();
  });
});
