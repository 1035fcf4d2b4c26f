import { expect, it } from 'vitest';
import { readable } from './readable.ts';
import { district, synthesized } from './synthesized.ts';

const template = synthesized({ integrations: [district] }).toJSON();

/** After an intended change: `npx vitest run test/infra/approved.test.ts -u`, and read the difference. */
it('the template of the smallest configuration equals the approved one', async () => {
  await expect(readable(template)).toMatchFileSnapshot('approved/smallest.yaml');
});

it('the approved template has no hash of code, so it is the same for any code', () => {
  expect(JSON.stringify(template)).toMatch(/"S3Key":"[0-9a-f]{64}/);
  const runs = [...readable(template).matchAll(/[0-9a-f]{8,}/gi)].map(([run]) => run);
  expect(runs.filter((run) => /\d/.test(run) && /[a-f]/i.test(run))).toEqual([]);
});
