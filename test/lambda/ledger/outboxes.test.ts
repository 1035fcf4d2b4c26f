import { expect, it } from 'vitest';
import type { Found } from '../../../lambda/decisions/compare.ts';
import type { Decision } from '../../../lambda/decisions/history.ts';
import type { OwedEvent } from '../../../lambda/events/owed-event.ts';
import type { Revision, Waits } from '../../../lambda/ports/ledger.ts';
import { assessment } from '../../support/assessments.ts';
import { describeLedgers, type LedgerInUse, later, now, onlyChange } from './ledgers.ts';

const { id } = assessment();
const upTo = (many: number) => Array.from({ length: many }, (_, index) => index + 1);
const of = (read: number, name = 'Odalys') => assessment({ id: read, name });

interface Scene {
  readonly used: LedgerInUse;
  /** The events so far, by revision. */
  readonly owed: Map<number, OwedEvent>;
}

/** One thing that happens to the certification. @returns the outcome */
type Step = (scene: Scene) => Promise<unknown>;

/** Without a name: the certification is withdrawn. Else it is read with this name. */
const changed =
  (name: string | undefined, destiny: 'pending' | 'held', found: Found = { in: 'page' }): Step =>
  async ({ used, owed }) => {
    const known = await used.ledger.known([id]);
    const result = await (name === undefined
      ? used.withdraw(id, destiny)
      : used.commit({ ...onlyChange(assessment({ name }), known), found }, later, destiny));
    if (typeof result !== 'object') return result;
    owed.set(result.revision, result);
    const kind = result.event.type.split('.').at(-1);
    return result.behind ? `${kind} behind ${result.behind}` : kind;
  };
const settled =
  (rest: 'nothing' | 'digest') =>
  (...revisions: number[]): Step =>
  ({ used }) =>
    used.ledger.settle(
      revisions.map((revision) => ({ certificationId: id, revision })),
      rest,
    );
const refused =
  (revision: number): Step =>
  async ({ used, owed }) => {
    const event = owed.get(revision);
    if (event) await used.park(event);
  };
/** Without revisions: about all events that wait. */
const decided =
  (decision: Decision) =>
  (...revisions: number[]): Step =>
  async ({ used }) => {
    const isChosen = ({ revision }: { revision: number }) =>
      revisions.length === 0 || revisions.includes(revision);
    const waits = decision === 'retried' ? 'undeliverable' : 'held';
    const { done, ...rest } = await used.ledger.decide(id, waits, decision, isChosen, later);
    return { done: done.map(({ revision, found }) => found?.reason ?? revision), ...rest };
  };

const baseline: Step = ({ used }) =>
  used.ledger.recordSilently([onlyChange(assessment({ name: 'Ann' }))], now);
const [ann, annHeld] = [changed('Ann', 'pending'), changed('Ann', 'held')];
const annDoubtful = changed('Ann', 'held', { in: 'page', reason: 'baseline' });
const [bea, beaHeld] = [changed('Bea', 'pending'), changed('Bea', 'held')];
const [cleo, cleoHeld] = [changed('Cleo', 'pending'), changed('Cleo', 'held')];
const [gone, goneHeld] = [changed(undefined, 'pending'), changed(undefined, 'held')];
const [told, published] = [settled('nothing'), settled('digest')];
const [released, toPeople] = [decided('released'), decided('released-to-people')];
const [discarded, retried] = [decided('discarded'), decided('retried')];

/** A certification waits for the first of these that one of its events waits for. */
const places = ['pending', 'digest', 'held', 'undeliverable'] as const satisfies Waits[];

function fateOf({ decisions, undone, isBehind, waits, code }: Revision): string {
  expect(code !== undefined).toBe(waits === 'undeliverable');
  const words = decisions.map(({ decision }): string => decision);
  if (undone) words.push('undone');
  if (waits) words.push(isBehind ? 'behind' : waits);
  return words.join(':') || '-';
}

/**
 * Each list, count and history has the events as their fates say, one word a revision: the
 * decisions about its event, and the wait. `behind`: held behind another one; `-`: none of these.
 */
async function expectFates({ ledger, opsLedger, ...used }: LedgerInUse, words: string) {
  const fates = words.split(' ').filter(Boolean);
  const waits = fates.map((fate) => fate.split(':').at(-1)?.replace('behind', 'held'));
  const place = places.find((one) => waits.includes(one));
  const at = (...some: Waits[]) =>
    upTo(waits.length).filter((revision) => some.some((one) => one === waits[revision - 1]));
  const none = { pending: 0, digest: 0, held: 0, undeliverable: 0 };
  expect(await opsLedger.waiting()).toEqual({ ...none, ...(place && { [place]: 1 }) });
  for (const wait of ['held', 'undeliverable'] as const) {
    expect(await ledger.countWaitingForOps(wait)).toBe(place === wait ? 1 : 0);
    const code = wait === 'undeliverable' ? 'InvalidParameter' : undefined;
    const pages = await Array.fromAsync(ledger.waitingForOps(wait));
    const events = pages.flatMap(({ owed }) => owed);
    expect(events.map((event) => [event.revision, event.code])).toEqual(
      at(wait).map((revision) => [revision, code]),
    );
  }
  for (const [owing, listed] of [
    ['event', place === 'pending' ? at('pending', 'digest') : []],
    ['digest', place === 'digest' ? at('digest') : []],
  ] as const) {
    const pages = await Array.fromAsync(ledger.leftovers(owing));
    const owed = pages.flatMap((page) => page.owed.map(({ event, owes }) => [event.id, owes]));
    expect(owed).toEqual(
      listed.map((revision) => [
        `${used.integration}/${id}/${revision}`,
        waits[revision - 1] === 'digest' ? 'digest' : 'event-and-digest',
      ]),
    );
  }
  const isHeld = at('held').length > 0 && at('held').length === at(...places).length;
  await expectLife({ ledger, opsLedger }, fates, isHeld);
}

async function expectLife(
  { ledger, opsLedger }: Pick<LedgerInUse, 'ledger' | 'opsLedger'>,
  fates: readonly string[],
  isHeld: boolean,
) {
  const life = await opsLedger.story(id);
  expect((await ledger.lives([id])).get(id)).toEqual(life);
  expect((life?.revisions ?? []).map(fateOf)).toEqual(fates);
  expect(life?.certification.revision ?? 0).toBe(fates.length);
  expect((await ledger.known([id])).get(id)?.isHeld ?? false).toBe(isHeld);
}

const result = (done: readonly (number | string)[] = [], others = {}) => ({
  ...{ done, behind: 0, freed: 0, undone: 0, ...others },
});

/** The steps of a certification, the fates of its events, and the outcome of the last step. */
type Row = [name: string, steps: Step[], fates: string, last?: unknown];

function describeLives(what: string, rows: Row[]): void {
  describeLedgers(what, (used) => {
    it.each(rows)('%s', async (_, steps, fates, last) => {
      const scene = { used: used(), owed: new Map() };
      let outcome: unknown;
      for (const step of steps) outcome = await step(scene);
      if (last !== undefined) expect(outcome).toEqual(last);
      await expectFates(used(), fates);
    });
  });
}

describeLives('an outbox', [
  ['has a new event', [ann], 'pending', 'created'],
  ['has a change after the baseline', [baseline, bea], '- pending', 'updated'],
  ['is empty after delivery, also a second one', [ann, told(1), told(1)], '-'],
  ['of an unknown certification stays none', [published(1)], ''],
  ['has two events in order', [ann, bea], 'pending pending', 'updated behind pending'],
  ['keeps a revision committed meanwhile', [ann, bea, told(1)], '- pending'],
  ['keeps an event if another is settled twice', [ann, told(1), bea, told(1)], '- pending'],
  ['is emptied of several events at once', [ann, bea, told(1, 2)], '- -'],
  ['may owe only a digest', [ann, bea, published(1), told(2)], 'digest -'],
  ['delays nothing for a digest', [ann, published(1), bea], 'digest pending', 'updated'],
  ['keeps a held event after a delivery', [ann, beaHeld, told(1)], '- held'],
  ['delays events behind a held one', [annHeld, bea], 'held behind', 'updated behind held'],
  ['sets a refused event aside', [ann, refused(1)], 'undeliverable'],
  ['does not set a settled event aside', [ann, told(1), refused(1)], '-'],
  ['keeps a refused event', [ann, refused(1), bea, told(2)], 'undeliverable -'],
  ['has a refused event beside a held one', [ann, refused(1), beaHeld], 'undeliverable held'],
]);

const neverTold = [annHeld, goneHeld, annHeld, gone];
const withdrawnAgain = [baseline, gone, told(2), beaHeld, gone];
const releasedInPart = [baseline, beaHeld, cleoHeld, released(2), told(2), annHeld];

describeLives('an outbox whose held events are undone', [
  ['is emptied', [baseline, beaHeld, cleoHeld, ann], '- undone undone undone', 'undone'],
  ['has the next change', [baseline, beaHeld, ann, bea], '- undone undone pending', 'updated'],
  ['is emptied later', [baseline, beaHeld, cleo, gone, ann], '- undone undone undone undone'],
  ['is emptied for one withdrawn again', withdrawnAgain, '- - undone undone', 'undone'],
  ['restores that one', [...withdrawnAgain, ann], '- - undone undone pending', 'restored'],
  ['is emptied for one never told', neverTold, 'undone undone undone undone', 'undone'],
  ['creates that one', [...neverTold, ann], 'undone undone undone undone pending', 'created'],
  [
    'restores one that was told at last',
    [...neverTold, ann, told(5), gone, told(6), ann],
    'undone undone undone undone - - pending',
    'restored',
  ],
  [
    'stays if SNS may have had one of its events',
    [baseline, bea, cleoHeld, bea, ann],
    '- pending held behind behind',
    'updated behind held',
  ],
  ['stays at a state told before', releasedInPart, '- released held held'],
  ['is emptied at the state told', [...releasedInPart, bea], '- released undone undone undone'],
]);

const three = [annHeld, bea, cleo];
const detour = [ann, told(1), beaHeld, gone, bea];
const dropped = result([2], { undone: 2 });
const twenty = upTo(20).map((nth) => changed(`Ann the ${nth}th`, 'held'));

describeLives('a decision', [
  ['about no event changes nothing', [released()], '', result()],
  [
    'to release lets events go out',
    [annDoubtful, ...three.slice(1), released()],
    'released:pending released:pending released:pending',
    result(['baseline', 2, 3]),
  ],
  [
    'about the first event alone frees those behind it',
    [...three, released(1)],
    'released:pending pending pending',
    result([1], { freed: 2 }),
  ],
  [
    'to release events behind one that stays held changes nothing',
    [...three, released(2, 3)],
    'held behind behind',
    result([], { behind: 2 }),
  ],
  ['leaves people a digest', [annHeld, toPeople()], 'released-to-people:digest', result([1])],
  [
    'drops changes that cancel each other, and is noted at each',
    [ann, told(1), beaHeld, cleo, bea, released()],
    '- released:pending released:undone released:undone',
    dropped,
  ],
  ['drops a detour', [...detour, released(2)], '- released:pending undone undone', dropped],
  ['to discard does so', [...detour, discarded(2)], '- discarded undone undone', dropped],
  [
    'sends changes that end elsewhere',
    [annHeld, bea, ann, cleo, released()],
    'released:pending released:undone released:undone released:pending',
    result([1, 4], { undone: 2 }),
  ],
  [
    'drops no event that SNS may have had or that stays held',
    [ann, beaHeld, cleoHeld, bea, released(2)],
    'pending released:pending held behind',
    result([2]),
  ],
  ['may discard', [...three, discarded(2, 3)], 'held discarded discarded', result([2, 3])],
  ['may retry', [ann, refused(1), retried()], 'retried:pending', result([1])],
  [
    'reaches many events',
    [annHeld, ...twenty, released()],
    Array(21).fill('released:pending').join(' '),
    result(upTo(21)),
  ],
]);

describeLedgers('an outbox with held events', (used) => {
  it('is emptied whole, also if more was held than the fifty revisions of the history', async () => {
    const scene = { used: used(), owed: new Map() };
    await baseline(scene);
    for (let n = 2; n <= 61; n += 1) await changed(`Ann the ${n}th`, 'held')(scene);
    expect(await ann(scene)).toBe('undone');
    expect(await used().waitingForOps('held')).toEqual([]);
    const revisions = (await used().opsLedger.story(id))?.revisions;
    expect(revisions?.map(({ revision, undone }) => undone && revision)).toEqual(
      upTo(50).map((nth) => nth + 12),
    );
  });

  it('is decided about once, also if two people do so at once', async () => {
    const scene = { used: used(), owed: new Map() };
    await annHeld(scene);
    const outcomes = await Promise.all([released()(scene), discarded()(scene)]);
    expect(outcomes).toEqual(expect.arrayContaining([result([1]), result()]));
  });

  it('stays if its event was released between the read and the commit', async () => {
    const scene = { used: used(), owed: new Map() };
    for (const step of [baseline, beaHeld]) await step(scene);
    const seen = await used().ledger.known([id]);
    await released()(scene);
    const back = await used().commit(onlyChange(assessment({ name: 'Ann' }), seen), later);
    expect(back).toMatchObject({ revision: 3, behind: 'pending' });
    await expectFates(used(), '- released:pending pending');
  });
});

describeLedgers('the list of held events', (used) => {
  const held = (many: number, at: (id: number) => typeof now) =>
    Promise.all(upTo(many).map((one) => used().create(of(one), at(one), 'held')));
  const pagesAfter = async (start?: string) => {
    const pages = await Array.fromAsync(used().ledger.waitingForOps('held', start));
    return pages.map(({ end, owed }) => ({
      end,
      // A page has no order.
      ids: owed.map(({ certificationId }) => certificationId).sort((a, b) => a - b),
    }));
  };

  it('comes page by page, oldest first, and another call resumes it', async () => {
    await held(150, (one) => now.add({ seconds: one }));
    expect(await used().ledger.countWaitingForOps('held')).toBe(150);
    const pages = await pagesAfter();
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flatMap(({ ids }) => ids)).toEqual(upTo(150));
    expect(await pagesAfter(pages[0]?.end)).toEqual(pages.slice(1));
  });

  it('resumes after an event of the same moment that is gone meanwhile', async () => {
    await held(110, () => now);
    const [first = { end: '', ids: [] }] = await pagesAfter();
    const last = Number(first.end.split('/').at(-1));
    await used().ledger.decide(last, 'held', 'discarded', () => true, later);
    const rest = (await pagesAfter(first.end)).flatMap(({ ids }) => ids);
    expect([...first.ids, ...rest].sort((a, b) => a - b)).toEqual(upTo(110));
  });
});

describeLedgers('the list of leftovers', (used) => {
  const create = (many: number) =>
    Promise.all(upTo(many).map((one) => used().create(of(one), now.add({ milliseconds: one }))));

  it('has the longest owed first, since the first event after an empty outbox', async () => {
    await used().create(of(3), now);
    await used().create(of(2), now.add({ seconds: 30 }));
    await used().ledger.settle([await used().create(of(1), now)], 'nothing');
    for (const one of [1, 3]) await used().update(of(one, 'Ann'), later);
    const owed = await used().leftovers();
    expect(owed.map(({ certificationId, revision }) => `${certificationId}/${revision}`)).toEqual([
      '3/1',
      '3/2',
      '2/1',
      '1/2',
    ]);
  });

  it('comes page by page, oldest first, and settling one does not disturb the next', async () => {
    await create(210);
    const pages: number[][] = [];
    for await (const { owed } of used().ledger.leftovers('event')) {
      pages.push(owed.map(({ certificationId }) => certificationId));
      await used().ledger.settle(owed, pages.length === 1 ? 'nothing' : 'digest');
    }
    expect(pages).toEqual([upTo(200), upTo(210).slice(200)]);
    expect(await used().leftovers()).toEqual([]);
    expect(await used().leftovers('digest')).toHaveLength(10);
  });
});
