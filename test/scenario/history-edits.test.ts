import { expect, it } from 'vitest';
import { closeSandboxes, integrationAt } from './sandbox-integration.ts';

closeSandboxes();

it('finds edits anywhere in 10,000 certifications within the hour, at three requests a minute at most', async () => {
  const { story, sandbox, world, ids, told } = await integrationAt({ records: 10_000 });
  await story.baseline();
  await story.minutes(30);
  const edited = ids().filter((_, index) => index % 1_100 === 50);
  for (const id of edited) world.spoil(id, { set: { email: 'changed@example.org' } });
  sandbox.resetRequests();
  await story.minutes(60);
  expect(told()).toEqual(edited.map((id) => `updated ${id}`).sort());
  expect(sandbox.requests.length).toBeLessThanOrEqual(3 * 60);
});
