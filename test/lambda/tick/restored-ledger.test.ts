import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { assessment } from '../../support/assessments.ts';

const database = ledgersInDynamoDb();

/** docs/operations.md describes these effects of a ledger restored to an earlier time. */
describe('a ledger restored to an earlier time', () => {
  let story: Integration;
  let goBack: () => Promise<void>;

  /** A tick after the minutes in which audits see an edit. */
  async function tickAfterAWhile() {
    story.clock.advance({ minutes: 16 });
    await story.tick();
  }

  /** An edit that only an audit or the newest page sees. */
  function edit(id: number, email: string) {
    story.world = story.world.map((one) => (one.id === id ? { ...one, email } : one));
  }

  /**
   * @returns a function that restores the ledger to its present content, as a restored table would
   * have it
   */
  async function backUp(): Promise<() => Promise<void>> {
    const { client, tableName: TableName } = database;
    const then = await database.items(story.name);
    return async () => {
      for (const { pk } of await database.items(story.name))
        if (pk) await client.send(new DeleteItemCommand({ TableName, Key: { pk } }));
      for (const Item of then) await client.send(new PutItemCommand({ TableName, Item }));
    };
  }

  beforeEach(async () => {
    story = new Integration(database.of);
    await story.tick();
    story.world = [assessment({ id: 1 }), assessment({ id: 2 })];
    await tickAfterAWhile();
    goBack = await backUp();
    story.heard.length = 0;
  });

  it('announces later creations again, under the same id', async () => {
    story.world = [...story.world, assessment({ id: 3 })];
    await tickAfterAWhile();
    await goBack();
    await tickAfterAWhile();
    expect(story.ids()).toEqual([`${story.name}/3/1`, `${story.name}/3/1`]);
  });

  it('announces a single later change again, under the same id and with the same content', async () => {
    edit(1, 'once@example.org');
    await tickAfterAWhile();
    await goBack();
    await tickAfterAWhile();
    const [first, again] = story.heard;
    expect(story.ids()).toEqual([`${story.name}/1/2`, `${story.name}/1/2`]);
    expect(again?.data).toEqual(first?.data);
  });

  it('uses revisions again after several later changes, so subscribers have to forget them', async () => {
    for (const email of ['once@example.org', 'twice@example.org']) {
      edit(1, email);
      await tickAfterAWhile();
    }
    await goBack();
    await tickAfterAWhile();
    edit(1, 'a-third-time@example.org');
    await tickAfterAWhile();
    expect(story.ids()).toEqual([2, 3, 2, 3].map((revision) => `${story.name}/1/${revision}`));
  });

  it('announces later withdrawals again, under the same id', async () => {
    story.world = story.world.filter(({ id }) => id !== 2);
    await tickAfterAWhile();
    await tickAfterAWhile();
    await goBack();
    await tickAfterAWhile();
    await tickAfterAWhile();
    expect(story.ids()).toEqual([`${story.name}/2/2`, `${story.name}/2/2`]);
  });

  it('announces nothing of certifications that were created and withdrawn later', async () => {
    story.world = [...story.world, assessment({ id: 3 })];
    await tickAfterAWhile();
    story.world = story.world.filter(({ id }) => id !== 3);
    await tickAfterAWhile();
    story.heard.length = 0;
    await goBack();
    await tickAfterAWhile();
    expect(story.ids()).toEqual([]);
  });

  it('announces no unchanged certification', async () => {
    await goBack();
    await tickAfterAWhile();
    expect(story.ids()).toEqual([]);
  });
});
