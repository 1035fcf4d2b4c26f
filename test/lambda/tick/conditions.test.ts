import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Calendar } from '../../../lambda/detection/calendar.ts';
import {
  type ConditionName,
  conditionsOf,
  type Observations,
  type OpenConditions,
  type TickFacts,
} from '../../../lambda/detection/conditions.ts';
import { unhurried } from '../../../lambda/detection/pace.ts';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import type { Announcer, Notice } from '../../../lambda/ports/announcer.ts';
import type { Ledger } from '../../../lambda/ports/ledger.ts';
import type { StateChanges } from '../../../lambda/ports/state.ts';
import { tell, tellFlood, waitingSeen } from '../../../lambda/tick/conditions.ts';
import type { TickParts } from '../../../lambda/tick/parts.ts';
import * as rules from '../../../lambda/tick/rules.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { noEffort } from '../../scaffold/effort.ts';
import { nothingNoted } from '../../scaffold/facts.ts';
import { MemoryLedger } from '../../scaffold/memory-ledger.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { sightingsOf } from '../../scaffold/sightings.ts';
import { assessment } from '../../support/assessments.ts';

/** SNS and a ledger that fail on demand. Each tick sees the state that the one before has saved. */
class Operations {
  readonly clock = new ManualClock();
  readonly ledger = new MemoryLedger();
  readonly notices: Notice[] = [];
  readonly warnings: string[] = [];
  accepts = true;
  savesFail = false;
  saves = 0;
  /** Events that wait for a decision of ops. */
  waiting = 0;

  /** @param see the tick's observations beside owed notices, given the open conditions */
  async tick(
    see: (
      open: OpenConditions,
      parts: TickParts,
    ) => Promise<Observations> | Observations = () => ({}),
  ): Promise<OpenConditions> {
    const parts = this.#parts();
    const open = new Map((await this.ledger.state()).conditions);
    const owed = conditionsOf(nothingNoted(), open, this.clock.now().epochMilliseconds);
    await tell(parts, open, { ...owed, ...(await see(open, parts)) });
    return open;
  }

  /** A tick with these facts. */
  note(facts: Partial<TickFacts>): Promise<OpenConditions> {
    return this.tick((open) =>
      conditionsOf({ ...nothingNoted(), ...facts }, open, this.clock.now().epochMilliseconds),
    );
  }

  /** @returns whether ops were told */
  async flood(size: number, heldNow = 0): Promise<boolean> {
    const [change] = sightingsOf([assessment()], new Map(), 'salt');
    if (change === undefined) throw new Error('it is no change');
    const parts = this.#parts();
    const open = new Map((await this.ledger.state()).conditions);
    return tellFlood(parts, open, heldNow, Array(size).fill(change));
  }

  #parts(): TickParts {
    this.clock.advance({ minutes: 1 });
    const ledger: Ledger = Object.assign(Object.create(this.ledger), {
      saveState: async (changes: StateChanges) => {
        if (this.savesFail) throw new LedgerUnavailableError('UpdateItem', {});
        this.saves += 1;
        return this.ledger.saveState(changes);
      },
      countWaitingForOps: async () => this.waiting,
      waitingForOps: (waiting: 'held' | 'undeliverable') => this.ledger.waitingForOps(waiting),
    });
    const announcer: Announcer = {
      publish: async () => ({ accepted: [], refused: [] }),
      tellPeople: async () => ({ accepted: true }),
      notify: async (notice) => {
        if (!this.accepts) return { accepted: false, code: 'InternalError' };
        this.notices.push(notice);
        return { accepted: true };
      },
    };
    return {
      ...{ settings, rules, clock: this.clock, ledger, announcer, journal: this, partner },
      measure: noEffort,
    };
  }

  warn(what: string): void {
    this.warnings.push(what);
  }

  get subjects(): string[] {
    return this.notices.map(({ subject }) => subject);
  }
}

const settings = tickSettings();
const nobody = () => Promise.reject(new Error('the partner is not asked'));
const partner: TickParts['partner'] = {
  pace: { perMinute: 1, value: unhurried },
  pulse: nobody,
  tail: nobody,
  count: nobody,
  oldestDay: nobody,
  prove: nobody,
  get: nobody,
};

const names = ['missing', 'unproven', 'quarantined'] as const satisfies ConditionName[];

describe('a notice to ops', () => {
  it('of a condition is sent once, over many ticks, and once when it ends', async () => {
    const operations = new Operations();
    for (const number of [1, 1, 1, 1, 0, 0, 0])
      await operations.tick(() => ({ missing: { number } }));
    expect(operations.subjects).toEqual([
      'district-a: many certifications are missing at the partner',
      'district-a: the missing certifications are back, few or accepted',
    ]);
    expect(operations.saves).toBe(2);
  });

  it('is retried by the next tick, which need not observe the condition itself', async () => {
    const operations = new Operations();
    operations.accepts = false;
    await operations.tick(() => ({
      missing: { number: 1, details: ['It shows 12 assessments.'] },
    }));
    await operations.tick();
    expect(operations.notices).toEqual([]);
    operations.accepts = true;
    await operations.tick();
    await operations.tick();
    expect(operations.notices).toHaveLength(1);
    expect(operations.notices[0]?.text).toContain('It shows 12 assessments.');
    expect(operations.notices[0]?.text).toContain('Since: 2026-11-21 08:01 (UTC)');
  });

  it('is owed with its observation until it is told', async () => {
    const operations = new Operations();
    await operations.ledger.saveState({ conditions: new Map([['held', { since: 1, number: 1 }]]) });
    operations.accepts = false;
    const begun = await operations.tick(() => ({ missing: { number: 2, details: ['what'] } }));
    expect(begun.get('missing')).toMatchObject({ owes: 'begins', details: ['what'] });
    expect(await operations.tick()).toEqual(begun);
    operations.accepts = true;
    await operations.tick();
    operations.accepts = false;
    const over = await operations.tick(() => ({ missing: { number: 0 } }));
    expect(over.get('missing')).toMatchObject({ owes: 'ends', number: 2 });
    expect(await operations.tick()).toEqual(over);
    expect(over.get('held')).toEqual({ since: 1, number: 1 });
  });

  it('that SNS refuses costs each tick one attempt, for any number of owed notices', async () => {
    const operations = new Operations();
    operations.accepts = false;
    for (const name of names) await operations.tick(() => ({ [name]: { number: 1 } }));
    operations.warnings.length = 0;
    await operations.tick();
    expect(operations.warnings).toEqual(['notice refused']);
  });

  it('survives crashes between sending and noting: it is sent twice at most, and never lost', async () => {
    const step = fc.record({
      name: fc.constantFrom(...names),
      number: fc.nat(1),
      accepts: fc.boolean(),
      crashes: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (life) => {
        const operations = new Operations();
        const latest = new Map<ConditionName, number>();
        let crashes = 0;
        for (const { name, number, accepts, crashes: crash } of life) {
          Object.assign(operations, { accepts, savesFail: crash });
          const before = operations.saves;
          const tried = operations.tick(() => ({ [name]: { number } }));
          await tried.then(
            () => latest.set(name, number),
            () => {
              crashes += 1;
              expect(operations.saves).toBe(before);
            },
          );
        }
        Object.assign(operations, { accepts: true, savesFail: false });
        for (const [name, number] of latest) await operations.tick(() => ({ [name]: { number } }));

        const { conditions } = await operations.ledger.state();
        for (const [name, number] of latest) expect(conditions.has(name)).toBe(number > 0);
        // Without crashes, each condition begins and ends in turn. A crash repeats one notice.
        let repeated = 0;
        for (const told of Map.groupBy(operations.subjects, wordOf).values())
          repeated += told.filter((subject, index) => subject === told[index - 1]).length;
        expect(repeated).toBeLessThanOrEqual(crashes);
      }),
    );
  });

  describe.each(['held', 'undeliverable'] as const)('of %s events', (name) => {
    const none = { held: 0, undeliverable: 0 };
    const look = (operations: Operations, news = 0) =>
      operations.tick((open, parts) => waitingSeen(parts, open, { ...none, [name]: news }));
    const add = async (operations: Operations, news: number) => {
      if (name === 'held') expect(await operations.flood(news)).toBe(true);
      else await look(operations, news);
      operations.waiting += news;
    };

    it('that grew within a day of the first notice is sent after the day', async () => {
      const operations = new Operations();
      await add(operations, 600);
      operations.clock.advance({ hours: 1 });
      await add(operations, 700);
      expect(operations.notices).toHaveLength(1);
      operations.clock.advance({ hours: 24 });
      await look(operations);
      await look(operations);
      expect(operations.notices).toHaveLength(2);
      expect(operations.notices[1]?.text).toMatch(/1,?300/);
      operations.waiting = 0;
      await look(operations);
      expect(operations.notices).toHaveLength(3);
      expect((await operations.ledger.state()).conditions.has(name)).toBe(false);
    });

    it('has the current number after ops have decided on some of them', async () => {
      const operations = new Operations();
      const known = async () => (await operations.ledger.state()).conditions.get(name)?.number;
      await add(operations, 600);
      operations.clock.advance({ hours: 25 });
      operations.waiting = 200;
      expect((await look(operations)).get(name)).toMatchObject({ number: 200 });
      expect(await known()).toBe(200);
      await add(operations, 100);
      expect(await known()).toBe(300);
      expect(operations.notices).toHaveLength(2);
      expect(operations.notices[1]?.text).toMatch(/: 300\n/);
    });
  });

  it('of a flood has the number then held, also if ops decided since the last tick', async () => {
    const operations = new Operations();
    await operations.flood(600);
    operations.clock.advance({ hours: 25 });
    operations.waiting = 200;
    await operations.flood(50);
    expect(operations.notices[1]?.text).toMatch(/: 250\n/);
    operations.clock.advance({ hours: 25 });
    operations.waiting = 0;
    await operations.flood(50);
    expect(operations.subjects.slice(2)).toEqual([
      'district-a: nothing is held any more',
      'district-a: a flood of changes is held',
    ]);
  });

  it('of a flood adds up several batches of one tick, and fails if SNS refuses it', async () => {
    const operations = new Operations();
    await operations.flood(500);
    await operations.flood(40, 500);
    expect((await operations.ledger.state()).conditions.get('held')?.number).toBe(540);
    const deaf = new Operations();
    deaf.accepts = false;
    expect(await deaf.flood(500)).toBe(false);
    expect(await deaf.flood(40)).toBe(false);
    deaf.accepts = true;
    expect(await deaf.flood(40)).toBe(true);
    expect((await deaf.ledger.state()).conditions.get('held')?.number).toBe(40);
  });

  it('of events behind a held one counts no certification twice', async () => {
    const operations = new Operations();
    await operations.flood(30);
    await operations.tick((open, parts) => waitingSeen(parts, open, { held: 3, undeliverable: 0 }));
    expect((await operations.ledger.state()).conditions.get('held')?.number).toBe(30);
  });

  it('of more malformed records within a day of the first notice is sent after the day', async () => {
    const operations = new Operations();
    const calendar = new Calendar(new Map());
    const record = { id: 1, problems: ['name: missing'] };
    await operations.note({ reported: { news: [record], total: 1 } });
    await operations.note({ reported: { news: [record], total: 2 } });
    operations.clock.advance({ hours: 25 });
    for (const met of [[record], [record], []]) {
      const quarantined = new Map(met.map((one) => [String(one.id), one]));
      await operations.note({ quarantined, calendar });
    }
    expect(operations.notices).toHaveLength(3);
    expect(operations.notices[1]?.text).toContain('2');
  });

  it('of one refusal ends the refusal before it', async () => {
    const operations = new Operations();
    for (const name of ['credentials-refused', 'not-provisioned'] as const)
      await operations.note({ blocked: { name } });
    await operations.note({ blocked: {} });
    expect(operations.subjects).toEqual([
      'district-a: the partner refuses the credentials',
      'district-a: the partner accepts the credentials again',
      'district-a: the partner has assigned no scope',
      'district-a: the partner has assigned a scope',
    ]);
  });

  it('of a host without an answer ends no refusal, since it shows nothing of it', async () => {
    const operations = new Operations();
    const silent = { name: 'partner-silent', passing: 'why' } as const;
    for (const blocked of [
      { name: 'not-provisioned' },
      silent,
      { name: 'secret-unreadable' },
      {},
    ] as const)
      await operations.note({ blocked });
    expect(operations.subjects).toEqual([
      'district-a: the partner has assigned no scope',
      'district-a: the credentials cannot be read',
      'district-a: the credentials can be read again',
      'district-a: the partner has assigned a scope',
    ]);
  });
});

/** A word that identifies the condition of a notice. */
function wordOf(subject: string): string {
  return ['malformed', 'proven'].find((word) => subject.includes(word)) ?? 'missing';
}
