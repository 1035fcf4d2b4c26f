import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approved, Duty, masked } from './duty.ts';

// Ten lives in one story. `explain` changes nothing, so it may ask for them in any order.
const ids = {
  late: 4_800_100,
  'edited-twice': 4_800_200,
  moved: 4_800_300,
  'withdrawn-and-restored': 4_800_400,
  'held-then-released': 4_800_500,
  'held-then-discarded': 4_800_600,
  baseline: 0,
  quarantined: 4_800_800,
  'out-of-scope': 4_800_900,
  unknown: 999_999,
};

const duty = new Duty();
const { stage } = duty;
beforeAll(async () => {
  await duty.build({ integration: { holdAbove: 5 } });
  await duty.raise();
  const { world } = stage.sandbox;
  const [first] = world.assessments();
  ids.baseline = first?.id ?? 0;
  const [somewhere = 0, elsewhere = 0] = world.scope.organizationIds;
  const outside = world.organizations.find(({ id }) => !world.scope.organizationIds.has(id));
  const add = (id: number, more = {}) => world.add({ id, organization_id: somewhere, ...more });
  await stage.completedTick();

  add(ids.late, { certified_on: '2016-02-03' });
  add(ids['edited-twice']);
  add(ids.moved);
  add(ids['withdrawn-and-restored'], { certified_on: '2019-05-06' });
  add(ids['out-of-scope'], { organization_id: outside?.id });
  await stage.completedTick();

  world.change(ids['edited-twice'], { organization_id: elsewhere });
  world.moveTo(ids.moved, '2020-03-04');
  world.remove(ids['withdrawn-and-restored']);
  await stage.completedTick();

  world.change(ids['edited-twice'], { legacy: true, organization_id: somewhere });
  world.restore(ids['withdrawn-and-restored']);
  await stage.completedTick();

  for (const id of [ids['held-then-released'], ids['held-then-discarded'], 1, 2, 3, 4])
    add(id < 10 ? 4_801_000 + id * 100 : id, { certified_on: '2018-07-08' });
  expect(await stage.completedTick()).toMatchObject({ held: 6 });
  expect(await duty.json(`release --yes --id ${ids['held-then-released']}`)).toMatchObject({
    result: { events: 1 },
  });
  await duty.run(`discard --yes --id ${ids['held-then-discarded']}`);
  await stage.completedTick();

  add(ids.quarantined);
  world.spoil(ids.quarantined, { omit: ['certified_on'] });
  await stage.completedTick();
});
afterAll(async () => {
  await duty.strike();
  await duty.dismantle();
});

describe('explain tells the life of an assessment that is', () => {
  it.each(Object.keys(ids) as (keyof typeof ids)[])('%s', async (name) => {
    const { stdout, stderr, exitCode } = await duty.run(`explain ${ids[name]}`);
    const told = masked(`${stdout}${stderr}exit ${exitCode}\n`);
    await expect(told).toMatchFileSnapshot(approved(`lives/${name}`));
    for (const { last_name, email } of stage.sandbox.world.assessments())
      for (const value of [last_name, email]) expect(told).not.toContain(value);
  });
});
