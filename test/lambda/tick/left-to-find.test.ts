import { beforeEach, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { Integration } from '../../scaffold/integration.ts';
import { numbers, on } from './scenarios.ts';

let story: Integration;
beforeEach(async () => {
  story = new Integration();
  story.world = [
    ...on('2019-04-03', [1]),
    ...on('2026-11-20', [2]),
    ...on('2026-11-19', numbers(3, 102)),
    ...on('2019-03-05', numbers(1_001, 1_020)),
  ];
  for (let ticks = 0; ticks < 3; ticks += 1) await story.tick();
  story.requests.length = 0;
});

const hasMore = async () => (await story.ledger.state()).pulseDigest === undefined;
const aMinuteLater = () => {
  story.clock.advance({ minutes: 1 });
  return story.tick();
};

it('a change that could not be committed is dropped once it is undone', async () => {
  const before = story.world;
  story.host.edit(2);
  const commit = () => Promise.reject(new LedgerUnavailableError('UpdateItem', {}));
  const ledger = story.ledgerWith({ commit });
  expect(await story.tick({ ledger })).toMatchObject({ failed: 1 });
  expect(await hasMore()).toBe(true);
  story.world = before;
  await aMinuteLater();
  expect(await hasMore()).toBe(false);
  expect(story.heard).toEqual([]);
});

it('a wrong calendar is searched for, instead of being remembered as unexplained', async () => {
  await story.ledger.addToDays(new Map([['2019-03-05', 1]]));
  story.clock.advance({ minutes: 16 });
  for (let ticks = 0; ticks < 2; ticks += 1)
    expect(await aMinuteLater()).toMatchObject({ unexplained: 0 });
  story.host.remove(1_010);
  expect(await aMinuteLater()).toMatchObject({ missing: 1 });
});
