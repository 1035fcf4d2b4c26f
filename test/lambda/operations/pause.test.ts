import { beforeEach, describe, expect, it } from 'vitest';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';

let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

const on = (certified_on: string, id: number, more = {}) =>
  assessment({ id, certified_on, ...more });

const ids = () => story.heard.map(({ id }) => id.replace(`${story.name}/`, ''));

describe('a pause', () => {
  it('stops ticks, and its end starts them again without a loss', async () => {
    await story.settle();
    expect(await story.operate({ command: 'pause', reason: 'a migration' })).toMatchObject({
      ok: true,
      result: { changed: true, paused: { reason: 'a migration' } },
    });
    story.world = [on('2026-11-21', 1)];
    expect(await story.tick()).toMatchObject({ outcome: 'paused' });
    expect(story.heard).toEqual([]);
    expect(await story.operate({ command: 'resume' })).toMatchObject({
      result: { changed: true },
    });
    await story.tick();
    expect(ids()).toEqual(['1/1']);
  });

  it('that is made twice is the first one', async () => {
    await story.operate({ command: 'pause', reason: 'the first' });
    story.clock.advance({ hours: 1 });
    expect(await story.operate({ command: 'pause', reason: 'the second' })).toMatchObject({
      ok: true,
      result: { changed: false, paused: { reason: 'the first', since: '2026-11-21T08:00:00Z' } },
    });
    await story.operate({ command: 'resume' });
    expect(await story.operate({ command: 'resume' })).toMatchObject({
      result: { changed: false },
    });
  });

  it("that the SDK writes again after a lost answer is still its caller's", async () => {
    await story.settle();
    const { opsLedger, clock } = story;
    const pause = { since: clock.now(), by: 'odile', reason: 'a migration' };
    expect(await opsLedger.pause(pause, 'a')).toBe(true);
    expect(await opsLedger.pause(pause, 'a')).toBe(true);
    expect(await opsLedger.pause({ ...pause, by: 'odette' }, 'b')).toBe(false);
    expect((await story.ledger.state()).pause).toMatchObject({ by: 'odile' });
    expect(await opsLedger.resume('c')).toBe(true);
    expect(await opsLedger.resume('c')).toBe(true);
    expect(await opsLedger.resume('d')).toBe(false);
    expect(await story.ledger.state()).toMatchObject({ paused: false });
  });

  it('can be made before the very first tick', async () => {
    await story.operate({ command: 'pause', reason: 'not yet' });
    expect(await story.tick()).toMatchObject({ outcome: 'paused' });
    await story.operate({ command: 'resume' });
    expect(await story.tick()).toMatchObject({ outcome: 'baseline' });
  });

  it('is in the answers of commands whose effect waits for its end', async () => {
    await story.settle();
    await story.commit([on('2026-11-20', 1)], 'held');
    await story.operate({ command: 'pause', reason: 'a migration', by: 'odile' });
    const paused = { since: '2026-11-21T08:00:00Z', by: 'odile', reason: 'a migration' };
    for (const command of [
      { command: 'release' },
      { command: 'release', as: 'digest' },
      { command: 'accept-total', total: 0 },
      { command: 'restart-baseline' },
    ])
      expect(await story.operate(command)).toMatchObject({ ok: true, result: { paused } });
    await story.tick();
    expect(story.heard).toEqual([]);
    await story.operate({ command: 'resume' });
    await story.tick();
    expect(ids()).toEqual(['1/1']);
    for (const command of ['release', 'restart-baseline'])
      expect((await story.operate({ command })).result).not.toHaveProperty('paused');
  });

  it.each([
    ['a path of many signs', `arn:aws:iam::111122223333:user/!dept/#1;(x)/odile`, true],
    ['a long path', `arn:aws:iam::111122223333:user/${'d'.repeat(510)}/odile`, true],
    ['an invalid ARN', 'odile\u0007', false],
    ['a text that is too long', 'd'.repeat(2_049), false],
  ])('has the caller that AWS names: %s', async (_, by, isTaken) => {
    await story.settle();
    const answer = await story.operate({ command: 'pause', reason: 'a migration', by });
    expect(answer.ok).toBe(isTaken);
    if (isTaken) expect(answer).toMatchObject({ result: { paused: { by } } });
  });

  it('needs a reason', async () => {
    expect(await story.operate({ command: 'pause' })).toMatchObject({
      problem: { code: 'command-invalid', message: expect.stringContaining('reason') },
    });
  });
});
