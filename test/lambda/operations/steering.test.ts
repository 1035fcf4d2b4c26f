import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
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

const on = (certified_on: string, id: number, more = {}) =>
  assessment({ id, certified_on, ...more });
const ids = () => scene.heard.map(({ id }) => id.replace(`${scene.name}/`, ''));

describe('a pause', () => {
  it('stops ticks, and its end starts them again; nothing is lost', async () => {
    await scene.settle();
    expect(await scene.operate({ command: 'pause', reason: 'a migration' })).toMatchObject({
      ok: true,
      result: { changed: true, paused: true, reason: 'a migration' },
    });
    scene.world = [on('2026-11-21', 1)];
    expect(await scene.tick()).toMatchObject({ outcome: 'paused' });
    expect(scene.heard).toEqual([]);
    expect(await scene.operate({ command: 'resume' })).toMatchObject({
      result: { changed: true, paused: false },
    });
    await scene.tick();
    expect(ids()).toEqual(['1/1']);
  });

  it('that is made twice is the first one', async () => {
    await scene.operate({ command: 'pause', reason: 'the first' });
    scene.clock.advance({ hours: 1 });
    expect(await scene.operate({ command: 'pause', reason: 'the second' })).toMatchObject({
      ok: true,
      result: { changed: false, paused: true, reason: 'the first', since: '2026-11-21T08:00:00Z' },
    });
    await scene.operate({ command: 'resume' });
    expect(await scene.operate({ command: 'resume' })).toMatchObject({
      result: { changed: false, paused: false },
    });
  });

  it('can be made before the very first tick', async () => {
    await scene.operate({ command: 'pause', reason: 'not yet' });
    expect(await scene.tick()).toMatchObject({ outcome: 'paused' });
    await scene.operate({ command: 'resume' });
    expect(await scene.tick()).toMatchObject({ outcome: 'baseline' });
  });

  it('needs a reason', async () => {
    expect(await scene.operate({ command: 'pause' })).toMatchObject({
      problem: { code: 'command-invalid', message: expect.stringContaining('reason') },
    });
  });
});

describe('a tick on demand', () => {
  it('announces what has changed and answers what it did', async () => {
    await scene.settle();
    scene.world = [on('2026-11-21', 1)];
    const answer = await scene.operate({ command: 'tick' });
    expect(answer).toMatchObject({
      ok: true,
      result: { outcome: 'completed', created: 1, delivered: 1 },
    });
    expect(ids()).toEqual(['1/1']);
  });

  it('leaves the field to one that is at work', async () => {
    await scene.settle();
    const until = scene.clock.now().add({ minutes: 1 });
    await scene.ledger.takeLease({ owner: 'another', until }, scene.clock.now());
    expect(await scene.operate({ command: 'tick' })).toMatchObject({ result: { outcome: 'busy' } });
  });

  it('that fails says why', async () => {
    await scene.settle();
    scene.partnerFailure = new TypeError('Odalys');
    expect(await scene.operate({ command: 'tick' })).toMatchObject({
      ok: false,
      problem: { code: 'unexpected', message: 'The command failed: TypeError.' },
    });
  });
});

describe('stored credentials', () => {
  it('are tried by the next tick, whatever was refused before', async () => {
    await scene.settle();
    await scene.ledger.backOff({ until: scene.clock.now().add({ minutes: 50 }), failures: 6 });
    expect(await scene.tick()).toMatchObject({ outcome: 'backing-off' });
    expect(await scene.operate({ command: 'credentials-stored' })).toMatchObject({
      result: { changed: true },
    });
    expect(await scene.tick()).toMatchObject({ outcome: 'completed' });
    expect(await scene.operate({ command: 'credentials-stored' })).toMatchObject({
      result: { changed: false },
    });
  });
});

describe('a baseline that is restarted', () => {
  it('announces nothing again, but what has changed since', async () => {
    scene.world = [on('2020-01-01', 1), on('2020-01-02', 2)];
    await scene.settle();
    scene.world.push(on('2026-11-21', 3));
    await scene.tick();
    expect(ids()).toEqual(['3/1']);
    scene.alter(2, { email: 'b@example.org' });
    expect(await scene.operate({ command: 'restart-baseline' })).toMatchObject({
      ok: true,
      result: { changed: true },
    });
    await scene.tick();
    await scene.tick();
    expect(ids()).toEqual(['3/1', '2/2']);
    expect(await scene.operate({ command: 'baseline' })).toMatchObject({
      result: { status: 'completed', counted: 3, total: 3 },
    });
    expect(await scene.tick()).toMatchObject({ outcome: 'completed', examined: 0 });
  });

  it('twice is restarted once', async () => {
    await scene.settle();
    await scene.operate({ command: 'restart-baseline' });
    expect(await scene.operate({ command: 'restart-baseline' })).toMatchObject({
      ok: true,
      result: { changed: false },
    });
  });

  it('finds what has gone meanwhile', async () => {
    scene.world = [on('2020-01-01', 1), on('2020-01-01', 2), on('2020-01-02', 3)];
    await scene.settle();
    await scene.operate({ command: 'restart-baseline' });
    scene.world.pop();
    for (let ticks = 0; ticks < 3; ticks += 1) {
      scene.clock.advance({ hours: 25 });
      await scene.tick();
    }
    expect(ids()).toEqual(['3/2']);
  });
});

describe('a total that has collapsed', () => {
  beforeEach(async () => {
    scene.world = Array.from({ length: 40 }, (_, index) => on('2026-10-01', index + 1));
    scene.world.push(on('2026-11-20', 100));
    await scene.settle();
    scene.world = scene.world.filter(({ id }) => id <= 5 || id === 100);
    scene.clock.advance({ minutes: 1 });
    expect(await scene.tick()).toMatchObject({ collapsed: true, withdrawn: 0 });
    scene.clock.advance({ minutes: 1 });
    expect(await scene.tick()).toMatchObject({ withdrawn: 0 });
  });

  it('is accepted, and what is gone is withdrawn: held, because it is a flood', async () => {
    expect(await scene.operate({ command: 'accept-total', total: 6 })).toMatchObject({
      ok: true,
      result: { changed: true, total: 6, before: 41 },
    });
    const withdrawn: number[] = [];
    for (let ticks = 0; ticks < 3; ticks += 1) {
      scene.clock.advance({ minutes: 1 });
      const line = await scene.tick();
      expect(line).toMatchObject({ collapsed: false });
      withdrawn.push(line.withdrawn);
    }
    expect(withdrawn.reduce((sum, many) => sum + many, 0)).toBe(35);
    expect(scene.heard).toEqual([]);
    expect(await scene.operate({ command: 'holds' })).toMatchObject({
      result: { events: 35, byType: { withdrawn: 35 } },
    });
    expect(scene.notices.map(({ subject }) => subject)).toContainEqual(
      expect.stringContaining('shows most of it again'),
    );
    expect(await scene.operate({ command: 'accept-total', total: 6 })).toMatchObject({
      result: { changed: false },
    });
    expect((await scene.ledger.recordedState())?.acceptedTotal).toBeUndefined();
  });

  it('is guarded again below half of what was accepted', async () => {
    await scene.operate({ command: 'accept-total', total: 6 });
    scene.world = scene.world.slice(0, 2);
    scene.clock.advance({ minutes: 1 });
    expect(await scene.tick()).toMatchObject({ collapsed: true, withdrawn: 0 });
  });

  it('is accepted only as it was looked at', async () => {
    expect(await scene.operate({ command: 'accept-total', total: 20 })).toMatchObject({
      ok: false,
      problem: { code: 'total-changed' },
    });
  });

  it('is not accepted when nothing is left', async () => {
    scene.world = [];
    expect(await scene.operate({ command: 'accept-total', total: 0 })).toMatchObject({
      ok: false,
      problem: { code: 'nothing-shown' },
    });
  });
});
