import { expect, it } from 'vitest';
import { readable } from './readable.ts';
import { district, synthesized } from './synthesized.ts';

/** After an intended change: `npx vitest run test/infra/approved.test.ts -u`, and read the difference. */
it('the template of the smallest configuration equals the approved one', async () => {
  const template = synthesized({ integrations: [district] }).toJSON();
  await expect(readable(template)).toMatchFileSnapshot('approved/smallest.yaml');
});
