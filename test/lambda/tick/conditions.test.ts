import { beforeEach, describe, expect, it } from 'vitest';
import type { Observations, OpenConditions } from '../../../lambda/decisions/conditions.ts';
import { conditionsOf } from '../../../lambda/decisions/observations.ts';
import { type Done, nothingDone } from '../../../lambda/tick/done.ts';
import type { TickParts } from '../../../lambda/tick/parts.ts';
import { tell, tellFlood, waitingSeen } from '../../../lambda/tick/tell.ts';
import { timeUntil } from '../../../lambda/tick/time.ts';
import { nothingNoted } from '../../scaffold/facts.ts';
import { Integration } from '../../scaffold/integration.ts';
import { sightingsOf } from '../../scaffold/sightings.ts';
import { stepped } from '../../scaffold/stepped.ts';
import { assessment } from '../../support/assessments.ts';
import { titles } from './scenarios.ts';

let story: Integration;
/** Events that wait for a decision of ops. */
let waiting: number;
beforeEach(() => {
  story = new Integration();
  waiting = 0;
});

const accepting = (accepted: boolean) => {
  story.subscribers.mailing = accepted ? { accepted } : { accepted, code: 'InternalError' };
};
const conditions = async () => (await story.ledger.state()).conditions;

/** The parts of a tick a minute later. */
function partsOf(): TickParts {
  story.clock.advance({ minutes: 1 });
  const ledger = story.ledgerWith({ countWaitingForOps: async () => waiting });
  return { ...story.parts, ledger };
}

const begun = async () => nothingDone(await story.ledger.state(), timeUntil(story.clock.now()), 0);

/** @param see the tick's observations beside owed notices */
async function tick(
  see: (done: Done, parts: TickParts) => Promise<Observations> | Observations,
): Promise<OpenConditions> {
  const parts = partsOf();
  const done = await begun();
  const owed = conditionsOf(nothingNoted(), done.open, story.clock.now().epochMilliseconds);
  const seen = { ...owed, ...(await see(done, parts)) };
  return (await stepped(parts, done, tell(parts, seen))).done.open;
}

/** @returns whether ops were told */
async function flood(size: number, heldNow = 0): Promise<boolean> {
  const changes = sightingsOf([assessment()], new Map(), 'salt');
  const all = Array.from({ length: size }, () => changes).flat();
  const parts = partsOf();
  const { tally, ...done } = await begun();
  const before = { ...done, tally: { ...tally, held: heldNow } };
  const { end } = await stepped(parts, before, tellFlood(parts, all, undefined));
  return end;
}

const seeing = (number: number, details: string[] = []) =>
  tick(() => ({ missing: { number, details } }));

describe('a notice to ops', () => {
  it('is owed with its observation, and sent by a tick that need not see the condition', async () => {
    await story.ledger.saveState({ conditions: new Map([['held', { since: 1, number: 1 }]]) });
    accepting(false);
    const begun = await seeing(2, ['It shows 12 assessments.']);
    expect(begun.get('missing')).toMatchObject({ owes: 'begins', number: 2 });
    expect(await tick(() => ({}))).toEqual(begun);
    accepting(true);
    await tick(() => ({}));
    await tick(() => ({}));
    expect(story.notices).toHaveLength(1);
    expect(story.notices[0]?.text).toContain('It shows 12 assessments.');
    expect(story.notices[0]?.text).toContain('Since: 2026-11-21 08:01 (UTC)');
    accepting(false);
    const over = await seeing(0);
    expect(over.get('missing')).toMatchObject({ owes: 'ends', number: 2 });
    expect(await tick(() => ({}))).toEqual(over);
    expect(over.get('held')).toEqual({ since: 1, number: 1 });
  });

  it('that SNS refuses costs each tick one attempt, for any number of owed notices', async () => {
    accepting(false);
    for (const name of ['missing', 'unproven', 'quarantined'] as const)
      await tick(() => ({ [name]: { number: 1 } }));
    story.warnings.length = 0;
    await tick(() => ({}));
    expect(story.warnings).toEqual(['notice refused']);
  });
});

describe.each(['held', 'undeliverable'] as const)('the notice of %s events', (name) => {
  const look = (news = 0) =>
    tick((done, parts) =>
      waitingSeen(parts, {
        ...done,
        tally: { ...done.tally, held: name === 'held' ? news : 0 },
        delivery: { ...done.delivery, undeliverable: name === 'held' ? 0 : news },
      }),
    );
  const known = async () => (await conditions()).get(name)?.number;
  const add = async (news: number) => {
    if (name === 'held') expect(await flood(news)).toBe(true);
    else await look(news);
    waiting += news;
  };

  it('that grew within a day of the first one is sent after the day', async () => {
    await add(600);
    story.clock.advance({ hours: 1 });
    await add(700);
    expect(story.notices).toHaveLength(1);
    story.clock.advance({ hours: 24 });
    await look();
    await look();
    expect(story.notices).toHaveLength(2);
    expect(story.notices[1]?.text).toMatch(/1,?300/);
    waiting = 0;
    await look();
    expect(story.notices).toHaveLength(3);
    expect(await known()).toBeUndefined();
  });
});

describe('the notice of a flood', () => {
  const held = async () => (await conditions()).get('held')?.number;

  it('has the number then held, also if ops decided since the last tick', async () => {
    await flood(600);
    story.clock.advance({ hours: 25 });
    waiting = 200;
    await flood(50);
    expect(story.notices[1]?.text).toMatch(/: 250\n/);
    story.clock.advance({ hours: 25 });
    waiting = 0;
    await flood(50);
    expect(titles(story).slice(2)).toEqual([
      'nothing is held any more',
      'a flood of changes is held',
    ]);
  });

  it('adds up several batches of one tick, and counts no certification twice', async () => {
    await flood(500);
    await flood(40, 500);
    expect(await held()).toBe(540);
    // Events behind a held one.
    await tick((done, parts) => waitingSeen(parts, { ...done, tally: { ...done.tally, held: 3 } }));
    expect(await held()).toBe(540);
  });
});
