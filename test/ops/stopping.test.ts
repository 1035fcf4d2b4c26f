import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InterruptedError } from '../../ops/errors.ts';
import { stoppedBySignals } from '../../ops/stopping.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

describe('whoever asks the program to end', () => {
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

  it.each(signals)('is given a clean end at %s', (signal) => {
    process.emit(signal);
    expect(stopping.signal.reason).toBeInstanceOf(InterruptedError);
  });

  it('has asked once when a terminal, npx and the launcher each bring the same signal', () => {
    process.emit('SIGINT');
    now += 20;
    process.emit('SIGINT');
    now += 200;
    process.emit('SIGINT');
    expect(stopping.signal.aborted).toBe(true);
  });

  it('has asked twice when the same comes later, and is not kept waiting', () => {
    process.emit('SIGINT');
    now += 600;
    expect(() => process.emit('SIGINT')).toThrow('exit 130');
  });
});
