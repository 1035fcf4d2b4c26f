import { expect, it } from 'vitest';
import { Timeline } from './timeline.ts';

it('an error of a timer reaches the code that lets time pass', async () => {
  const timeline = new Timeline('2026-11-20T12:00:00Z');
  const broken = new Error('broken');
  timeline.after(10, () => {
    throw broken;
  });
  await expect(timeline.pass({ seconds: 1 })).rejects.toBe(broken);
});
