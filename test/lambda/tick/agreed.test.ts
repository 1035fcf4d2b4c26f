import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Ledger } from '../../../lambda/ports/ledger.ts';
import { Integration } from '../../scaffold/integration.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { numbers, on } from './scenarios.ts';

let story: Integration;
beforeEach(async () => {
  story = new Integration();
  story.world = numbers(1, 150).flatMap((id) => on(`2026-11-${10 + Math.floor(id / 15)}`, [id]));
  await story.baseline();
  story.add(...on('2026-11-20', [1001]));
  await tick();
});

/** A minute later. @returns the ids that the tick asked the ledger for, in order */
async function tick(replaced: Partial<Ledger> = {}): Promise<readonly number[]> {
  const asked: number[] = [];
  const known: Ledger['known'] = (ids) => {
    asked.push(...ids);
    return story.ledger.known(ids);
  };
  story.clock.advance({ minutes: 1 });
  await story.tick({ ledger: story.ledgerWith({ known, ...replaced }) });
  return asked.toSorted((a, b) => a - b);
}

describe('a tick with a newest page asks the ledger for', () => {
  it('its new and changed rows, and the rows that the tick before changed', async () => {
    story.add(...on('2026-11-20', [1002]));
    story.requests.length = 0;
    expect(await tick()).toEqual([1001, 1002]);
    story.host.edit(150);
    expect(await tick()).toEqual([150, 1002]);
    expect([story.heardOf(150), story.requests]).toEqual([['updated'], ['pulse', 'pulse']]);
  });

  it('no row, if only audits are due', async () => {
    story.clock.advance({ hours: 1 });
    await tick();
    story.clock.advance({ hours: 1 });
    story.requests.length = 0;
    const saveState = vi.fn(story.ledger.saveState);
    expect(await tick({ saveState })).toEqual([]);
    expect(saveState.mock.calls.filter(([saved]) => 'gate' in saved)).toEqual([]);
    expect(story.requests.some((request) => request.startsWith('prove'))).toBe(true);
  });
});

it('the marks of the newest page outlast a tick that takes the lease only for a digest', async () => {
  story.settings = { alerts: { ...tickSettings().alerts, digestEvery: 5 } };
  story.add(...on('2026-11-20', [1002]));
  const then: number[] = [];
  for (let minute = 0; minute < 30; minute++) then.push(...(await tick()));
  expect(story.mails).toHaveLength(2);
  // An audit asked for the new one again.
  expect(then).toEqual([1001, 1002, 1002]);
  story.add(...on('2026-11-20', [1003]));
  expect(await tick()).toEqual([1003]);
});
