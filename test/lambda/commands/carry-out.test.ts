import { beforeEach, describe, expect, it } from 'vitest';
import { certificationEventSchema } from '../../../lambda/events/event.ts';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';

const database = ledgersInDynamoDb();
let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

describe('a command', () => {
  it.each([
    ['nothing', undefined, /expected object/],
    ['an unknown name', { command: 'reply' }, /must be one of .*test-event, replay/],
    ['an unknown setting', { command: 'test-event', organisation: 7 }, /organisation/],
    ['an impossible day', { command: 'replay', days: { from: '2026-02-30' } }, /days\.from/],
    ['no queue', { command: 'replay', ids: [1], to: { queue: 'certifications' } }, /to\.queue/],
    ['no reason', { command: 'pause' }, /reason/],
    ['an invalid cursor', { command: 'events', after: 'yesterday' }, /after/],
  ])('that is %s gets an answer with the mistake', async (_, input, problem) => {
    const answer = await story.operate(input);
    expect(answer).toEqual({
      ok: false,
      problem: {
        code: 'command-invalid',
        fault: 'ops',
        message: expect.stringMatching(problem),
        retryHelps: false,
        whatToDo: expect.stringContaining('docs/command-line.md#commands-inside-aws'),
      },
    });
    expect(story.warnings).toEqual(['command failed']);
    expect(story.carriedOut).toEqual([]);
  });

  it('is recorded with its answer', async () => {
    await story.show(assessment({ id: 1 }));
    const answer = await story.operate({ command: 'replay', ids: [1] });
    expect(story.carriedOut).toEqual([
      { command: expect.objectContaining({ command: 'replay', ids: [1] }), answer },
    ]);
    expect(JSON.stringify(story.carriedOut)).not.toMatch(/Odalys|Quillfeather|@example/);
  });

  const done = { ok: true, result: { changed: true } };
  const refused = { ok: false, problem: { code: 'ledger-unavailable' } };

  it.each([
    ['whose outcome cannot be recorded was carried out', 'conclude', done],
    ['that cannot be recorded is not carried out', 'record', refused],
  ] as const)('%s', async (_, method, answer) => {
    await story.settle();
    story.opsLedger[method] = async () => {
      throw new LedgerUnavailableError('UpdateItem', {});
    };
    expect(await story.operate({ command: 'pause', reason: 'moves' })).toMatchObject(answer);
    const warning = method === 'record' ? 'command failed' : 'outcome not recorded';
    expect(story.warnings).toEqual([warning]);
    expect(await story.ledger.state()).toMatchObject({ paused: method === 'conclude' });
  });

  it('that fails for an unforeseen reason returns only the name of the error', async () => {
    await story.show(assessment({ id: 1 }));
    story.subscribers.refuse = () => {
      throw new TypeError('Odalys Quillfeather is not a function');
    };
    const answer = await story.operate({ command: 'replay', ids: [1] });
    const problem = { code: 'unexpected', message: 'The command failed: TypeError.' };
    expect(answer).toMatchObject({ ok: false, problem });
    expect(JSON.stringify(answer)).not.toContain('Odalys');
  });
});

describe('a test event', () => {
  it.each([
    ['created', { changed: [], late: false }],
    ['updated', { changed: ['results'], late: false }],
    ['withdrawn', { changed: [], late: false }],
    ['restored', { changed: [], late: false }],
    ['late', { changed: [], late: true }],
    ['truncated', { changed: [], late: false, truncated: true }],
  ])(
    'has the shape of %s on request and another id each time, and cannot be mistaken for one',
    async (like, data) => {
      story.settings = { fields: 'all' };
      const wanted = { organization_id: 7, assessment_name: 'CPR' };
      const send = () => story.operate({ command: 'test-event', like, ...wanted });
      const answers = [await send(), await send()];
      const [event] = story.heard;
      expect(answers.map(({ result }) => result)).toEqual(story.ids().map((id) => ({ id })));
      expect(new Set(story.ids()).size).toBe(2);
      expect(event?.id).toMatch(new RegExp(`^${story.name}/test/.+`));
      expect(event).toMatchObject({ type: 'certification.test', subject: 'test' });
      const { assessment, ...rest } = event?.data ?? { assessment: {} };
      expect(rest).toEqual({ ...data, like });
      expect(assessment).toMatchObject(wanted);
      const isWhole = like !== 'withdrawn' && like !== 'truncated';
      expect(Object.hasOwn(assessment, 'results')).toBe(isWhole);
      expect(certificationEventSchema.safeParse(event).success).toBe(true);
    },
  );

  it('that SNS refuses is a failure', async () => {
    story.subscribers.refuse = () => true;
    const problem = { code: 'events-refused' };
    expect(await story.operate({ command: 'test-event' })).toMatchObject({ ok: false, problem });
  });

  it('has the configured fields, asks the partner nothing, and writes only a record of its sender', async () => {
    story = new IntegrationWithPast(database);
    story.settings = { fields: 'identifiers' };
    const by = 'arn:aws:iam::1:x';
    await story.operate({ command: 'test-event', by, organization_id: 7 });
    expect(Object.keys(story.heard[0]?.data.assessment ?? {})).toHaveLength(4);
    expect(story.requests).toEqual([]);
    expect(await story.itemsBesideRecords()).toEqual([]);
    expect(JSON.stringify(story.heard)).not.toContain(by);
    expect(await story.opsLedger.recorded()).toMatchObject([
      { command: 'test-event', by, settings: { organization_id: 7 }, outcome: { changed: true } },
    ]);
  });
});
