import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { IntegrationWithPast } from '../../scaffold/past.ts';

let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

describe('stored credentials', () => {
  it('are tried by the next tick, after any refusals', async () => {
    await story.settle();
    await story.ledger.saveState({
      backOff: { until: story.clock.now().add({ minutes: 50 }), failures: 6 },
    });
    expect(await story.tick()).toMatchObject({ outcome: 'backing-off' });
    expect(await story.operate({ command: 'credentials-stored' })).toMatchObject({
      result: { changed: true },
    });
    expect(await story.tick()).toMatchObject({ outcome: 'completed' });
    expect(await story.operate({ command: 'credentials-stored' })).toMatchObject({
      result: { changed: false },
    });
  });
});

describe('credentials that are being stored', () => {
  const named = { command: 'credentials-stored', by: 'odile', operation: 'mine' };
  const history = async () =>
    z
      .object({ history: z.array(z.looseObject({})) })
      .parse((await story.operate({ command: 'status', history: true })).result).history;

  it('are recorded once: before as under way, and then as done', async () => {
    await story.settle();
    await story.ledger.saveState({
      backOff: { until: story.clock.now().add({ minutes: 50 }), failures: 6 },
    });
    const begun = await story.operate({ ...named, stored: false });
    expect(begun).toMatchObject({ ok: true, result: { changed: false } });
    expect(await story.tick()).toMatchObject({ outcome: 'backing-off' });
    expect(await history()).toMatchObject([
      { command: 'credentials-stored', by: 'odile', outcome: { ok: true, rest: {} } },
    ]);

    const { next } = z.object({ next: z.looseObject({}) }).parse(begun.result);
    expect(await story.operate(next)).toMatchObject({ result: { changed: true } });
    const [done, ...others] = await history();
    expect(others).toEqual([]);
    expect(done).toMatchObject({ by: 'odile', outcome: { ok: true, changed: true } });
    expect(done?.outcome).not.toHaveProperty('rest');
    expect(await story.tick()).toMatchObject({ outcome: 'completed' });
  });

  it('are one record also for a caller who only knows the name that he gave the call', async () => {
    await story.settle();
    await story.operate({ ...named, stored: false });
    await story.operate(named);
    expect(await history()).toHaveLength(1);
  });
});
