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

describe('a tick on demand', () => {
  it('announces the changes and returns their numbers', async () => {
    await story.settle();
    story.world = [on('2026-11-21', 1)];
    const answer = await story.operate({ command: 'tick' });
    expect(answer).toMatchObject({
      ok: true,
      result: { outcome: 'completed', created: 1, delivered: 1 },
    });
    expect(ids()).toEqual(['1/1']);
  });

  it('leaves the work to a tick that is under way', async () => {
    await story.settle();
    const until = story.clock.now().add({ minutes: 1 });
    await story.ledger.takeLease({ owner: 'another', until }, story.clock.now());
    expect(await story.operate({ command: 'tick' })).toMatchObject({ result: { outcome: 'busy' } });
  });

  it('that fails says why', async () => {
    await story.settle();
    story.partner.pulse = () => Promise.reject(new TypeError('Odalys'));
    expect(await story.operate({ command: 'tick' })).toMatchObject({
      ok: false,
      problem: { code: 'unexpected', message: 'The command failed: TypeError.' },
    });
  });
});
