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
  /** The end of its last tick. */
  readonly at: string;
  /** The partner's assessments at that time. */
  readonly world: readonly Assessment[];
  readonly items: readonly Record<string, AttributeValue>[];
}

/**
 * The items that ticks of commit 45db07e left in the table: a baseline of ten, an update (105), a
 * move (106), a withdrawal (107) and a new certification (200), all delivered. Five more are held
 * (300 to 304), and one new certification (400) still owes its digest. Each line is an item.
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

describe('a table of the first version', () => {
  it('is used without another baseline and without an event', async () => {
    const first = await story.minute();
    expect(first).toMatchObject({ outcome: 'completed', recorded: 0, unexplained: 0, missing: 0 });
    const before = story.clock.now().epochMilliseconds;
    await story.minutes(30);
    // The audits of its history were due a day later.
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

  it('accepts later changes: a new one, an update, a withdrawal and the held ones', async () => {
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

    // Events from before the index are listed once another event has followed them.
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
