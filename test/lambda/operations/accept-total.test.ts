import { beforeEach, describe, expect, it } from 'vitest';
import { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';

let story: IntegrationWithPast;

beforeEach(() => {
  story = new IntegrationWithPast();
});

const on = (certified_on: string, id: number, more = {}) =>
  assessment({ id, certified_on, ...more });

describe('missing certifications above the limit of withdrawals', () => {
  const accept = (total: number) => story.operate({ command: 'accept-total', total });
  const gone = () => story.heard.filter(({ type }) => type === 'certification.withdrawn').length;

  beforeEach(async () => {
    story.world = Array.from({ length: 40 }, (_, index) => on('2026-10-01', index + 1));
    story.add(on('2026-11-20', 100));
    await story.settle();
    story.world = story.world.filter(({ id }) => id <= 5 || id === 100);
    await story.minutes(15);
    expect(gone()).toBe(0);
  });

  it('are withdrawn once ops accept the total, which is needed once only', async () => {
    expect(await accept(6)).toMatchObject({
      ok: true,
      result: { changed: true, total: 6, before: 41 },
    });
    expect(await accept(6)).toMatchObject({ result: { changed: false } });
    await story.minutesUntil(() => gone() === 35, 20);
    expect(await story.operate({ command: 'holds' })).toMatchObject({ result: { list: [] } });
    expect(story.notices.map(({ subject }) => subject)).toContainEqual(
      expect.stringContaining('are back, few or accepted'),
    );
    expect(await accept(6)).toMatchObject({ result: { changed: false } });
    expect(await story.operate({ command: 'status' })).toMatchObject({
      result: { certifications: 6, missing: { number: 0, isTooMany: false }, reasons: [] },
    });
  });

  it('include those seen at the acceptance; later ones wait for ops again', async () => {
    await accept(6);
    await story.minutesUntil(() => gone() === 35, 30);
    story.world = story.world.slice(0, 1);
    await story.minutes(30);
    expect(gone()).toBe(35);
    await accept(1);
    await story.minutesUntil(() => gone() === 40, 30);
  });

  it('are a condition in the status', async () => {
    expect(await story.operate({ command: 'status' })).toMatchObject({
      result: {
        certifications: 6,
        missing: { number: 35, isTooMany: true },
        reasons: ['missing'],
        conditions: [{ name: 'missing', number: 35 }],
      },
    });
  });

  it.each([
    [8, false],
    [9, true],
    [11, true],
    [12, false],
  ])(
    'are accepted within a tenth of the accepted total: 10, and the partner shows %i: %s',
    async (shown, isTaken) => {
      story.host.count = () => shown;
      const answer = await accept(10);
      expect(answer.ok).toBe(isTaken);
      if (isTaken) expect(answer).toMatchObject({ result: { changed: true, total: shown } });
    },
  );

  it("are not accepted with a total that differs from the partner's", async () => {
    expect(await accept(20)).toMatchObject({ ok: false, problem: { code: 'total-changed' } });
    expect(await accept(0)).toMatchObject({ ok: false, problem: { code: 'total-changed' } });
  });
});

describe('a small integration of which most or all has disappeared', () => {
  const known = async (many: number) => {
    story.world = Array.from({ length: many }, (_, index) => on('2026-10-01', index + 1));
    await story.settle();
  };

  it.each([
    [3, 0],
    [30, 0],
    [400, 0],
  ])('is withdrawn once ops accept its total: %i known, %i left', async (many, left) => {
    await known(many);
    story.world = story.world.slice(0, left);
    await story.minutes(3);
    expect(await story.operate({ command: 'accept-total', total: left })).toMatchObject({
      result: { changed: true, total: left, before: many },
    });
    await story.minutesUntil(() => story.heard.length === many - left, 60);
    await story.minutes(2);
    expect(await story.operate({ command: 'status' })).toMatchObject({
      result: { certifications: left, reasons: [] },
    });
  });

  it.each([1, 2])(
    'of one or two is withdrawn after two looks without an acceptance: %i',
    async (many) => {
      await known(many);
      story.world = [];
      expect(await story.operate({ command: 'accept-total', total: 0 })).toMatchObject({
        result: { changed: false },
      });
      await story.minutesUntil(() => story.heard.length === many, 15);
    },
  );

  it('is found again if ops accepted a wrong total', async () => {
    await known(3);
    const back = story.world;
    story.world = [];
    await story.minutes(2);
    await story.operate({ command: 'accept-total', total: 0 });
    story.world = back;
    await story.minutes(30);
    expect(story.heard).toEqual([]);
    story.world = [];
    await story.minutes(30);
    expect(story.heard).toEqual([]);
  });

  it('is withdrawn also if no tick had noticed it before the acceptance', async () => {
    await known(5);
    story.world = [];
    await story.operate({ command: 'accept-total', total: 0 });
    await story.minutesUntil(() => story.heard.length === 5, 15);
    story.world = [on('2026-10-01', 1)];
    await story.minute();
    expect(story.heard.at(-1)?.type).toBe('certification.restored');
  });
});
