import { beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../lambda/ports/ledger.ts';
import { Integration } from '../../scaffold/integration.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { numbers, on } from './scenarios.ts';

let story: Integration;
/** Ids that ticks asked the ledger for. */
let asked: number[];
beforeEach(async () => {
  story = new Integration();
  story.world = numbers(1, 150).flatMap((id) => on(`2026-11-${10 + Math.floor(id / 15)}`, [id]));
  await story.baseline();
  asked = [];
});

const watching = (replaced: Partial<Ledger> = {}) =>
  story.ledgerWith({
    known: (ids) => {
      asked.push(...ids);
      return story.ledger.known(ids);
    },
    ...replaced,
  });
/** @returns the ids that the tick asked the ledger for */
async function tick(replaced?: Partial<Ledger>): Promise<readonly number[]> {
  asked = [];
  story.clock.advance({ minutes: 1 });
  await story.tick({ ledger: watching(replaced) });
  return asked;
}
const edit = (id: number, email: string) => {
  story.world = story.world.map((one) => (one.id === id ? { ...one, email } : one));
};

describe('a tick with a newest page asks the ledger for', () => {
  it('its new and changed rows, and the rows that the tick before changed', async () => {
    story.add(...on('2026-11-20', [1001]));
    await tick();
    story.add(...on('2026-11-20', [1002]));
    expect(await tick()).toEqual(expect.arrayContaining([1001, 1002]));
    edit(150, 'changed@example.org');
    expect((await tick()).toSorted()).toEqual([1002, 150]);
    expect(story.heardOf(150)).toEqual(['updated']);
  });

  it('no row, if only audits are due', async () => {
    story.add(...on('2026-11-20', [1001]));
    await tick();
    story.clock.advance({ hours: 1 });
    expect(await tick()).toEqual([1001]);
    story.clock.advance({ hours: 1 });
    story.requests.length = 0;
    expect(await tick()).toEqual([]);
    expect(story.requests.some((request) => request.startsWith('prove'))).toBe(true);
  });

  it('a row that an audit has changed since the page was compared', async () => {
    story.add(...on('2026-11-20', [1001]));
    await tick();
    await tick();
    story.clock.advance({ hours: 1 });
    const { partner } = story;
    const prove = partner.prove.bind(partner);
    partner.prove = (...range) => {
      partner.prove = prove;
      edit(150, 'changed@example.org');
      return prove(...range);
    };
    await tick();
    expect(story.heardOf(150)).toEqual(['updated']);
    story.add(...on('2026-11-20', [1002]));
    expect((await tick()).toSorted()).toEqual([1002, 150]);
  });

  it('all rows after a tick that died, for ten minutes', async () => {
    story.add(...on('2026-11-20', [1001]));
    await tick();
    edit(150, 'changed@example.org');
    const dies = () => Promise.reject(new Error('killed'));
    await expect(tick({ settle: dies, saveState: dies })).rejects.toThrow('killed');
    story.clock.advance({ minutes: 1 });
    for (let minute = 0; minute < 9; minute++) {
      story.add(...on('2026-11-20', [2000 + minute]));
      expect((await tick()).length, `minute ${minute}`).toBeGreaterThanOrEqual(100);
    }
    story.add(...on('2026-11-20', [3000]));
    await tick();
    story.add(...on('2026-11-20', [3001]));
    expect((await tick()).toSorted()).toEqual([3000, 3001]);
  });

  it('no row twice, if a day is larger than a page', async () => {
    story.add(...on('2026-11-20', numbers(1001, 1250)));
    await tick();
    story.add(...on('2026-11-20', [2001]));
    const once = await tick();
    expect(story.requests.slice(-2)).toEqual(['pulse', 'tail']);
    expect(new Set(once).size).toBe(once.length);
  });

  it('a row that returned unchanged, also if the tail of its day is read', async () => {
    story.add(...on('2026-11-20', numbers(1001, 1250)));
    await tick();
    const whole = story.world;
    const [gone] = (await story.partner.pulse(story.clock.now().add({ seconds: 9 }))).assessments;
    story.world = whole.filter(({ id }) => id !== gone?.id);
    await story.minutesUntil(() => story.heardOf(gone?.id ?? 0).includes('withdrawn'), 20);
    await tick();
    story.world = whole;
    story.add(...on('2026-11-20', [2001]));
    story.requests.length = 0;
    await tick();
    expect(story.heardOf(gone?.id ?? 0).at(-1)).toBe('restored');
    expect(story.heardOf(2001)).toEqual(['created']);
    expect(story.requests).toEqual(['pulse', 'tail']);
  });
});

describe('the marks of the newest page', () => {
  it('outlast a tick that takes the lease only for a digest', async () => {
    story.settings = { alerts: { ...tickSettings().alerts, digestEvery: 5 } };
    story.add(...on('2026-11-20', [1001]));
    await tick();
    const then: number[] = [];
    for (let minute = 0; minute < 30; minute++) then.push(...(await tick()));
    expect(story.mails).toHaveLength(1);
    // An audit asked for it.
    expect(then).toEqual([1001]);
    story.add(...on('2026-11-20', [1002]));
    expect(await tick()).toEqual([1002]);
  });
});
