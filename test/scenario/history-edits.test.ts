import { expect, it } from 'vitest';
import { closeSandboxes, integrationAt } from './sandbox-integration.ts';

closeSandboxes();

it('audits find edits anywhere in 10,000 certifications within the hour, with at most three requests a minute', async () => {
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
