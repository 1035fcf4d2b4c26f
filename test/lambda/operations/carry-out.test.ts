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
    ['an invalid cursor', { command: 'replay', ids: [1], after: 'yesterday' }, /after/],
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

  it('whose outcome cannot be recorded was carried out all the same', async () => {
    await story.settle();
    story.opsLedger.conclude = async () => {
      throw new LedgerUnavailableError('UpdateItem', {});
    };
    expect(await story.operate({ command: 'pause', reason: 'moves' })).toMatchObject({
      ok: true,
      result: { changed: true },
    });
    expect(story.warnings).toContain('outcome not recorded');
  });

  it('that cannot be recorded is not carried out', async () => {
    await story.settle();
    story.opsLedger.record = async () => {
      throw new LedgerUnavailableError('UpdateItem', {});
    };
    const refused = { ok: false, problem: { code: 'ledger-unavailable' } };
    expect(await story.operate({ command: 'pause', reason: 'moves' })).toMatchObject(refused);
    expect(await story.ledger.state()).toMatchObject({ paused: false });
  });

  it('that fails for an unforeseen reason returns only the name of the error', async () => {
    await story.show(assessment({ id: 1 }));
    story.subscribers.refuse = () => {
      throw new TypeError('Odalys Quillfeather is not a function');
    };
    const answer = await story.operate({ command: 'replay', ids: [1] });
    expect(answer).toMatchObject({
      ok: false,
      problem: { code: 'unexpected', message: 'The command failed: TypeError.' },
    });
    expect(JSON.stringify(answer)).not.toContain('Odalys');
  });
});

describe('a test event', () => {
  it('takes the way of each event, marked, and the answer has its id', async () => {
    const answer = await story.operate({ command: 'test-event' });
    expect(story.heard).toMatchObject([{ type: 'certification.test', subject: 'test' }]);
    expect(answer).toEqual({ ok: true, result: { id: story.heard[0]?.id } });
    expect(story.heard[0]?.id).toMatch(new RegExp(`^${story.name}/test/.+`));
  });

  it('has another id each time', async () => {
    await story.operate({ command: 'test-event' });
    await story.operate({ command: 'test-event' });
    expect(new Set(story.heard.map(({ id }) => id)).size).toBe(2);
  });

  it('is about the organization and the assessment that a filter asks for', async () => {
    await story.operate({
      command: 'test-event',
      organization_id: 7,
      assessment_name: 'CPR',
      like: 'late',
    });
    expect(story.heard).toMatchObject([
      {
        data: {
          late: true,
          like: 'late',
          assessment: { organization_id: 7, assessment_name: 'CPR' },
        },
      },
    ]);
  });

  it.each([
    ['created', { changed: [], late: false }],
    ['updated', { changed: ['results'], late: false }],
    ['withdrawn', { changed: [], late: false }],
    ['restored', { changed: [], late: false }],
    ['late', { changed: [], late: true }],
    ['truncated', { changed: [], late: false, truncated: true }],
  ])('has the shape of %s on request, and cannot be mistaken for one', async (like, data) => {
    story.settings = { ...story.settings, fields: 'all' };
    await story.operate({ command: 'test-event', like });
    const [event] = story.heard;
    expect(event).toMatchObject({ type: 'certification.test', subject: 'test' });
    const { assessment, ...rest } = event?.data ?? { assessment: {} };
    expect(rest).toEqual({ ...data, like });
    const isWhole = like !== 'withdrawn' && like !== 'truncated';
    expect(Object.hasOwn(assessment, 'results')).toBe(isWhole);
    expect(certificationEventSchema.safeParse(event).success).toBe(true);
  });

  it('has no more fields than other events', async () => {
    story.settings = { ...story.settings, fields: 'identifiers' };
    await story.operate({ command: 'test-event' });
    expect(Object.keys(story.heard[0]?.data.assessment ?? {})).toHaveLength(4);
  });

  it('sends no request to the partner, and writes only a record of its sender', async () => {
    story = new IntegrationWithPast(database);
    const by = 'arn:aws:iam::1:x';
    await story.operate({ command: 'test-event', by, organization_id: 7 });
    expect(story.requests).toEqual([]);
    expect(await story.itemsBesideRecords()).toEqual([]);
    expect(JSON.stringify(story.heard)).not.toContain(by);
    expect(await story.opsLedger.recorded()).toMatchObject([
      { command: 'test-event', by, settings: { organization_id: 7 }, outcome: { changed: true } },
    ]);
  });

  it('that SNS refuses gets an answer with the next step', async () => {
    story.subscribers.refuse = () => ({ code: 'KMSAccessDenied' });
    expect(await story.operate({ command: 'test-event' })).toMatchObject({
      ok: false,
      problem: { code: 'events-refused', message: expect.stringContaining('KMSAccessDenied') },
    });
  });
});
