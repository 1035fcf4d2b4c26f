import { beforeEach, describe, expect, it } from 'vitest';
import { unhurried } from '../../../lambda/decisions/pace.ts';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { CredentialsNotSetError } from '../../../lambda/partner/secret.ts';
import { Integration } from '../../scaffold/integration.ts';
import { serverError } from '../../scaffold/partner.ts';
import { assessment } from '../../support/assessments.ts';
import { titles } from './scenarios.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

const refused = expect.objectContaining({ code: 'credentials-refused' });

describe('an integration that ops have paused', () => {
  const hours = async (many: number) => {
    for (let n = 0; n < many; n++) {
      story.clock.advance({ hours: 1 });
      expect(await story.tick()).toMatchObject({ outcome: 'paused' });
    }
  };
  beforeEach(async () => {
    await story.emptyBaseline();
    await story.passSelfChecks();
    story.notices.length = 0;
    const reason = 'the partner moves';
    // A pace that is forgotten meanwhile, too, is written only afterwards.
    const at = story.clock.now().subtract({ hours: 20 }).epochMilliseconds;
    const refusal = { at, until: at, answered: 4, learned: 4 };
    await story.ledger.saveState({ pace: { ...unhurried, refusal } });
    await story.opsLedger.pause({ since: story.clock.now(), by: 'odile', reason }, 'a call');
  });

  it('sends no request, writes nothing, and reminds ops of it once a day', async () => {
    const before = await story.ledger.state();
    story.requests.length = 0;
    await hours(23);
    expect([...story.requests, ...story.notices]).toEqual([]);
    expect(await story.ledger.state()).toEqual(before);
    await hours(12);
    expect(titles(story)).toEqual(['paused for more than a day']);
    expect(story.notices[0]?.text).toContain('Since: 2026-11-21 08:00 (UTC)\nDays so far: 1');
    expect(story.notices[0]?.text).toContain('Reason: the partner moves');
    expect(story.notices[0]?.text).not.toContain('odile');
    await hours(40);
    await story.opsLedger.resume('the next');
    await story.tick();
    expect(titles(story).slice(1)).toEqual(['still paused', 'still paused', 'no longer paused']);
  });
});

it('an integration without credentials waits quietly, and fails if it had some before', async () => {
  story.credentialsFailure = new CredentialsNotSetError('credentials');
  for (let n = 0; n < 3; n++)
    expect(await story.tick()).toMatchObject({ outcome: 'no-credentials' });
  expect(story.notices).toHaveLength(1);
  expect((await story.ledger.state()).backOff).toBeUndefined();
  story.credentialsFailure = undefined;
  expect(await story.tick()).toMatchObject({ outcome: 'baseline' });
  story.credentialsFailure = new CredentialsNotSetError('credentials');
  // Its token is valid for some time.
  story.clock.advance({ hours: 3 });
  await expect(story.tick()).rejects.toThrow(CredentialsNotSetError);
});

it('a partner that refuses the credentials is left alone, each time twice as long, up to an hour', async () => {
  await story.emptyBaseline();
  story.host.access.rotateSecret();
  const waits: number[] = [];
  for (let refusal = 0; refusal < 7; refusal++) {
    await expect(story.tick()).rejects.toThrow(refused);
    const { backOff } = await story.ledger.state();
    const minutes = backOff?.until.since(story.clock.now()).total('minutes') ?? 0;
    waits.push(minutes);
    story.clock.advance({ seconds: 60 * minutes - 1 });
    expect(await story.tick()).toMatchObject({ outcome: 'backing-off' });
    story.clock.advance({ seconds: 1 });
  }
  expect(waits).toEqual([2, 4, 8, 16, 32, 60, 60]);
  // Its first answer ends this, even if the tick then fails.
  story.credentials = story.host.access.credentials;
  story.add(assessment());
  const takeLease = () => Promise.reject(new LedgerUnavailableError('UpdateItem', {}));
  const failing = story.tick({ ledger: story.ledgerWith({ takeLease }) });
  await expect(failing).rejects.toThrow(LedgerUnavailableError);
  expect((await story.ledger.state()).backOff).toBeUndefined();
});

it('an outage is told by the time during which ticks have seen it, without a pause', async () => {
  await story.baseline();
  story.notices.length = 0;
  story.host.fault = serverError;
  await story.minutes(3);
  await story.opsLedger.pause({ since: story.clock.now(), reason: 'x' }, 'a call');
  story.clock.advance({ hours: 2 });
  await story.minute();
  await story.opsLedger.resume('another call');
  await story.minutes(10);
  expect(titles(story)).toEqual([]);
  story.host.fault = undefined;
  await story.minutes(8);
  expect(titles(story)).toEqual(['the partner answers again, after 10 minutes']);
});
