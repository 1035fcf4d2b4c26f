import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkResult } from '../../../lambda/operations/result.ts';
import {
  CredentialsRefusedError,
  NoAssessmentsAssignedError,
  NoOrganizationsAssignedError,
  TokenRefusedTwiceError,
  UnavailableError,
  UnsupportedGrantError,
} from '../../../lambda/partner/errors.ts';
import {
  CredentialsMalformedError,
  CredentialsNotSetError,
} from '../../../lambda/partner/secret.ts';
import { assessment } from '../../support/assessments.ts';
import { startLedgerTable } from '../../support/ledger-table.ts';
import { Scene } from './scene.ts';

let database: Awaited<ReturnType<typeof startLedgerTable>>;
let scene: Scene;

beforeAll(async () => {
  database = await startLedgerTable();
});
afterAll(() => database.close());
beforeEach(async () => {
  scene = new Scene(database);
  scene.world = [1, 2, 3].map((id) =>
    assessment({ id, certified_on: '2026-11-20', organization_id: 7 }),
  );
  await scene.settle();
});

async function checked() {
  const answer = await scene.operate({ command: 'check' });
  expect(answer).toMatchObject({ ok: true });
  expect(JSON.stringify(answer)).not.toMatch(/Odalys|Quillfeather|@example/);
  const { checks, scope } = checkResult.parse(answer.result);
  return { scope, checks: new Map(checks.map(({ name, ...finding }) => [name, finding])) };
}

const topic = (name: 'events' | 'alerts' | 'operations', more = {}) => ({
  topic: name,
  confirmed: 1,
  pending: 0,
  ...more,
});

describe('a check', () => {
  it('of what is in order finds nothing, shows the scope, and changes nothing', async () => {
    const before = await scene.items();
    const { checks, scope } = await checked();
    for (const [name, { outcome }] of checks) expect(`${name}: ${outcome}`).toBe(`${name}: ok`);
    expect(scope).toMatchObject({ total: 3, organizations: [{ organization_id: 7 }] });
    expect(await scene.items()).toEqual(before);
  });

  it('of what has not ticked for a while warns', async () => {
    scene.clock.advance({ minutes: 4 });
    expect((await checked()).checks.get('ledger')).toMatchObject({
      outcome: 'warning',
      found: expect.stringContaining('2026-11-21T08:00:00Z'),
    });
    await scene.operate({ command: 'pause', reason: 'the platform moves' });
    expect((await checked()).checks.get('ledger')).toMatchObject({ outcome: 'ok' });
  });

  it('of what is paused says who has paused it and why', async () => {
    await scene.operate({ command: 'pause', reason: 'the platform moves', by: 'odile' });
    const { checks } = await checked();
    expect(checks.get('pause')).toMatchObject({
      outcome: 'warning',
      found: 'odile has paused the integration at 2026-11-21T08:00:00Z: the platform moves.',
      whatToDo: expect.stringContaining('Resume it'),
    });
    expect(checks.get('token')).toMatchObject({ outcome: 'ok' });
  });

  it.each([
    [
      'a secret that nobody has filled',
      'secret',
      'failed',
      () => {
        scene.credentialsFailure = new CredentialsNotSetError('secret');
      },
    ],
    [
      'a secret that is no credentials',
      'secret',
      'failed',
      () => {
        scene.credentialsFailure = new CredentialsMalformedError('secret', ['not JSON']);
      },
    ],
    [
      'credentials that the partner refuses',
      'token',
      'failed',
      () => {
        scene.partnerFailure = new CredentialsRefusedError();
      },
    ],
    [
      'a form of token request that does not suit',
      'token',
      'failed',
      () => {
        scene.partnerFailure = new UnsupportedGrantError();
      },
    ],
    [
      'an integration that is not enabled',
      'token',
      'failed',
      () => {
        scene.partnerFailure = new TokenRefusedTwiceError('list');
      },
    ],
    [
      'a host that does not answer',
      'token',
      'failed',
      () => {
        scene.partnerFailure = new UnavailableError('token', 'refused');
      },
    ],
    [
      'no organizations assigned',
      'scope',
      'failed',
      () => {
        scene.partnerFailure = new NoOrganizationsAssignedError();
      },
    ],
    [
      'no assessments assigned',
      'scope',
      'failed',
      () => {
        scene.partnerFailure = new NoAssessmentsAssignedError();
      },
    ],
    [
      'a scope with nothing in it',
      'scope',
      'warning',
      () => {
        scene.world = [];
      },
    ],
    [
      'malformed records',
      'records',
      'warning',
      () => {
        scene.unreadable.add(2);
      },
    ],
    [
      'clocks that differ',
      'clock',
      'warning',
      () => {
        scene.partnerAheadMs = -300_000;
      },
    ],
    [
      'a time zone that cannot be right',
      'time-zone',
      'warning',
      () => {
        scene.world.push(assessment({ id: 9, certified_on: '2026-11-22' }));
      },
    ],
    [
      'filters by day that leave out their bounds',
      'day-bounds',
      'failed',
      () => {
        scene.miscount = 1;
      },
    ],
    [
      'records that cannot be fetched by their ids',
      'single-record',
      'failed',
      () => {
        scene.singleRecordsBroken = true;
      },
    ],
    [
      'a topic that is gone',
      'topics',
      'failed',
      () => {
        scene.topics = [topic('events', { problem: 'NotFoundException' }), topic('alerts')];
      },
    ],
    [
      'a subscription that is not confirmed',
      'topics',
      'warning',
      () => {
        scene.topics = [topic('events'), topic('alerts', { pending: 1 })];
      },
    ],
    [
      'nobody who listens',
      'topics',
      'warning',
      () => {
        scene.topics = [topic('events', { confirmed: 0 }), topic('alerts')];
      },
    ],
  ] as const)('finds %s', async (_, name, outcome, misconfigure) => {
    misconfigure();
    const { checks } = await checked();
    expect(checks.get(name)).toMatchObject({ outcome, whatToDo: expect.any(String) });
    const others = [...checks].filter(
      ([other, { outcome }]) => other !== name && outcome === 'failed',
    );
    expect(others).toEqual([]);
  });

  it('does not ask the partner without credentials', async () => {
    scene.credentialsFailure = new CredentialsNotSetError('secret');
    const { checks } = await checked();
    expect(scene.requests).toEqual([]);
    expect(checks.get('token')).toMatchObject({ outcome: 'skipped' });
    expect(checks.get('topics')).toMatchObject({ outcome: 'ok' });
  });

  it('says what it could not try', async () => {
    scene.world = [];
    scene.partnerAheadMs = undefined;
    const { checks } = await checked();
    for (const name of ['clock', 'time-zone', 'day-bounds', 'single-record', 'tie-order'] as const)
      expect(checks.get(name)).toMatchObject({ outcome: 'skipped' });
  });
});
