import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InterruptedError } from '../../ops/errors.ts';
import { stoppedBySignals } from '../../ops/stopping.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

describe('a request to end the program', () => {
  const others = new Map(signals.map((signal) => [signal, process.listeners(signal)]));
  let now = 0;
  let stopping: AbortController;

  beforeEach(() => {
    vi.spyOn(process, 'exit').mockImplementation((code) => {
      throw new Error(`exit ${code}`);
    });
    for (const signal of signals) process.removeAllListeners(signal);
    stopping = stoppedBySignals(() => now);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    for (const signal of signals) {
      process.removeAllListeners(signal);
      for (const listener of others.get(signal) ?? []) process.on(signal, listener);
    }
  });

  it.each(signals)('by %s ends it cleanly', (signal) => {
    process.emit(signal);
    expect(stopping.signal.reason).toBeInstanceOf(InterruptedError);
  });

  it('is one if a terminal, npx and the launcher each bring the same signal', () => {
    process.emit('SIGINT');
    now += 20;
    process.emit('SIGINT');
    now += 200;
    process.emit('SIGINT');
    expect(stopping.signal.aborted).toBe(true);
  });

  it('is a second one if the signal comes later, and then ends the program at once', () => {
    process.emit('SIGINT');
    now += 600;
    expect(() => process.emit('SIGINT')).toThrow('exit 130');
  });
});
