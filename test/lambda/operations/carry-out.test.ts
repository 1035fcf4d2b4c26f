import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { assessment } from '../../support/assessments.ts';
import { startLedgerTable } from '../../support/ledger-table.ts';
import { Scene } from './scene.ts';

let database: Awaited<ReturnType<typeof startLedgerTable>>;
let scene: Scene;

beforeAll(async () => {
  database = await startLedgerTable();
});
afterAll(() => database.close());
beforeEach(() => {
  scene = new Scene(database);
});

describe('a command', () => {
  it.each([
    ['nothing', undefined, /expected object/],
    ['an unknown name', { command: 'reply' }, /'test-event' \| 'replay'/],
    ['an unknown setting', { command: 'test-event', organisation: 7 }, /organisation/],
    ['a day that is none', { command: 'replay', days: { from: '2026-02-30' } }, /days\.from/],
    ['no queue', { command: 'replay', ids: [1], to: { queue: 'certifications' } }, /to\.queue/],
    ['a cursor that is none', { command: 'replay', ids: [1], after: 'yesterday' }, /after/],
  ])('that is %s is answered with what is wrong', async (_, input, problem) => {
    const answer = await scene.operate(input);
    expect(answer).toEqual({
      ok: false,
      problem: {
        code: 'command-invalid',
        message: expect.stringMatching(problem),
        retryHelps: false,
        whatToDo: expect.stringContaining('docs/commands.md'),
      },
    });
    expect(scene.warnings).toEqual(['command failed']);
    expect(scene.carriedOut).toEqual([]);
  });

  it('is recorded with its answer', async () => {
    await scene.show(assessment({ id: 1 }));
    const answer = await scene.operate({ command: 'replay', ids: [1] });
    expect(scene.carriedOut).toEqual([
      { command: expect.objectContaining({ command: 'replay', ids: [1] }), answer },
    ]);
    expect(JSON.stringify(scene.carriedOut)).not.toMatch(/Odalys|Quillfeather|@example/);
  });

  it('whose outcome cannot be recorded was carried out all the same', async () => {
    await scene.settle();
    scene.opsLedger.conclude = async () => {
      throw new LedgerUnavailableError('UpdateItem', {});
    };
    expect(await scene.operate({ command: 'pause', reason: 'moves' })).toMatchObject({
      ok: true,
      result: { changed: true },
    });
    expect(scene.warnings).toContain('outcome not recorded');
  });

  it('that cannot be recorded is not carried out', async () => {
    await scene.settle();
    scene.opsLedger.record = async () => {
      throw new LedgerUnavailableError('UpdateItem', {});
    };
    const refused = { ok: false, problem: { code: 'ledger-unavailable' } };
    expect(await scene.operate({ command: 'pause', reason: 'moves' })).toMatchObject(refused);
    expect(await scene.ledger.state()).toMatchObject({ paused: false });
  });

  it('that fails for a reason nobody foresaw tells the name of the error and no more', async () => {
    await scene.show(assessment({ id: 1 }));
    scene.refuse = () => {
      throw new TypeError('Odalys Quillfeather is not a function');
    };
    const answer = await scene.operate({ command: 'replay', ids: [1] });
    expect(answer).toMatchObject({
      ok: false,
      problem: { code: 'unexpected', message: 'The command failed: TypeError.' },
    });
    expect(JSON.stringify(answer)).not.toContain('Odalys');
  });
});

describe('a test event', () => {
  it('goes the way of every event, marked, and the answer has its id', async () => {
    const answer = await scene.operate({ command: 'test-event' });
    expect(scene.heard).toMatchObject([{ type: 'certification.test', subject: 'test' }]);
    expect(answer).toEqual({ ok: true, result: { id: scene.heard[0]?.id } });
    expect(scene.heard[0]?.id).toMatch(new RegExp(`^${scene.name}/test/.+`));
  });

  it('has another id each time', async () => {
    await scene.operate({ command: 'test-event' });
    await scene.operate({ command: 'test-event' });
    expect(new Set(scene.heard.map(({ id }) => id)).size).toBe(2);
  });

  it('is about the organization and the assessment that a filter asks for', async () => {
    await scene.operate({
      command: 'test-event',
      organization_id: 7,
      assessment_name: 'CPR',
      late: true,
    });
    expect(scene.heard).toMatchObject([
      { data: { late: true, assessment: { organization_id: 7, assessment_name: 'CPR' } } },
    ]);
  });

  it('carries no more fields than other events', async () => {
    scene.fields = 'identifiers';
    await scene.operate({ command: 'test-event' });
    expect(Object.keys(scene.heard[0]?.data.assessment ?? {})).toHaveLength(4);
  });

  it('asks the partner nothing, and leaves nothing but a record of who has sent it', async () => {
    const by = 'arn:aws:iam::1:x';
    await scene.operate({ command: 'test-event', by, organization_id: 7 });
    expect(scene.requests).toEqual([]);
    expect(await scene.itemsBesideRecords()).toEqual([]);
    expect(JSON.stringify(scene.heard)).not.toContain(by);
    expect(await scene.opsLedger.recorded()).toMatchObject([
      { command: 'test-event', by, settings: { organization_id: 7 }, outcome: { changed: true } },
    ]);
  });

  it('that SNS refuses is an answer with what to do', async () => {
    scene.refuse = () => ({ code: 'KMSAccessDenied' });
    expect(await scene.operate({ command: 'test-event' })).toMatchObject({
      ok: false,
      problem: { code: 'test-event-refused', message: expect.stringContaining('KMSAccessDenied') },
    });
  });
});
