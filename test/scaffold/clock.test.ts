import { expect, test } from 'vitest';
import { ManualClock } from './clock.ts';

/** Logs events with the seconds that had passed. */
function told() {
  const clock = new ManualClock('1970-01-01T00:00:00Z');
  const story: string[] = [];
  const tell = (what: string) => () => {
    story.push(`${clock.now().epochMilliseconds / 1000} ${what}`);
  };
  return { clock, story, tell };
}

test('a timer that falls due while time moves fires at its own time, in order', () => {
  const { clock, story, tell } = told();
  clock.after(2_000, tell('second'));
  clock.after(1_000, tell('first'));
  clock.after(2_000, tell('third'));
  clock.after(4_000, tell('never'));
  clock.advance({ seconds: 3 });
  tell('end')();
  expect(story).toEqual(['1 first', '2 second', '2 third', '3 end']);
});

test('a cancelled timer does not fire', () => {
  const { clock, story, tell } = told();
  clock.after(1_000, tell('cancelled'))();
  clock.advance({ seconds: 3 });
  expect(story).toEqual([]);
});

test('a sleep moves time, and ends where its signal aborts', async () => {
  const { clock, story, tell } = told();
  const stop = new AbortController();
  clock.after(2_000, () => stop.abort(new Error('stopped')));
  clock.after(3_000, tell('late'));
  await clock.sleep(1_000, stop.signal);
  tell('slept')();
  await expect(clock.sleep(9_000, stop.signal)).rejects.toThrow('stopped');
  tell('stopped')();
  await expect(clock.sleep(9_000, stop.signal)).rejects.toThrow('stopped');
  expect(story).toEqual(['1 slept', '2 stopped']);
});

test('code that awaited something runs before a sleep goes on', async () => {
  const { clock, story, tell } = told();
  const due = new Promise<void>((resolve) => clock.after(1_000, resolve)).then(tell('due'));
  await clock.sleep(5_000);
  tell('slept')();
  await due;
  expect(story).toEqual(['1 due', '5 slept']);
});
