import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { InterruptedError } from '../../ops/errors.ts';
import { stoppedBySignals } from '../../ops/stopping.ts';

// Each signal of a real process: process.slow.test.ts.
const others = process.listeners('SIGINT');
beforeEach(() => {
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  process.removeAllListeners('SIGINT');
});
afterEach(() => {
  vi.restoreAllMocks();
  process.removeAllListeners('SIGINT');
  for (const listener of others) process.on('SIGINT', listener);
});

it('a terminal, npx and the launcher may each bring a signal, but a later one ends the program at once', () => {
  let now = 0;
  const { signal } = stoppedBySignals(() => now);
  const later = (ms: number) => {
    now += ms;
    process.emit('SIGINT');
  };
  for (const ms of [0, 20, 200]) later(ms);
  expect(signal.reason).toBeInstanceOf(InterruptedError);
  expect(() => later(400)).toThrow('exit 130');
});
