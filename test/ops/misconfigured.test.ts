import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reply } from '../../local/aws/gate.ts';
import { approved, Duty, masked, raisedEach, raisedOnce } from './duty.ts';

const duty = new Duty();
const { stage } = duty;
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());

const json = (status: number, body: object): Reply => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
});
const token = '/oauth/token';

/** The partner's answer to requests for a token, or to all others. */
function partnerAnswers(to: 'token' | 'api', reply: Reply): void {
  stage.partner.always((call) =>
    (call.operation === token) === (to === 'token') ? Promise.resolve(reply) : call.forward(),
  );
}

/** The schedule of the ticks, not of the self-checks. */
const scheduleIs = (reply: Reply) =>
  duty.scheduler.always(async ({ operation, forward }) =>
    operation.includes('SelfCheck') ? forward() : reply,
  );
const tomorrow = () => Temporal.Now.plainDateISO('UTC').add({ days: 1 }).toString();

/** Mistakes in a configuration, and the check that must name each. */
type Misconfigurations = Readonly<Record<string, [check: string, prepare: () => unknown]>>;

/** Mistakes outside of the deployment, which are gone as soon as the others answer normally. */
const aroundIt: Misconfigurations = {
  'the schedule is disabled': [
    'schedule',
    () => scheduleIs(json(200, { State: 'DISABLED', ScheduleExpression: 'rate(1 minute)' })),
  ],
  'the schedule is gone': [
    'schedule',
    () => scheduleIs(json(404, { __type: 'ResourceNotFoundException' })),
  ],
  'a topic is gone': [
    'topics',
    () =>
      stage.sns.always(async ({ body, forward }) =>
        new URLSearchParams(body).get('TopicArn') === stage.aws.output('AlertsTopicArn')
          ? {
              status: 404,
              type: 'text/xml',
              body: '<ErrorResponse><Error><Type>Sender</Type><Code>NotFound</Code><Message>no</Message></Error></ErrorResponse>',
            }
          : forward(),
      ),
  ],
  'the ledger cannot be read': [
    'ledger',
    () => stage.dynamodb.always(async () => json(400, { __type: 'AccessDeniedException' })),
  ],
  'another form of token request is wanted': [
    'token',
    () => partnerAnswers('token', json(400, { error: 'unsupported_grant_type' })),
  ],
  'the API refuses its own tokens': [
    'token',
    () => partnerAnswers('api', json(401, { error: 'invalid_token' })),
  ],
  'the host does not answer': ['token', () => stage.partner.always(async () => undefined)],
  'records cannot be fetched by their ids': [
    'single-record',
    () =>
      stage.partner.always((call) =>
        /\/assessments\/\d+$/.test(call.operation)
          ? Promise.resolve(json(404, {}))
          : call.forward(),
      ),
  ],
};

/** Mistakes in the deployment itself, or in the partner's records. */
const ofItsOwn: Misconfigurations = {
  'the integration is paused': ['ledger', () => duty.run('pause --reason maintenance')],
  'the secret was never filled': [
    'secret',
    () => stage.beginWithSecret('{"client_id":"","client_secret":""}'),
  ],
  'the secret is no JSON': ['secret', () => stage.beginWithSecret('hush-hush')],
  'the credentials are refused': [
    'token',
    () => stage.beginWithSecret('{"client_id":"somebody","client_secret":"hush-hush"}'),
  ],
  'no organizations are assigned': [
    'scope',
    () => stage.sandbox.world.setScope({ organization_ids: [] }),
  ],
  'no assessments are assigned': ['scope', () => stage.sandbox.world.setScope({ product_ids: [] })],
  'there is nothing in scope': [
    'scope',
    () => {
      const { world } = stage.sandbox;
      for (const { id } of [...world.assessments()]) world.remove(id);
    },
  ],
  'a record is malformed': [
    'records',
    () => {
      const { world } = stage.sandbox;
      world.spoil(world.add().id, { omit: ['certified_on'] });
    },
  ],
  'the time zone is another': [
    'time-zone',
    () => stage.sandbox.world.add({ certified_on: tomorrow() }),
  ],
  'filters by day leave out a bound': [
    'day-bounds',
    () => stage.sandbox.set({ deviations: ['start-date-exclusive'] }),
  ],
};

const marked = (outcome: string, screen: string) =>
  [...screen.matchAll(new RegExp(`^ {2}${outcome} +(\\S+)`, 'gm'))].map(([, name]) => name);

const namesWhatIsWrong = (misconfigurations: Misconfigurations) =>
  it.each(Object.entries(misconfigurations))('%s', async (what, [check, prepare]) => {
    // The function caches its token. It begins cold, as after a deployment.
    if (check === 'token') await stage.operate.kill();
    await prepare();
    const { exitCode, stdout, stderr } = await duty.run('check');
    const blamed = [...marked('failed', stdout), ...marked('warning', stdout)];
    expect(blamed).toEqual([check]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: marked('failed', stdout).length > 0 ? 1 : 0,
      stderr: '',
    });
    expect(stdout).not.toContain('hush');
    const lines = stdout.split('\n');
    const at = lines.findIndex((line) => /^ {2}(failed|warning) /.test(line));
    const next = lines.findIndex((line, index) => index > at && /^ {0,2}\S|^$/.test(line));
    const told = masked(`${lines.slice(at, next).join('\n')}\n`);
    expect(told).toContain('→');
    await expect(told).toMatchFileSnapshot(approved(`check/${what.replaceAll(' ', '-')}`));
  });

describe('check names the mistake, and nothing else, when', () => {
  raisedEach(duty, () => stage.completedTick());
  namesWhatIsWrong(ofItsOwn);
});

describe('check names a mistake outside of the deployment, and nothing else, when', () => {
  raisedOnce(duty, () => stage.completedTick());
  namesWhatIsWrong(aroundIt);

  it('a denied read of the schedule is no misconfiguration', async () => {
    scheduleIs(json(403, { __type: 'AccessDeniedException' }));
    const { exitCode, stdout } = await duty.run('check');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^ {2}skipped +schedule +AWS refuses scheduler:GetSchedule/m);
  });
});

describe('status says why no tick starts:', () => {
  raisedOnce(duty, () => stage.completedTick());

  it.each([
    ['disabled', json(200, { State: 'DISABLED' }), 'the schedule is disabled'],
    ['removed', json(404, { __type: 'ResourceNotFoundException' }), 'the schedule does not exist'],
  ])('a schedule that is %s', async (what, reply, told) => {
    scheduleIs(reply);
    const state = `schedule-${what}`;
    const { exitCode, result } = await duty.json('status');
    expect({ exitCode, result }).toMatchObject({
      exitCode: 0,
      result: [{ state, reasons: [state] }],
    });
    const { stdout } = await duty.run('status');
    expect(stdout).toMatch(`not up to date: ${told}, so no tick is started\n`);
  });

  it('but not if the schedule cannot be read', async () => {
    scheduleIs(json(403, { __type: 'AccessDeniedException' }));
    expect(await duty.run('status')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^district-a {2}up to date\n/),
      stderr: '',
    });
  });
});
