import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LocalFunction } from '../../local/aws/index.ts';
import { Deployment, queues } from '../scaffold/deployment.ts';
import { type Execution, execute } from '../support/state-machine.ts';

const records = 100;
const stage = new Deployment();
beforeAll(async () => {
  await stage.build({ integration: { baseline: { atOnce: 2 } }, records });
  await stage.raise();
});
afterAll(async () => {
  await stage.strike();
  await stage.dismantle();
});

it('the state machine of the stack reads the history, while ticks announce new certifications', async () => {
  await stage.completedTick();
  const today = Temporal.Now.plainDateISO('UTC').toString();
  const added: number[] = [];
  const free: LocalFunction[] = [];
  const execution: Execution = {
    async function({ range }) {
      if (range !== undefined && added.length === 0) {
        added.push(stage.sandbox.world.add({ certified_on: today }).id);
        expect(await stage.completedTick()).toMatchObject({ outcome: 'baseline', delivered: 1 });
      }
      const [name = ''] = [...stage.aws.functions.keys()].filter((one) => one.includes('Baseline'));
      return free.pop() ?? stage.aws.startFunction(name);
    },
  };
  const [machine] = stage.aws.stateMachines;
  expect(await execute(machine?.definition ?? {}, execution)).toMatchObject({
    outcome: 'completed',
  });
  expect(added).toHaveLength(1);
  expect(await stage.completedTick()).toMatchObject({ outcome: 'completed', created: 0 });
  const [notice, ...more] = await stage.notices();
  expect(more).toEqual([]);
  expect(notice?.text).toContain('baseline.completed');
  expect(notice?.text).toContain(`${records + 1} certifications`);
  added.push(stage.sandbox.world.add({ certified_on: '2020-02-29' }).id);
  expect(await stage.completedTick()).toMatchObject({ created: 1, unexplained: 0 });
  const heard = (await stage.events(queues.everything)).map(({ subject }) => Number(subject));
  expect(heard.sort()).toEqual(added.sort());
});
