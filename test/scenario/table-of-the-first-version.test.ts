import { readFileSync } from 'node:fs';
import { type AttributeValue, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Assessment } from '../../lambda/events/assessment.ts';
import { contract } from '../../lambda/operations/contract.ts';
import { Integration } from '../scaffold/integration.ts';
import { ledgersInDynamoDb } from '../scaffold/ledgers.ts';
import { assessment } from '../support/assessments.ts';

const database = ledgersInDynamoDb();
const eventsIn = contract.events.result;

interface Recorded {
  /** When its last tick was over. */
  readonly at: string;
  /** What the partner had then. */
  readonly world: readonly Assessment[];
  readonly items: readonly Record<string, AttributeValue>[];
}

/**
 * What ticks of commit 45db07e had left in the table: a baseline of ten, an update (105),
 * a move (106), a withdrawal (107) and a new one (200) that subscribers have heard of, five that are held
 * (300 to 304), and a new one (400) of which people are still to be told. Each line is an item.
 */
function recorded(integration: string): Recorded {
  const file = new URL('table-of-the-first-version.jsonl', import.meta.url);
  const [first = '', ...items] = readFileSync(file, 'utf8')
    .trimEnd()
    .replaceAll('district-1', integration)
    .split('\n');
  return { ...JSON.parse(first), items: items.map((line) => JSON.parse(line)) };
}

let story: Integration;

beforeEach(async () => {
  story = new Integration(database.of);
  story.settings = { holdAbove: 2 };
  const { at, world, items } = recorded(story.name);
  story.world = world;
  story.clock.advance(story.clock.now().until(Temporal.Instant.from(at)));
  const TableName = database.tableName;
  for (const Item of items) await database.client.send(new PutItemCommand({ TableName, Item }));
});

describe('a table that the first version has written', () => {
  it('is taken over without another baseline and without an event', async () => {
    const first = await story.minute();
    expect(first).toMatchObject({ outcome: 'completed', recorded: 0, unexplained: 0, missing: 0 });
    const before = story.clock.now().epochMilliseconds;
    await story.minutes(30);
    // The audits of its history were to begin a day later.
    story.clock.advance({ hours: 24 });
    await story.minutes(30);
    expect(story.heard).toEqual([]);
    expect(story.mails).toEqual([[`${story.name}/400/1`]]);
    // The first version had no self-check.
    expect(story.notices.map(({ text }) => text)).toEqual([
      expect.stringContaining('no self-check has come to its end since'),
    ]);
    const state = await story.ledger.state();
    const days = [...(await story.ledger.calendar(state.years)).values()];
    expect(days.filter(({ readAt }) => readAt < before)).toEqual([]);
    expect(state).toMatchObject({
      baseline: { status: 'completed' },
      expected: 16,
      pulseDigest: expect.any(String),
    });
  });

  it('takes what happens from then on: a new one, an update, a withdrawal and what was held', async () => {
    await story.minutes(2);
    story.add(assessment({ id: 500, certified_on: '2026-11-21' }));
    await story.minutes(2);
    expect(story.ids()).toEqual([`${story.name}/500/1`]);

    story.add(assessment({ id: 105, certified_on: '2026-11-13', email: 'anew@example.org' }));
    story.world = story.world.filter(({ id }) => id !== 106);
    await story.minutesUntil(() => story.heard.length === 3, 120);
    expect(story.ids().toSorted()).toEqual(
      ['105/3', '106/3', '500/1'].map((name) => `${story.name}/${name}`),
    );

    // What was announced before the index was there is listed once something has followed it.
    const { result } = await story.operate({ command: 'events', from: '2026-11-01' });
    expect(
      eventsIn
        .parse(result)
        .events.map(({ event }) => event)
        .toSorted(),
    ).toEqual(['105/2', '105/3', '106/2', '106/3', '500/1'].map((name) => `${story.name}/${name}`));

    expect(await story.operate({ command: 'release' })).toMatchObject({ result: { events: 5 } });
    await story.minutes(2);
    expect(story.ids().slice(3).toSorted()).toEqual(
      ['300/1', '301/1', '302/1', '303/1', '304/1'].map((name) => `${story.name}/${name}`),
    );
  });
});
