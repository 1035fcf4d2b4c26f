import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  baselineOf,
  type Compared,
  type Fields,
  hears,
  type NewestEvent,
  tallyOf,
} from '../../local/provoking/tally.ts';

/** A change of a certification, and whether subscribers hear of it. */
interface Step {
  readonly id: number;
  readonly act: 'appear' | 'edit' | 'vanish';
}

const steps = fc.array(
  fc.record<Step>({
    id: fc.integer({ min: 1, max: 6 }),
    act: fc.constantFrom('appear', 'edit', 'vanish'),
  }),
  { maxLength: 40 },
);

/** A world and its events, in order. */
function lived(baseline: ReadonlyMap<number, Fields>, all: readonly Step[]) {
  const world = new Map(baseline);
  const revisions = new Map([...baseline.keys()].map((id) => [id, 1]));
  const news: [number, NewestEvent][] = [];
  let value = 100;
  for (const { id, act } of all) {
    const isThere = world.has(id);
    if (isThere === (act === 'appear')) continue;
    const revision = (revisions.get(id) ?? 0) + 1;
    const wasThere = revisions.has(id);
    revisions.set(id, revision);
    value += 1;
    const assessment = { id, email: `${value}@example.org` };
    if (act === 'vanish') world.delete(id);
    else world.set(id, assessment);
    const kinds = {
      appear: wasThere ? 'restored' : 'created',
      edit: 'updated',
      vanish: 'withdrawn',
    } as const;
    news.push([id, { revision, kind: kinds[act], assessment }]);
  }
  return { world, news };
}

/** All events except the newest one of a certification. */
function heardWithoutLast(news: readonly [number, NewestEvent][], missed: number) {
  const last = new Map(news).get(missed);
  const heard = new Map<number, NewestEvent>();
  for (const [id, one] of news) if (one !== last) hears(heard, id, one);
  return heard;
}

/** The certification is gone, and subscribers know nothing of it. */
function isUnheardOf(id: number, { world, baseline: known, heard }: Compared): boolean {
  const newest = heard.get(id)?.kind;
  const isKnown = newest === undefined ? known.has(id) : newest !== 'withdrawn';
  return !world.has(id) && !isKnown;
}

const baseline = new Map<number, Fields>([
  [1, { id: 1, email: 'one@example.org' }],
  [2, { id: 2, email: 'two@example.org' }],
]);
const nobody = new Set<number>();
const noReasons = { held: nobody, owed: nobody, discarded: nobody };

describe('the difference between the world and subscribers', () => {
  it('is nothing once each event has come, in any order and with repeats', () => {
    fc.assert(
      fc.property(steps, fc.infiniteStream(fc.nat()), (all, order) => {
        const { world, news } = lived(baseline, all);
        const shuffled = [...news, ...news]
          .map((one) => ({ one, place: Number(order.next().value) }))
          .sort((a, b) => a.place - b.place);
        const heard = new Map<number, NewestEvent>();
        for (const { one } of shuffled) hears(heard, ...one);
        const tally = tallyOf({ world, baseline, heard }, noReasons);
        expect(tally).toMatchObject({ difference: 0, world: world.size, subscribers: world.size });
      }),
    );
  });

  it('has each certification without its newest event: held, owed, discarded or none of these', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { world, news } = lived(baseline, all);
        for (const missed of new Map(news).keys()) {
          const heard = heardWithoutLast(news, missed);
          const compared = { world, baseline, heard };
          const differs = isUnheardOf(missed, compared) ? 0 : 1;
          const one = new Set([missed]);
          const none = { held: 0, owed: 0, discarded: 0, difference: 0 };
          for (const reason of ['held', 'owed', 'discarded', 'difference'] as const)
            expect(tallyOf(compared, { ...noReasons, [reason]: one })).toMatchObject({
              ...{ ...none, [reason]: differs },
            });
        }
      }),
    );
  });

  it('has a certification that the ledger did not record, and one that it recorded and that is gone', () => {
    const world = new Map(baseline);
    const known = { world, baseline: baselineOf([2, 3], world), heard: new Map() };
    expect(tallyOf(known, noReasons)).toMatchObject({ baseline: 2, difference: 2 });
  });
});
