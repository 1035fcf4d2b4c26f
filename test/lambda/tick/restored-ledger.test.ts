import { beforeEach, describe, expect, it } from 'vitest';
import { assessment } from '../../support/assessments.ts';
import { Story, storiesHaveALedger } from '../../support/story.ts';

storiesHaveALedger();

/** What docs/operations.md says of a ledger that was restored to an earlier time. */
describe('a ledger of an earlier time', () => {
  let story: Story;
  let goBack: () => Promise<void>;

  /** As much later as the audits need to see an edit. */
  async function tickAfterAWhile() {
    story.clock.advance({ minutes: 16 });
    await story.tick();
  }

  /** An edit that nobody but an audit or the newest page sees. */
  function edit(id: number, email: string) {
    story.world = story.world.map((one) => (one.id === id ? { ...one, email } : one));
  }

  beforeEach(async () => {
    story = new Story();
    await story.tick();
    story.world = [assessment({ id: 1 }), assessment({ id: 2 })];
    await tickAfterAWhile();
    goBack = await story.backUp();
    story.heard.length = 0;
  });

  it('announces again what was created since, under the same id', async () => {
    story.world = [...story.world, assessment({ id: 3 })];
    await tickAfterAWhile();
    await goBack();
    await tickAfterAWhile();
    expect(story.ids()).toEqual([`${story.name}/3/1`, `${story.name}/3/1`]);
  });

  it('announces again what was changed once since, under the same id and with the same content', async () => {
    edit(1, 'once@example.org');
    await tickAfterAWhile();
    await goBack();
    await tickAfterAWhile();
    const [first, again] = story.heard;
    expect(story.ids()).toEqual([`${story.name}/1/2`, `${story.name}/1/2`]);
    expect(again?.data).toEqual(first?.data);
  });

  it('uses revisions again of what was changed several times: subscribers have to forget', async () => {
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

  it('announces again what was withdrawn since, under the same id', async () => {
    story.world = story.world.filter(({ id }) => id !== 2);
    await tickAfterAWhile();
    await goBack();
    await tickAfterAWhile();
    expect(story.ids()).toEqual([`${story.name}/2/2`, `${story.name}/2/2`]);
  });

  it('says nothing of what was created and withdrawn since', async () => {
    story.world = [...story.world, assessment({ id: 3 })];
    await tickAfterAWhile();
    story.world = story.world.filter(({ id }) => id !== 3);
    await tickAfterAWhile();
    story.heard.length = 0;
    await goBack();
    await tickAfterAWhile();
    expect(story.ids()).toEqual([]);
  });

  it('says nothing of what has not changed', async () => {
    await goBack();
    await tickAfterAWhile();
    expect(story.ids()).toEqual([]);
  });
});
