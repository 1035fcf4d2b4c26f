import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { PartnerError } from '../../../lambda/partner/errors.ts';
import { CredentialsNotSetError } from '../../../lambda/partner/secret.ts';
import type { Announcer } from '../../../lambda/ports/announcer.ts';
import { Integration } from '../../scaffold/integration.ts';
import { noAssessments, serverError } from '../../scaffold/partner.ts';
import { assessment } from '../../support/assessments.ts';

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
const ofTheDay = (ids: readonly number[]) =>
  ids.map((id) => assessment({ id, certified_on: '2024-02-29' }));

let story: Integration;
beforeEach(async () => {
  story = new Integration();
  story.world = ofTheDay(numbers(1, 20));
  await story.tick();
  await story.passSelfChecks();
  story.notices.length = 0;
});

/** Subjects without the integration's name. */
const titles = () => story.notices.map(({ subject }) => subject.replace(`${story.name}: `, ''));

/** Thirty new certifications, each on its own day. */
const flood = (from: number) =>
  Array.from({ length: 30 }, (_, index) =>
    assessment({
      id: from + index,
      certified_on: Temporal.PlainDate.from('2020-01-01').add({ days: index }).toString(),
    }),
  );

/** Adds more than a page of newer records, so the newest page shows none of the others. */
async function newerOnes() {
  story.add(...numbers(301, 401).map((id) => assessment({ id, certified_on: '2026-11-01' })));
  await ticks(1, 2);
}

async function ticks(minutes: number, times: number) {
  for (let n = 0; n < times; n++) {
    story.clock.advance({ minutes });
    await story.tick().catch(() => undefined);
  }
}

describe('ops hear once, and once at the end,', () => {
  it('of refused credentials', async () => {
    story.host.access.rotateSecret();
    await ticks(61, 3);
    expect(titles()).toEqual(['the partner refuses the credentials']);
    story.credentials = story.host.access.credentials;
    await ticks(61, 3);
    expect(titles().slice(1)).toEqual(['the partner accepts the credentials again']);
  });

  it('of credentials that nobody has stored, without a back-off', async () => {
    story.credentialsFailure = new CredentialsNotSetError('credentials');
    story.host.access.rotateSecret();
    await ticks(1, 3);
    expect((await story.ledger.state()).backOff).toBeUndefined();
    story.credentialsFailure = undefined;
    story.credentials = story.host.access.credentials;
    await ticks(1, 2);
    expect(titles()).toEqual(['the credentials are not stored yet', 'the credentials are stored']);
  });

  it('of a pause that may be forgotten, once a day', async () => {
    const since = story.clock.now();
    const reason = 'the partner moves';
    await story.opsLedger.pause({ since, by: 'odile', reason }, 'a call');
    await ticks(60, 23);
    expect(titles()).toEqual([]);
    await ticks(60, 12);
    expect(titles()).toEqual(['paused for more than a day']);
    expect(story.notices[0]?.text).toContain('Since: 2026-11-21 08:00 (UTC)\nDays so far: 1');
    expect(story.notices[0]?.text).toContain(`Reason: ${reason}`);
    expect(story.notices[0]?.text).not.toContain('odile');
    await ticks(60, 40);
    expect(titles()).toEqual(['paused for more than a day', 'still paused', 'still paused']);
    await story.opsLedger.resume('the next');
    await ticks(1, 2);
    expect(titles().slice(3)).toEqual(['no longer paused']);
    await story.opsLedger.pause({ since: story.clock.now(), by: 'odile', reason }, 'the last');
    await ticks(60, 20);
    expect(titles()).toHaveLength(4);
  });

  it('nothing of a short pause, in which ticks write nothing', async () => {
    await story.opsLedger.pause({ since: story.clock.now(), reason: 'x' }, 'a call');
    const before = await story.ledger.state();
    story.requests.length = 0;
    await ticks(1, 3);
    expect(titles()).toEqual([]);
    expect(story.requests).toEqual([]);
    expect(await story.ledger.state()).toEqual(before);
  });

  it('of missing provisioning that follows refused credentials', async () => {
    story.host.access.rotateSecret();
    await ticks(61, 2);
    story.credentials = story.host.access.credentials;
    story.host.fault = noAssessments;
    await ticks(61, 2);
    story.host.fault = undefined;
    await ticks(61, 2);
    expect(titles()).toEqual([
      'the partner refuses the credentials',
      'the partner accepts the credentials again',
      'the partner has assigned no scope',
      'the partner has assigned a scope',
    ]);
  });

  it('of malformed records, until every day can be proven', async () => {
    story.host.spoil(5);
    await ticks(20, 3);
    expect(titles()).toEqual(['the partner sends malformed records']);
    expect(story.notices[0]?.text).toContain(
      'assessment 5: certified_on: Invalid input: expected string',
    );
    story.host.spoil(5, false);
    await ticks(20, 3);
    expect(titles().slice(1)).toEqual(['no record is malformed any more']);
    expect((await story.ledger.state()).reported).toEqual([]);
  });

  it('of an outage, by the time during which ticks have seen it, without a pause', async () => {
    const pause = { since: story.clock.now(), by: 'odile', reason: 'the partner moves' };
    story.host.fault = serverError;
    await ticks(1, 3);
    await story.opsLedger.pause(pause, 'a call');
    await ticks(60, 2);
    await story.opsLedger.resume('another call');
    await ticks(1, 10);
    expect(titles()).toEqual([]);
    story.host.fault = undefined;
    await ticks(1, 8);
    expect(titles()).toEqual(['the partner answers again, after 10 minutes']);
  });

  it('of a malformed record far back, which does not count as repaired before it is read again', async () => {
    await newerOnes();
    story.host.spoil(5);
    await ticks(24 * 60, 1);
    await ticks(20, 5);
    expect(titles()).toEqual(['the partner sends malformed records']);
    story.host.spoil(5, false);
    await ticks(24 * 60, 2);
    expect(titles().slice(1)).toEqual(['no record is malformed any more']);
  });

  it('of days that stay unproven for more than a day, and not of one failed read', async () => {
    story.add(...ofTheDay(numbers(31, 140)));
    await ticks(1, 2);
    // If the host sorts by another key, more than a page cannot be proven.
    story.host.order = 'ignored';
    story.host.tie = ({ assessment: { id } }) => (id * 37) % 131;
    await ticks(24 * 60, 1);
    expect(titles()).toEqual([]);
    await ticks(60, 23);
    expect(titles()).toEqual([]);
    // The first read after that tells it, which is a day later at most.
    await ticks(60, 25);
    expect(titles()).toEqual(['days cannot be proven complete']);
    expect(story.notices[0]?.text).toContain('2024-02-29: 130 assessments expected');
    story.host.order = 'full-name';
    story.host.tie = undefined;
    await ticks(24 * 60, 2);
    expect(titles().slice(1)).toEqual(['no day has stayed unproven']);
  });

  it('of held events, until none is held', async () => {
    story.settings = { holdAbove: 5 };
    story.world = [...story.world, ...flood(100)];
    await ticks(1, 1);
    story.world = [...story.world, ...flood(200)];
    await ticks(20, 3);
    expect(titles()).toEqual(['a flood of changes is held']);
    expect((await story.ledger.state()).conditions.get('held')).toMatchObject({ number: 60 });
    // Ops release them all.
    const released = story.ledgerWith({
      countWaitingForOps: async () => 0,
      waitingForOps: async function* () {},
    });
    story.clock.advance({ minutes: 20 });
    await story.tick({ ledger: released });
    expect(titles().slice(1)).toEqual(['nothing is held any more']);
  });

  it('of held events by organization and by year, for any number of organizations', async () => {
    story.settings = { holdAbove: 5 };
    const held = flood(100).map((one, index) => ({ ...one, organization_id: index }));
    story.world = [...story.world, ...held];
    await ticks(1, 1);
    expect(story.notices[0]?.text).toMatch(
      / {2}By organization:\n( {4}\d+: 1\n){6} {4}and 24 more\n {2}By year of completion:\n {4}2020: 30\n/,
    );
  });

  it('of the number that is held, without those of refused notices', async () => {
    story.settings = { holdAbove: 5 };
    story.world = [...story.world, ...flood(100)];
    story.subscribers.mailing = { accepted: false, code: 'InternalError' };
    await ticks(1, 3);
    story.subscribers.mailing = { accepted: true };
    await ticks(1, 1);
    expect(titles()).toEqual(['a flood of changes is held']);
    expect((await story.ledger.state()).conditions.get('held')).toMatchObject({ number: 30 });
  });

  it('of events that SNS refuses for good', async () => {
    const announcer: Announcer = {
      ...story.subscribers,
      publish: async (owed) => ({
        accepted: [],
        refused: owed.map((one) => ({ owed: one, code: 'InvalidParameter', forGood: true })),
      }),
    };
    story.world = [...story.world, assessment({ id: 90 })];
    expect(await story.tick({ announcer })).toMatchObject({ undeliverable: 1 });
    await ticks(20, 3);
    expect(titles()).toEqual(['SNS refuses events for good']);
  });

  it('of many missing certifications', async () => {
    const all = story.world;
    story.world = all.slice(0, 5);
    await ticks(20, 3);
    story.world = all;
    await ticks(20, 3);
    expect(titles()).toEqual([
      'many certifications are missing at the partner',
      'the missing certifications are back, few or accepted',
    ]);
    expect(story.notices[0]?.text).toContain('Certifications missing so far: 15');
  });
});

describe('a notice to ops', () => {
  it('is not sent for an error that stops some ticks only', async () => {
    const ledger = story.ledgerWith({ takeLease: () => Promise.reject(new Error('a defect')) });
    story.add(assessment({ id: 90 }));
    await expect(story.tick({ ledger })).rejects.toThrow('a defect');
    expect(titles()).toEqual([]);
    expect((await story.ledger.state()).conditions.size).toBe(0);
  });

  it('does not hide the reason why the tick failed', async () => {
    story.host.access.rotateSecret();
    const ledger = story.ledgerWith({
      saveState: (changes) =>
        changes.conditions
          ? Promise.reject(new PartnerError('unavailable', 'list'))
          : story.ledger.saveState(changes),
    });
    const announcer = { ...story.subscribers, notify: () => Promise.reject(new Error('a defect')) };
    await expect(story.tick({ ledger })).rejects.toThrow(
      expect.objectContaining({ code: 'credentials-refused' }),
    );
    expect(story.warnings).toContain('conditions not told');
    expect(titles()).toEqual(['the partner refuses the credentials']);
    story.clock.advance({ minutes: 61 });
    await expect(story.tick({ announcer })).rejects.toThrow(
      expect.objectContaining({ code: 'credentials-refused' }),
    );
    expect((await story.ledger.state()).backOff).toMatchObject({ failures: 2 });
  });

  it('that SNS has refused is sent by the next tick, although the partner is left alone', async () => {
    story.host.access.rotateSecret();
    story.subscribers.mailing = { accepted: false, code: 'InternalError' };
    await ticks(1, 1);
    expect(titles()).toEqual([]);
    story.subscribers.mailing = { accepted: true };
    story.clock.advance({ minutes: 1 });
    expect(await story.tick()).toMatchObject({ outcome: 'backing-off' });
    expect(titles()).toEqual(['the partner refuses the credentials']);
  });

  it('adds no call to a quiet tick while a condition lasts', async () => {
    story.world = story.world.slice(10);
    await ticks(60, 2);
    story.notices.length = 0;
    const calls: string[] = [];
    const ledger = new Proxy(story.ledger, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return (...values: unknown[]) => {
          calls.push(String(name));
          return method.apply(target, values);
        };
      },
    });
    await story.tick({ ledger });
    expect(calls).toEqual(['state', 'saveState']);
    expect((await story.ledger.state()).conditions.size).toBe(1);
    expect(story.notices).toEqual([]);
  });
});
