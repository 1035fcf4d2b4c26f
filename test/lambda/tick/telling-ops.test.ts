import { beforeEach, describe, expect, it } from 'vitest';
import { PartnerError } from '../../../lambda/partner/errors.ts';
import { Integration } from '../../scaffold/integration.ts';
import { noAssessments, serverError } from '../../scaffold/partner.ts';
import { numbers, on, titles } from './scenarios.ts';

const newer = [...on('2026-11-01', numbers(301, 360)), ...on('2026-10-31', numbers(361, 420))];

let story: Integration;
beforeEach(async () => {
  story = new Integration();
  // The newest page shows none of the old ones.
  story.world = [...on('2024-02-29', numbers(1, 20)), ...newer];
  await story.tick();
  await story.passSelfChecks();
  story.notices.length = 0;
});

async function ticks(minutes: number, times: number) {
  for (let n = 0; n < times; n++) {
    story.clock.advance({ minutes });
    await story.tick().catch(() => undefined);
  }
}

const restoreCredentials = () => {
  story.credentials = story.host.access.credentials;
};
describe('ops hear once, and once at the end,', () => {
  it('of one refusal after another, and a silent host ends none', async () => {
    story.host.access.rotateSecret();
    await ticks(61, 2);
    restoreCredentials();
    story.host.fault = noAssessments;
    await ticks(61, 2);
    story.host.fault = serverError;
    await ticks(61, 1);
    expect(titles(story)).toEqual([
      'the partner refuses the credentials',
      'the partner accepts the credentials again',
      'the partner has assigned no scope',
    ]);
    story.host.fault = undefined;
    await ticks(61, 2);
    expect(titles(story).slice(3)).toEqual(['the partner has assigned a scope']);
  });

  it('of days that stay unproven for more than a day, and not of one failed read', async () => {
    story.add(...on('2024-02-29', numbers(31, 140)));
    await ticks(1, 2);
    // If the host sorts by another key, more than a page cannot be proven.
    story.host.order = 'ignored';
    story.host.tie = ({ assessment: { id } }) => (id * 37) % 131;
    await ticks(24 * 60, 1);
    await ticks(60, 23);
    expect(titles(story)).toEqual([]);
    // The first read after that tells it, which is a day later at most.
    await ticks(60, 25);
    expect(titles(story)).toEqual(['days cannot be proven complete']);
    expect(story.notices[0]?.text).toContain('2024-02-29: 130 assessments expected');
    story.host.order = 'name';
    story.host.tie = undefined;
    await ticks(24 * 60, 2);
    expect(titles(story).slice(1)).toEqual(['no day has stayed unproven']);
  });
});

describe('a notice to ops', () => {
  it('does not hide the reason why the tick failed', async () => {
    story.host.access.rotateSecret();
    const ledger = story.ledgerWith({
      saveState: (changes) =>
        changes.conditions
          ? Promise.reject(new PartnerError('unavailable', 'list'))
          : story.ledger.saveState(changes),
    });
    const announcer = { ...story.subscribers, notify: () => Promise.reject(new Error('a defect')) };
    const refused = expect.objectContaining({ code: 'credentials-refused' });
    await expect(story.tick({ ledger })).rejects.toThrow(refused);
    expect(story.warnings).toContain('conditions not told');
    expect(titles(story)).toEqual(['the partner refuses the credentials']);
    story.clock.advance({ minutes: 61 });
    await expect(story.tick({ announcer })).rejects.toThrow(refused);
  });

  it('that SNS has refused is sent by the next tick, although the partner is left alone', async () => {
    story.host.access.rotateSecret();
    story.subscribers.mailing = { accepted: false, code: 'InternalError' };
    await ticks(1, 1);
    expect(titles(story)).toEqual([]);
    story.subscribers.mailing = { accepted: true };
    story.clock.advance({ minutes: 1 });
    expect(await story.tick()).toMatchObject({ outcome: 'backing-off' });
    expect(titles(story)).toEqual(['the partner refuses the credentials']);
  });
});
