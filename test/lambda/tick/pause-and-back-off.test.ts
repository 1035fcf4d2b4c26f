import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { CredentialsNotSetError } from '../../../lambda/partner/secret.ts';
import { Integration } from '../../scaffold/integration.ts';
import { assessment } from '../../support/assessments.ts';

let story: Integration;
beforeEach(() => {
  story = new Integration();
});

describe('an integration that ops have paused', () => {
  it('sends no request and writes nothing', async () => {
    await story.tick();
    story.requests.length = 0;
    const { heartbeat } = await story.ledger.state();
    story.clock.advance({ minutes: 1 });
    const ledger = story.ledgerWith({
      state: async () => ({ ...(await story.ledger.state()), paused: true }),
    });
    expect(await story.tick({ ledger })).toMatchObject({ outcome: 'paused' });
    expect(story.requests).toEqual([]);
    expect((await story.ledger.state()).heartbeat).toBe(heartbeat);
  });
});

describe('an integration without credentials', () => {
  it('waits quietly until credentials are stored', async () => {
    story.credentialsFailure = new CredentialsNotSetError('credentials');
    for (let n = 0; n < 3; n++)
      expect(await story.tick()).toMatchObject({ outcome: 'no-credentials' });
    expect(story.notices).toHaveLength(1);
    story.credentialsFailure = undefined;
    expect(await story.tick()).toMatchObject({ outcome: 'baseline' });
  });

  it('fails if it worked before, since the credentials were removed', async () => {
    await story.tick();
    story.credentialsFailure = new CredentialsNotSetError('credentials');
    // Its token is valid for some time.
    story.clock.advance({ hours: 3 });
    await expect(story.tick()).rejects.toThrow(CredentialsNotSetError);
  });
});

describe('a partner that refuses the credentials', () => {
  it('is left alone for a time, twice as long after each refusal, up to an hour', async () => {
    await story.tick();
    story.host.access.rotateSecret();
    const waits: number[] = [];
    for (let refusal = 0; refusal < 8; refusal++) {
      await expect(story.tick()).rejects.toThrow(
        expect.objectContaining({ code: 'credentials-refused' }),
      );
      const { backOff } = await story.ledger.state();
      const minutes = backOff?.until.since(story.clock.now()).total('minutes') ?? 0;
      waits.push(minutes);
      story.clock.advance({ seconds: 60 * minutes - 1 });
      expect(await story.tick()).toMatchObject({ outcome: 'backing-off' });
      story.clock.advance({ seconds: 1 });
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 60, 60, 60]);
    story.credentials = story.host.access.credentials;
    expect(await story.tick()).toMatchObject({ outcome: 'completed' });
    expect((await story.ledger.state()).backOff).toBeUndefined();
  });

  it('is no longer left alone after its first answer, even if the tick then fails', async () => {
    await story.tick();
    story.host.access.rotateSecret();
    await expect(story.tick()).rejects.toThrow();
    story.credentials = story.host.access.credentials;
    story.clock.advance({ minutes: 2 });
    story.world = [assessment()];
    const takeLease = () =>
      Promise.reject(new LedgerUnavailableError('UpdateItem', { cause: 'x' }));
    const ledger = story.ledgerWith({ takeLease });
    await expect(story.tick({ ledger })).rejects.toThrow(LedgerUnavailableError);
    expect((await story.ledger.state()).backOff).toBeUndefined();
  });

  it('does not delay owed events', async () => {
    await story.tick();
    story.world = [assessment()];
    story.subscribers.refuse = () => true;
    await story.tick();
    story.host.access.rotateSecret();
    await expect(story.tick()).rejects.toThrow(
      expect.objectContaining({ code: 'credentials-refused' }),
    );
    story.subscribers.refuse = () => false;
    expect(await story.tick()).toMatchObject({ outcome: 'backing-off', delivered: 1 });
  });
});
