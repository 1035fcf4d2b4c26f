import { readFileSync } from 'node:fs';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { Temporal } from 'temporal-polyfill';
import { expect, it } from 'vitest';
import { contract } from '../../lambda/commands/contract.ts';
import { rulesNow, rulesOf } from '../../lambda/decisions/fingerprint.ts';
import { Integration } from '../scaffold/integration.ts';
import { ledgersInDynamoDb } from '../scaffold/ledgers.ts';
import { assessment } from '../support/assessments.ts';

const database = ledgersInDynamoDb();

/**
 * The items that ticks of commit 45db07e left in the table: a baseline of ten, an update (105), a
 * move (106), a withdrawal (107) and a new certification (200), all delivered. Five more are held
 * (300 to 304), and one new certification (400) still owes its digest. The first line has the end of
 * the last tick and the partner's assessments at that time. Each other line is an item.
 */
async function recorded(): Promise<Integration> {
  const story = new Integration(database.of);
  story.settings = { holdAbove: 2 };
  const file = new URL('table-of-the-first-version.jsonl', import.meta.url);
  const lines = readFileSync(file, 'utf8').trimEnd().replaceAll('district-1', story.name);
  const [{ at, world }, ...items] = lines.split('\n').map((line) => JSON.parse(line));
  story.world = world;
  story.clock.advance(story.clock.now().until(Temporal.Instant.from(at)));
  const TableName = database.tableName;
  for (const Item of items) await database.client.send(new PutItemCommand({ TableName, Item }));
  return story;
}

it('a table of the first version is used without another baseline and without an event', async () => {
  const story = await recorded();
  const first = await story.minute();
  expect(first).toMatchObject({ outcome: 'completed', recorded: 0, unexplained: 0, missing: 0 });
  const before = story.clock.now().epochMilliseconds;
  await story.minutes(30);
  const byOlderRules = async () => {
    const known = await story.ledger.known(story.world.map(({ id }) => id));
    return [...known.values()].filter((one) => rulesOf(one.fingerprint.whole) < rulesNow).length;
  };
  // Not within the hour in which an older version may come back.
  expect(await byOlderRules()).toBe(story.world.length);
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
  expect(await byOlderRules()).toBe(0);
  const days = [...(await story.ledger.calendar(state.years)).values()];
  expect(days.filter(({ readAt }) => readAt < before)).toEqual([]);
  expect(state).toMatchObject({
    baseline: { status: 'completed' },
    expected: 16,
    pulseDigest: expect.any(String),
  });
});

it('a table of the first version accepts later changes: a new one, an update, a withdrawal and the held ones', async () => {
  const story = await recorded();
  const events = (...names: string[]) => names.map((name) => `${story.name}/${name}`);
  await story.minutes(2);
  story.add(assessment({ id: 500, certified_on: '2026-11-21' }));
  await story.minutes(2);
  expect(story.ids()).toEqual(events('500/1'));

  story.add(assessment({ id: 105, certified_on: '2026-11-13', email: 'anew@example.org' }));
  story.host.remove(106);
  await story.minutesUntil(() => story.heard.length === 3, 120);
  expect(story.ids().toSorted()).toEqual(events('105/3', '106/3', '500/1'));

  // Events from before the index are listed once another event has followed them.
  const { result } = await story.operate({ command: 'events', from: '2026-11-01' });
  const listed = contract.events.result.parse(result).events.map(({ event }) => event);
  expect(listed.toSorted()).toEqual(events('105/2', '105/3', '106/2', '106/3', '500/1'));

  expect(await story.operate({ command: 'release' })).toMatchObject({ result: { events: 5 } });
  await story.minutes(2);
  expect(story.ids().slice(3).toSorted()).toEqual(
    events('300/1', '301/1', '302/1', '303/1', '304/1'),
  );
});
