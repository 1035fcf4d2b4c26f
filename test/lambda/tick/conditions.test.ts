import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Calendar } from '../../../lambda/detection/calendar.ts';
import { compare } from '../../../lambda/detection/compare.ts';
import type { ConditionName } from '../../../lambda/detection/conditions.ts';
import { unhurried } from '../../../lambda/detection/pace.ts';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { CredentialsRefusedError, NotProvisionedError } from '../../../lambda/partner/errors.ts';
import type { Announcer, Notice } from '../../../lambda/ports/announcer.ts';
import type { Ledger } from '../../../lambda/ports/ledger.ts';
import type { StateChanges } from '../../../lambda/ports/state.ts';
import { Conditions } from '../../../lambda/tick/conditions.ts';
import type { TickParts } from '../../../lambda/tick/parts.ts';
import { rules } from '../../../lambda/tick/rules.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { MemoryLedger } from '../../scaffold/memory-ledger.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { assessment } from '../../support/assessments.ts';

/** SNS and a ledger that fail when they are told to; each tick sees what the one before has saved. */
class Operations {
  readonly clock = new ManualClock();
  readonly ledger = new MemoryLedger();
  readonly notices: Notice[] = [];
  readonly warnings: string[] = [];
  accepts = true;
  savesFail = false;
  saves = 0;
  /** Events that wait for ops. */
  kept = 0;

  async tick(act: (conditions: Conditions) => Promise<unknown>): Promise<void> {
    this.clock.advance({ minutes: 1 });
    const ledger: Ledger = Object.assign(Object.create(this.ledger), {
      saveState: async (changes: StateChanges) => {
        if (this.savesFail) throw new LedgerUnavailableError('UpdateItem', {});
        this.saves += 1;
        return this.ledger.saveState(changes);
      },
      countKept: async () => this.kept,
      kept: (waiting: 'held' | 'undeliverable') => this.ledger.kept(waiting),
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
    const parts = { settings, rules, clock: this.clock, ledger, announcer, journal: this } as const;
    const conditions = new Conditions({ ...parts, partner });
    conditions.know((await this.ledger.state()).conditions);
    await conditions.tellOwed();
    await act(conditions);
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

describe('telling operations', () => {
  it('of a condition is done once, by many ticks, and once when it is over', async () => {
    const operations = new Operations();
    for (const number of [1, 1, 1, 1, 0, 0, 0])
      await operations.tick((conditions) => conditions.note('missing', { number }));
    expect(operations.subjects).toEqual([
      'district-a: many certifications are missing at the partner',
      'district-a: the missing certifications are back, few or accepted',
    ]);
    expect(operations.saves).toBe(2);
  });

  it('is tried again by the next tick, which need not see the condition itself', async () => {
    const operations = new Operations();
    operations.accepts = false;
    await operations.tick((conditions) =>
      conditions.note('missing', { number: 1, details: ['It shows 12 assessments.'] }),
    );
    await operations.tick(async () => undefined);
    expect(operations.notices).toEqual([]);
    operations.accepts = true;
    await operations.tick(async () => undefined);
    await operations.tick(async () => undefined);
    expect(operations.notices).toHaveLength(1);
    expect(operations.notices[0]?.text).toContain('It shows 12 assessments.');
    expect(operations.notices[0]?.text).toContain('Since: 2026-11-21 08:01 (UTC)');
  });

  it('that SNS refuses costs each tick one attempt, however much is owed', async () => {
    const operations = new Operations();
    operations.accepts = false;
    for (const name of names)
      await operations.tick((conditions) => conditions.note(name, { number: 1 }));
    operations.warnings.length = 0;
    await operations.tick(async () => undefined);
    expect(operations.warnings).toEqual(['notice refused']);
  });

  it('survives crashes between telling and noting: told twice at most, never not at all', async () => {
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
          const tried = operations.tick((conditions) => conditions.note(name, { number }));
          await tried.then(
            () => latest.set(name, number),
            () => {
              crashes += 1;
              expect(operations.saves).toBe(before);
            },
          );
        }
        Object.assign(operations, { accepts: true, savesFail: false });
        for (const [name, number] of latest)
          await operations.tick((conditions) => conditions.note(name, { number }));

        const { conditions } = await operations.ledger.state();
        for (const [name, number] of latest) expect(conditions.has(name)).toBe(number > 0);
        // Without crashes, each begins and ends in turn; a crash repeats one of them.
        let repeated = 0;
        for (const told of Map.groupBy(operations.subjects, wordOf).values())
          repeated += told.filter((subject, index) => subject === told[index - 1]).length;
        expect(repeated).toBeLessThanOrEqual(crashes);
      }),
    );
  });

  it.each(['held', 'undeliverable'] as const)(
    'of what is %s that became more within a day of the first notice is done after the day',
    async (name) => {
      const operations = new Operations();
      const none = { held: 0, undeliverable: 0 };
      const tell = (number: number) =>
        operations.tick((conditions) => {
          operations.kept += number;
          return conditions.waiting({ ...none, [name]: number });
        });
      await tell(600);
      operations.clock.advance({ hours: 1 });
      await tell(700);
      expect(operations.notices).toHaveLength(1);
      operations.clock.advance({ hours: 24 });
      await tell(0);
      await tell(0);
      expect(operations.notices).toHaveLength(2);
      expect(operations.notices[1]?.text).toMatch(/1,?300/);
      operations.kept = 0;
      await tell(0);
      expect(operations.notices).toHaveLength(3);
      expect((await operations.ledger.state()).conditions.has(name)).toBe(false);
    },
  );

  it.each(['held', 'undeliverable'] as const)(
    'of what is %s says how much it is now, after ops have decided about a part of it',
    async (name) => {
      const operations = new Operations();
      const none = { held: 0, undeliverable: 0 };
      const known = async () => (await operations.ledger.state()).conditions.get(name)?.number;
      operations.kept = 600;
      await operations.tick((conditions) => conditions.waiting({ ...none, [name]: 600 }));
      operations.clock.advance({ hours: 25 });
      operations.kept = 200;
      await operations.tick(async (conditions) => {
        await conditions.waiting(none);
        expect(conditions.lasting[name]).toBe(200);
      });
      expect(await known()).toBe(200);
      await operations.tick((conditions) => conditions.waiting({ ...none, [name]: 100 }));
      expect(await known()).toBe(300);
      expect(operations.notices).toHaveLength(2);
      expect(operations.notices[1]?.text).toMatch(/: 300\n/);
    },
  );

  it('of a flood says how much is held by then, also when ops decided since the last tick', async () => {
    const operations = new Operations();
    const [change] = compare([assessment()], new Map(), 'salt');
    if (change === undefined) throw new Error('it is no change');
    const flood = (size: number) =>
      operations.tick((conditions) => conditions.flood(Array(size).fill(change)));
    await flood(600);
    operations.clock.advance({ hours: 25 });
    operations.kept = 200;
    await flood(50);
    expect(operations.notices[1]?.text).toMatch(/: 250\n/);
    operations.clock.advance({ hours: 25 });
    operations.kept = 0;
    await flood(50);
    expect(operations.subjects.slice(2)).toEqual([
      'district-a: nothing is held any more',
      'district-a: a flood of changes is held',
    ]);
  });

  it('of malformed records that became more within a day of the first notice is done after the day', async () => {
    const operations = new Operations();
    const calendar = new Calendar(new Map());
    const record = { id: 1, problems: ['name: missing'] };
    await operations.tick((conditions) => conditions.quarantined([record], 1));
    await operations.tick((conditions) => conditions.quarantined([record], 2));
    operations.clock.advance({ hours: 25 });
    for (const malformed of [2, 2, 0])
      await operations.tick((conditions) => conditions.examined(calendar, malformed));
    expect(operations.notices).toHaveLength(3);
    expect(operations.notices[1]?.text).toContain('2');
  });

  it('of a failure never hides the failure', async () => {
    const operations = new Operations();
    operations.savesFail = true;
    await operations.tick((conditions) => conditions.failed(new CredentialsRefusedError()));
    expect(operations.warnings).toEqual(['condition not told']);
    expect(operations.notices).toHaveLength(1);
  });

  it('of another refusal ends the one before it', async () => {
    const operations = new Operations();
    await operations.tick((conditions) => conditions.failed(new CredentialsRefusedError()));
    await operations.tick((conditions) => conditions.failed(new NotProvisionedError()));
    await operations.tick((conditions) => conditions.answered());
    expect(operations.subjects).toEqual([
      'district-a: the partner refuses the credentials',
      'district-a: the partner has assigned no scope',
      'district-a: the partner accepts the credentials again',
      'district-a: the partner has assigned a scope',
    ]);
  });
});

/** What tells the notices of one condition from another's. */
function wordOf(subject: string): string {
  return ['malformed', 'proven'].find((word) => subject.includes(word)) ?? 'missing';
}
