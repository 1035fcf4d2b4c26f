import type { Section } from '../check.ts';
import { mismatch, pass } from '../verdict.ts';
import { lifetime } from './token-response.ts';

export const authentication: Section = {
  id: '5',
  title: 'Authentication',
  checks: [
    {
      name: 'a token in the Authorization header opens the list',
      run: async (samples) => {
        const { status } = await samples.answer({});
        return status === 200 ? pass : mismatch('status 200', `status ${status}`);
      },
    },
    { name: 'a token lives for two hours', run: lifetime },
  ],
};
