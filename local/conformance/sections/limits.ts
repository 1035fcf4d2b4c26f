import type { Section } from '../check.ts';
import { contradiction, pass } from '../verdict.ts';
import { defaultSize, largestSize } from './list-paging.ts';
import { lifetime } from './token-response.ts';

export const limits: Section = {
  id: '8',
  title: 'Limits',
  checks: [
    { name: 'the largest page is 100', run: largestSize },
    { name: 'the default page is 50', run: defaultSize },
    {
      name: 'the default offset is 0',
      run: async (samples) => {
        const { offset } = await samples.first();
        return offset === 0 ? pass : contradiction('offset 0', `offset ${offset}`);
      },
    },
    { name: 'a token lives for 7200 seconds', run: lifetime },
  ],
};
