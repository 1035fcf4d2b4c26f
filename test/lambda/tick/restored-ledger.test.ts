import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { assessment } from '../../support/assessments.ts';

const database = ledgersInDynamoDb();

/** A change that a tick announces. */
type Step = (story: Integration) => unknown;
const add: Step = (story) => story.add(assessment({ id: 3 }));
const remove =
  (id: number): Step =>
  ({ host }) => {
    if (host.has(id)) host.remove(id);
  };
const edit =
  (email: string): Step =>
  ({ host }) =>
    host.edit(1, { email });
const nothing: Step = () => undefined;

/** docs/operations.md describes these effects of a ledger restored to an earlier time. */
it.each([
  ['later creations again, under the same id', [add], [nothing], ['3/1', '3/1']],
  [
    'several later changes under revisions used before',
    [edit('b@c.org'), edit('d@e.org')],
    [nothing, edit('f@g.org')],
    ['1/2', '1/3', '1/2', '1/3'],
  ],
  [
    'later withdrawals again, under the same id',
    [remove(2), nothing],
    [nothing, nothing],
    ['2/2', '2/2'],
  ],
  ['nothing of what came and went later', [add, remove(3), nothing], [nothing], ['3/1', '3/2']],
  ['no unchanged certification', [], [nothing], []],
] as const)('a restored ledger announces %s', async (_, before, after, announced) => {
  const story = new Integration(database.of);
  /** A tick after the minutes in which audits see an edit. */
  const carryOut = async (steps: readonly Step[]) => {
    for (const step of steps) {
      step(story);
      story.clock.advance({ minutes: 16 });
      await story.minutes(2);
    }
  };
  await story.tick();
  story.world = [assessment({ id: 1 }), assessment({ id: 2 })];
  await carryOut([nothing]);
  story.heard.length = 0;

  const { client, tableName: TableName } = database;
  const then = await database.items(story.name);
  await carryOut(before);
  for (const { pk } of await database.items(story.name))
    if (pk) await client.send(new DeleteItemCommand({ TableName, Key: { pk } }));
  for (const Item of then) await client.send(new PutItemCommand({ TableName, Item }));
  await carryOut(after);
  expect(story.ids()).toEqual(announced.map((id) => `${story.name}/${id}`));
});
