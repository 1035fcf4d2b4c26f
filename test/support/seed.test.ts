import { afterAll, expect, it, vi } from 'vitest';

// The next file of the process begins after this hook.
afterAll(() => {
  expect(process.env.CDK_LEFT_BEHIND).toBeUndefined();
  expect(globalThis).not.toHaveProperty('leftBehind');
  expect(vi.isFakeTimers()).toBe(false);
});

it('a file leaves no stub and no stopped clock to the next file', () => {
  vi.stubEnv('CDK_LEFT_BEHIND', 'yes');
  vi.stubGlobal('leftBehind', 'yes');
  vi.useFakeTimers();
  expect(process.env.CDK_LEFT_BEHIND).toBe('yes');
});
