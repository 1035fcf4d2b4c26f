import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { idOf } from '../../lambda/detection/compare.ts';
import type { DayRange } from '../../lambda/detection/days.ts';
import type { Assessment } from '../../lambda/events/assessment.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import { DynamoLedger } from '../../lambda/ledger/dynamo-ledger.ts';
import { LedgerCorruptError, LedgerUnavailableError } from '../../lambda/ledger/errors.ts';
import { Table } from '../../lambda/ledger/table.ts';
import { CredentialsRefusedError } from '../../lambda/partner/errors.ts';
import type { TickSettings } from '../../lambda/parts.ts';
import type {
  Announcer,
  DigestOutcome,
  Lease,
  Ledger,
  Notice,
  PartnerReader,
  QuarantinedRecord,
} from '../../lambda/ports.ts';
import { tick } from '../../lambda/tick.ts';
import { assessment } from '../support/assessments.ts';
import { startLedgerTable } from '../support/ledger-table.ts';
import { ManualClock } from '../support/manual-clock.ts';

let database: Awaited<ReturnType<typeof startLedgerTable>>;
let stories = 0;

beforeAll(async () => {
  database = await startLedgerTable();
});
afterAll(() => database.close());

/** An integration with a partner, a ledger (embedded DynamoDB) and somebody who listens. */
class Story {
  readonly name = `district-${++stories}`;
  readonly clock = new ManualClock();
  readonly warnings: string[] = [];
  readonly ledger: Ledger = new DynamoLedger(
    new Table(database.client, database.name, this.clock),
    this.name,
    { warn: (what) => this.warnings.push(what) },
  );
  world: Assessment[] = [];
  quarantined: QuarantinedRecord[] = [];
  partnerFailure: Error | undefined;
  readonly heard: CertificationEvent[] = [];
  readonly mails: string[][] = [];
  readonly notices: Notice[] = [];
  /** The single-record endpoint answers 404 to everything. */
  singleRecordsBroken = false;
  settings: Partial<TickSettings> = {};
  requests: string[] = [];
  refuse: (event: CertificationEvent) => boolean = () => false;
  digest: DigestOutcome = { accepted: true };
  #ticks = 0;

  readonly announcer: Announcer = {
    publish: async (owed) => {
      const refused = owed.filter(({ event }) => this.refuse(event));
      const accepted = owed.filter(({ event }) => !this.refuse(event));
      this.heard.push(...accepted.map(({ event }) => event));
      return { accepted, refused: refused.map((one) => ({ owed: one, code: 'InternalError' })) };
    },
    sendDigest: async (owed) => {
      if (this.digest.accepted) this.mails.push(owed.map(({ event }) => event.id));
      return this.digest;
    },
    notify: async (notice) => {
      if (this.digest.accepted) this.notices.push(notice);
      return this.digest;
    },
  };

  /** A partner whose list is one atomic answer, however long. */
  readonly partner: PartnerReader = {
    pulse: async () => {
      this.#ask('pulse');
      const assessments = this.world
        .toSorted((a, b) => b.certified_on.localeCompare(a.certified_on))
        .slice(0, 100);
      return { assessments, quarantined: this.quarantined, count: this.#count() };
    },
    tail: async () => {
      this.#ask('tail');
      const assessments = this.world
        .toSorted((a, b) => a.certified_on.localeCompare(b.certified_on) || a.id - b.id)
        .slice(-100);
      return { assessments, quarantined: [], count: this.#count() };
    },
    count: async (range) => {
      this.#ask('count');
      return this.#within(range).length;
    },
    oldestDay: async () => {
      this.#ask('oldest');
      const [oldest] = this.world.map(({ certified_on }) => certified_on).sort();
      return oldest === undefined ? undefined : Temporal.PlainDate.from(oldest);
    },
    prove: async (range) => {
      this.#ask('prove');
      const assessments = this.#within(range);
      const isHit = this.quarantined.length > 0 && range.to === undefined;
      return {
        assessments,
        quarantined: isHit ? this.quarantined : [],
        count: assessments.length + (isHit ? this.quarantined.length : 0),
        isCutOff: false,
        requests: 1,
        ...(!isHit && { proof: 'single-page' as const }),
      };
    },
    get: async (id) => {
      this.#ask('get');
      return this.singleRecordsBroken ? undefined : this.world.find((one) => one.id === id);
    },
  };

  #ask(what: string): void {
    if (this.partnerFailure) throw this.partnerFailure;
    this.requests.push(what);
  }

  #count(): number {
    return this.world.length + this.quarantined.length;
  }

  #within({ from, to }: DayRange): Assessment[] {
    const [first, last] = [from?.toString() ?? '', to?.toString() ?? '~'];
    return this.world.filter(({ certified_on: day }) => day >= first && day <= last);
  }

  async tick(overrides: { ledger?: Ledger; announcer?: Announcer; seconds?: number } = {}) {
    this.#ticks += 1;
    return tick(
      {
        settings: {
          name: this.name,
          timeZone: 'UTC',
          recentDays: 3,
          audit: { recentMs: 15 * 60_000, historyMs: 24 * 3_600_000, requests: 20 },
          holdAbove: 500,
          announce: 'none',
          fields: 'all',
          alerts: { detail: 'names', maxRows: 60 },
          ...this.settings,
        },
        clock: this.clock,
        partner: this.partner,
        ledger: overrides.ledger ?? this.ledger,
        announcer: overrides.announcer ?? this.announcer,
        journal: { warn: (what) => this.warnings.push(what) },
      },
      {
        id: `tick-${this.#ticks}`,
        deadline: this.clock.now().add({ seconds: overrides.seconds ?? 60 }),
      },
    );
  }

  /** What the ledger is asked, with some answers replaced. */
  ledgerWith(replaced: Partial<Ledger>): Ledger {
    return new Proxy(this.ledger, {
      get: (target, name) => {
        const method: unknown = Reflect.get(replaced, name) ?? Reflect.get(target, name);
        return typeof method === 'function' ? method.bind(target) : method;
      },
    });
  }

  ids() {
    return this.heard.map(({ id }) => id);
  }
}

let story: Story;
beforeEach(() => {
  story = new Story();
});

describe('the first tick', () => {
  it('records what is there and announces nothing', async () => {
    story.world = [assessment({ id: 1 }), assessment({ id: 2 })];
    expect(await story.tick()).toMatchObject({ outcome: 'baseline', recorded: 2, delivered: 0 });
    expect(await story.tick()).toMatchObject({ outcome: 'completed', created: 0 });
    expect(story.heard).toEqual([]);
    expect(story.mails).toEqual([]);
  });

  it('that died half-way is repeated as a baseline, silently', async () => {
    const certified_on = '2026-11-21';
    story.world = [assessment({ id: 1, certified_on }), assessment({ id: 2, certified_on })];
    const died = story.ledgerWith({
      recordSilently: async (changes, now) => {
        await story.ledger.recordSilently(changes.slice(0, 1), now);
        throw new LedgerUnavailableError('BatchWriteItem', {});
      },
    });
    await expect(story.tick({ ledger: died })).rejects.toThrow(LedgerUnavailableError);
    expect(await story.tick()).toMatchObject({ outcome: 'baseline', recorded: 1 });
    expect(story.heard).toEqual([]);
  });
});

describe('a tick after the baseline', () => {
  beforeEach(async () => {
    await story.tick();
  });

  it('announces what is new to the machines, and once to the people', async () => {
    story.world = [assessment({ id: 1 }), assessment({ id: 2 }), assessment({ id: 3 })];
    expect(await story.tick()).toMatchObject({ created: 3, delivered: 3, undelivered: 0 });
    expect(story.ids().sort()).toEqual([1, 2, 3].map((id) => `${story.name}/${id}/1`));
    expect(story.mails).toHaveLength(1);
    expect(await story.tick()).toMatchObject({ created: 0, delivered: 0 });
    expect(story.heard).toHaveLength(3);
  });

  it('announces an edit as an update that names the fields', async () => {
    story.world = [assessment({ id: 1 })];
    await story.tick();
    story.world = [assessment({ id: 1, organization_name: 'Cinder Creek Academy' })];
    expect(await story.tick()).toMatchObject({ updated: 1 });
    expect(story.heard.at(-1)).toMatchObject({
      id: `${story.name}/1/2`,
      type: 'certification.updated',
      data: { changed: ['organization_name'] },
    });
  });

  it('finds what is new on a day of thousands with one request more', async () => {
    const day = '2026-11-21';
    const of = (id: number) => assessment({ id, certified_on: day });
    const morning = new Story();
    morning.world = Array.from({ length: 2_500 }, (_, index) => of(index + 1));
    await morning.tick();
    morning.requests.length = 0;
    morning.world = [...morning.world, of(2_501), of(2_502)];
    expect(await morning.tick()).toMatchObject({ created: 2, delivered: 2 });
    expect(morning.requests).toEqual(['pulse', 'tail']);
    expect(await morning.tick()).toMatchObject({ created: 0, examined: 0 });
  });

  it('marks as late what was completed before the recent window', async () => {
    story.world = [assessment({ id: 1, certified_on: '2026-11-17' }), assessment({ id: 2 })];
    await story.tick();
    expect(new Map(story.heard.map(({ subject, data }) => [subject, data.late]))).toEqual(
      new Map([
        ['1', true],
        ['2', false],
      ]),
    );
  });

  it('takes no lease when nothing changed', async () => {
    const ledger = story.ledgerWith({
      takeLease: () => Promise.reject(new Error('a quiet tick needs no lease')),
    });
    expect(await story.tick({ ledger })).toMatchObject({ outcome: 'completed' });
  });

  it('ends quietly while another one holds the lease', async () => {
    await story.ledger.takeLease(
      { owner: 'other', until: story.clock.now().add({ seconds: 65 }) },
      story.clock.now(),
    );
    story.world = [assessment()];
    expect(await story.tick()).toMatchObject({ outcome: 'busy' });
    expect(story.heard).toEqual([]);
    story.clock.advance({ seconds: 66 });
    expect(await story.tick()).toMatchObject({ outcome: 'completed', delivered: 1 });
  });

  it('counts malformed records and handles the others', async () => {
    story.world = [assessment()];
    story.quarantined = [{ problems: ['id: expected number'] }];
    expect(await story.tick()).toMatchObject({ quarantined: 1, delivered: 1 });
    expect(story.warnings).toEqual(['record quarantined']);
  });

  it('keeps what SNS refused and delivers it the next time, with the same ids', async () => {
    story.world = Array.from({ length: 10 }, (_, index) => assessment({ id: index + 1 }));
    story.refuse = ({ subject }) => subject === '4' || subject === '7';
    expect(await story.tick()).toMatchObject({ delivered: 8, undelivered: 2 });
    story.refuse = () => false;
    expect(await story.tick()).toMatchObject({ created: 0, delivered: 2, undelivered: 0 });
    expect(story.ids()).toHaveLength(10);
    expect(new Set(story.ids()).size).toBe(10);
    expect(story.mails.flat().sort()).toEqual(story.ids().sort());
  });

  it('owes the people their digest alone when SNS took the events but not the mail', async () => {
    story.world = [assessment({ id: 1 }), assessment({ id: 2 })];
    story.digest = { accepted: false, code: 'InternalError' };
    expect(await story.tick()).toMatchObject({ delivered: 2, undelivered: 2 });
    story.digest = { accepted: true };
    expect(await story.tick()).toMatchObject({ delivered: 0, undelivered: 0 });
    expect(story.heard).toHaveLength(2);
    expect(story.mails).toHaveLength(1);
    await story.tick();
    expect(story.mails).toHaveLength(1);
  });

  it('that dies between commit and publish is made good by the next one', async () => {
    story.world = [assessment({ id: 1 }), assessment({ id: 2 })];
    const dead: Announcer = {
      ...story.announcer,
      publish: () => Promise.reject(new Error('killed')),
    };
    await expect(story.tick({ announcer: dead })).rejects.toThrow('killed');
    expect(story.heard).toEqual([]);
    expect(await story.tick()).toMatchObject({ created: 0, delivered: 2 });
    expect(story.ids().sort()).toEqual([`${story.name}/1/1`, `${story.name}/2/1`]);
  });

  it('that dies between publish and settling has its events delivered again, with the same ids', async () => {
    story.world = [assessment({ id: 1 })];
    const dead = story.ledgerWith({ settle: () => Promise.reject(new Error('killed')) });
    await expect(story.tick({ ledger: dead })).rejects.toThrow('killed');
    await story.tick();
    expect(story.ids()).toEqual([`${story.name}/1/1`, `${story.name}/1/1`]);
    await story.tick();
    expect(story.heard).toHaveLength(2);
  });

  it('delivers leftovers even while the partner is down, and fails all the same', async () => {
    story.world = [assessment()];
    story.refuse = () => true;
    await story.tick();
    story.refuse = () => false;
    story.partnerFailure = new Error('down');
    await expect(story.tick()).rejects.toThrow('down');
    expect(story.heard).toHaveLength(1);
    story.partnerFailure = undefined;
    expect(await story.tick()).toMatchObject({ outcome: 'completed', delivered: 0 });
  });

  it('finds leftovers of a tick that died after it had looked for them', async () => {
    story.world = [assessment({ id: 1 })];
    const other = { owner: 'dead', until: story.clock.now().add({ seconds: 1 }) };
    // Another tick commits and dies after this one has read the state and seen that it is clean.
    const ledger = story.ledgerWith({
      state: async () => {
        const state = await story.ledger.state();
        const before = story.world;
        story.world = [assessment({ id: 9 })];
        await story.ledger.takeLease(other, story.clock.now());
        story.clock.advance({ seconds: 2 });
        const dead = { ...story.announcer, publish: () => Promise.reject(new Error('killed')) };
        await story.tick({ announcer: dead }).catch(() => undefined);
        story.world = [...before, ...story.world];
        return state;
      },
    });
    expect(await story.tick({ ledger })).toMatchObject({ created: 1, delivered: 2 });
    expect(story.ids().sort()).toEqual([`${story.name}/1/1`, `${story.name}/9/1`]);
  });

  it('keeps the other changes when one cannot be committed, and says so', async () => {
    story.world = [assessment({ id: 1 }), assessment({ id: 2 }), assessment({ id: 3 })];
    const ledger = story.ledgerWith({
      commit: async (change, event, now, destiny) => {
        if (idOf(change) === 2) throw new LedgerUnavailableError('PutItem', {});
        return story.ledger.commit(change, event, now, destiny);
      },
    });
    expect(await story.tick({ ledger })).toMatchObject({ failed: 1, delivered: 2 });
    expect(story.ids().sort()).toEqual([`${story.name}/1/1`, `${story.name}/3/1`]);
    expect(await story.tick()).toMatchObject({ created: 1, delivered: 1 });
  });

  it('delivers a change whose commit was done but never answered', async () => {
    story.world = [assessment({ id: 1 })];
    const ledger = story.ledgerWith({
      commit: async (change, event, now, destiny) => {
        await story.ledger.commit(change, event, now, destiny);
        throw new LedgerUnavailableError('PutItem', {});
      },
    });
    expect(await story.tick({ ledger })).toMatchObject({ failed: 1, delivered: 0 });
    expect(await story.tick()).toMatchObject({ created: 0, delivered: 1 });
    expect(story.ids()).toEqual([`${story.name}/1/1`]);
  });

  it('delivers a change whose commit the SDK has sent twice', async () => {
    story.world = [assessment({ id: 1 })];
    const ledger = story.ledgerWith({
      commit: async (change, event, now, destiny) => {
        await story.ledger.commit(change, event, now, destiny);
        return story.ledger.commit(change, event, now, destiny);
      },
    });
    expect(await story.tick({ ledger })).toMatchObject({ conflicts: 1, delivered: 0 });
    expect(await story.tick()).toMatchObject({ created: 0, delivered: 1 });
  });

  it('delivers leftovers of many pages, and keeps those that it has no time for', async () => {
    story.settings = { holdAbove: 10_000 };
    story.world = Array.from({ length: 450 }, (_, index) => assessment({ id: index + 1 }));
    story.refuse = () => true;
    expect(await story.tick()).toMatchObject({ created: 450, undelivered: 450 });
    story.refuse = () => false;
    const slow: Announcer = {
      ...story.announcer,
      publish: (owed) => {
        story.clock.advance({ seconds: 30 });
        return story.announcer.publish(owed);
      },
    };
    const { delivered } = await story.tick({ announcer: slow });
    expect(delivered).toBeLessThan(450);
    expect((await story.ledger.state()).dirtySince).toBeDefined();
    await story.tick();
    await story.tick();
    expect(new Set(story.ids()).size).toBe(450);
  });

  it('does not call the outbox clean while there is something in it that it cannot read', async () => {
    story.world = [assessment({ id: 1 })];
    const dead = { ...story.announcer, publish: () => Promise.reject(new Error('killed')) };
    await expect(story.tick({ announcer: dead })).rejects.toThrow('killed');
    story.clock.advance({ minutes: 20 });
    const corrupt = story.ledgerWith({
      leftovers: async function* () {
        yield { owed: [], unreadable: [new LedgerCorruptError('CERT#x#1', ['outbox'])] };
      },
    });
    expect(await story.tick({ ledger: corrupt })).toMatchObject({ undelivered: 1 });
    expect(story.warnings).toContain('outbox unreadable');
    expect((await story.ledger.state()).dirtySince).toBeDefined();
  });

  it.each([
    { batch: 0, seconds: 60, cutShort: true },
    { batch: 0, seconds: 61, cutShort: false },
    { batch: 20, seconds: 110, cutShort: true },
    { batch: 20, seconds: 111, cutShort: false },
  ])(
    'keeps ten seconds for its end, or twice what its longest batch took: $batch s, $seconds s',
    async (one) => {
      const { batch, seconds, cutShort } = one;
      // Page and tail show two hundred; the others have to be located, after fifty seconds and a batch.
      story.world = Array.from({ length: 300 }, (_, index) => assessment({ id: index + 1 }));
      const { tail } = story.partner;
      story.partner.tail = (...asked) => {
        story.clock.advance({ seconds: 50 });
        return tail(...asked);
      };
      const slow: Announcer = {
        ...story.announcer,
        publish: (owed) => {
          if (story.heard.length === 0) story.clock.advance({ seconds: batch });
          return story.announcer.publish(owed);
        },
      };
      const report = await story.tick({ announcer: slow, seconds });
      expect(report).toMatchObject({ cutShort, delivered: cutShort ? 200 : 300 });
    },
  );

  it('holds a lease that outlives its invocation', async () => {
    const leases: Lease[] = [];
    const ledger = story.ledgerWith({
      takeLease: (lease, now) => {
        leases.push(lease);
        return story.ledger.takeLease(lease, now);
      },
    });
    story.world = [assessment()];
    const deadline = story.clock.now().add({ seconds: 60 });
    await story.tick({ ledger, seconds: 60 });
    expect(leases.map(({ until }) => Temporal.Instant.compare(until, deadline))).toEqual([1]);
  });

  it('leaves its heartbeat also when it is quiet', async () => {
    story.clock.advance({ minutes: 1 });
    await story.tick();
    expect((await story.ledger.state()).heartbeat).toBe(story.clock.now().toString());
  });

  it('looks for leftovers again while the index may not show them yet', async () => {
    story.world = [assessment({ id: 1 })];
    const dead = { ...story.announcer, publish: () => Promise.reject(new Error('killed')) };
    await expect(story.tick({ announcer: dead })).rejects.toThrow('killed');
    const lagging = story.ledgerWith({ leftovers: async function* () {} });
    expect(await story.tick({ ledger: lagging })).toMatchObject({ delivered: 0 });
    story.clock.advance({ minutes: 1 });
    expect(await story.tick()).toMatchObject({ delivered: 1 });
    story.clock.advance({ minutes: 10 });
    await story.tick();
    expect((await story.ledger.state()).dirtySince).toBeUndefined();
  });

  it('counts a change that another tick has committed first, and does not announce it', async () => {
    story.world = [assessment()];
    const ledger = story.ledgerWith({ commit: async () => undefined });
    expect(await story.tick({ ledger })).toMatchObject({ conflicts: 1, created: 0, delivered: 0 });
  });

  it('that runs out of time stops at a boundary, and the next one goes on', async () => {
    story.settings = { holdAbove: 10_000 };
    story.world = Array.from({ length: 1_100 }, (_, index) => assessment({ id: index + 1 }));
    const slow: Announcer = {
      ...story.announcer,
      publish: (owed) => {
        story.clock.advance({ seconds: 30 });
        return story.announcer.publish(owed);
      },
    };
    expect(await story.tick({ announcer: slow, seconds: 115 })).toMatchObject({
      cutShort: true,
      delivered: 700,
    });
    expect(await story.tick()).toMatchObject({ cutShort: false, delivered: 400 });
    expect(new Set(story.ids()).size).toBe(1_100);
    expect(story.heard).toHaveLength(1_100);
  });
});

describe('what has disappeared', () => {
  const old = (id: number) => assessment({ id, certified_on: '2024-02-29' });

  beforeEach(async () => {
    story.world = Array.from({ length: 40 }, (_, index) => old(index + 1));
    await story.tick();
    story.notices.length = 0;
  });

  it('is withdrawn in the same tick, after it was asked for by its id, and can be restored', async () => {
    const [gone, ...rest] = story.world;
    story.world = rest;
    expect(await story.tick()).toMatchObject({ withdrawn: 1, delivered: 1 });
    expect(story.heard.at(-1)).toMatchObject({
      id: `${story.name}/1/2`,
      type: 'certification.withdrawn',
      data: { assessment: { id: 1, organization_id: 7, certified_on: '2024-02-29' }, late: true },
    });
    expect(JSON.stringify(story.heard.at(-1))).not.toMatch(/Odalys|SEID|@/);
    story.world = gone ? [gone, ...rest] : rest;
    expect(await story.tick()).toMatchObject({ restored: 1 });
    expect(story.heard.at(-1)).toMatchObject({ type: 'certification.restored', sequence: '3' });
  });

  it('is not called gone while no record at all can be fetched by its id', async () => {
    story.world = story.world.slice(1);
    story.singleRecordsBroken = true;
    expect(await story.tick()).toMatchObject({ withdrawn: 0 });
    expect(story.warnings).toContain('single-record endpoint broken');
    story.requests.length = 0;
    expect(await story.tick()).toMatchObject({ withdrawn: 0, examined: 0 });
    expect(story.requests).toEqual(['pulse']);
    story.singleRecordsBroken = false;
    story.clock.advance({ hours: 25 });
    expect(await story.tick()).toMatchObject({ withdrawn: 1 });
  });

  it('is an update of its day when it is only somewhere else', async () => {
    const [moved, ...rest] = story.world;
    if (moved === undefined) throw new Error('the world has forty');
    story.world = [...rest, { ...moved, certified_on: '2011-11-11' }];
    story.clock.advance({ hours: 25 });
    expect(await story.tick()).toMatchObject({ updated: 1, withdrawn: 0, conflicts: 0 });
    expect(story.heard.at(-1)?.data.changed).toEqual(['certified_on']);
  });

  it('is held when it is most of a day', async () => {
    story.world = story.world
      .slice(0, 19)
      .concat(assessment({ id: 90, certified_on: '2011-01-01' }));
    await story.tick();
    story.notices.length = 0;
    story.heard.length = 0;
    story.world = story.world.slice(10);
    const report = await story.tick();
    expect(report).toMatchObject({ withdrawn: 10, held: 10, delivered: 0 });
    expect(story.notices).toHaveLength(1);
    expect(story.heard).toEqual([]);
  });

  it('by more than half at once is not believed, and operations hear of it once', async () => {
    story.world = [...story.world.slice(0, 10), assessment({ id: 77, certified_on: '2011-11-11' })];
    expect(await story.tick()).toMatchObject({ collapsed: true, withdrawn: 0, created: 1 });
    story.clock.advance({ hours: 25 });
    expect(await story.tick()).toMatchObject({ collapsed: true, withdrawn: 0 });
    expect(story.notices.map(({ subject }) => subject)).toEqual([
      expect.stringContaining('less than half'),
    ]);
    // What is new is found as ever.
    story.world = [...story.world, assessment({ id: 78, certified_on: '2012-12-12' })];
    expect(await story.tick()).toMatchObject({ created: 1 });
    story.world = [...story.world, ...Array.from({ length: 20 }, (_, index) => old(index + 11))];
    story.clock.advance({ hours: 25 });
    await story.tick();
    expect(await story.tick()).toMatchObject({ collapsed: false });
  });
});

describe('a flood', () => {
  const dated = (id: number) =>
    assessment({
      id,
      certified_on: Temporal.PlainDate.from('2020-01-01')
        .add({ days: id % 90 })
        .toString(),
    });

  beforeEach(async () => {
    story.settings = { holdAbove: 50 };
    story.world = Array.from({ length: 100 }, (_, index) => dated(index + 1));
    await story.tick();
    story.notices.length = 0;
  });

  it('is held from its first event on, and operations are told what it is', async () => {
    story.world = [
      ...story.world,
      ...Array.from({ length: 300 }, (_, index) => dated(index + 101)),
    ];
    expect(await story.tick()).toMatchObject({ created: 300, held: 300, delivered: 0 });
    expect(story.heard).toEqual([]);
    expect(story.notices).toHaveLength(1);
    expect(story.notices[0]?.text).toMatch(/created: \d+/);
    expect(story.notices[0]?.text).toMatch(/By organization:\n {2}7: \d+/);
    expect(story.notices[0]?.text).toMatch(/2020: \d+/);
    expect(story.notices[0]?.text).not.toMatch(/Odalys|SEID|@/);
  });

  it('is not committed before operations could be told', async () => {
    story.world = [
      ...story.world,
      ...Array.from({ length: 300 }, (_, index) => dated(index + 101)),
    ];
    story.digest = { accepted: false, code: 'InternalError' };
    const refused = await story.tick();
    expect(refused).toMatchObject({ created: 0, held: 0 });
    expect(refused.failed).toBeGreaterThan(0);
    story.digest = { accepted: true };
    expect(await story.tick()).toMatchObject({ created: 300, held: 300 });
    expect(story.notices).toHaveLength(1);
  });

  it('that is over does not hold what comes after it', async () => {
    story.world = [
      ...story.world,
      ...Array.from({ length: 300 }, (_, index) => dated(index + 101)),
    ];
    await story.tick();
    story.world = [...story.world, dated(900)];
    expect(await story.tick()).toMatchObject({ created: 1, held: 0, delivered: 1 });
  });
});

describe('an integration that ops have paused', () => {
  it('asks nobody and writes nothing', async () => {
    await story.tick();
    story.requests.length = 0;
    const { heartbeat } = await story.ledger.state();
    story.clock.advance({ minutes: 1 });
    const ledger = story.ledgerWith({
      state: async () => ({ ...(await story.ledger.state()), paused: true }),
    });
    expect(await story.tick({ ledger })).toMatchObject({ outcome: 'paused' });
    expect(story.requests).toEqual([]);
    expect((await story.ledger.state()).heartbeat).toBe(heartbeat);
  });
});

describe('a partner that refuses', () => {
  it('is left alone for a while, twice as long each time, up to an hour', async () => {
    await story.tick();
    story.partnerFailure = new CredentialsRefusedError();
    const waits: number[] = [];
    for (let refusal = 0; refusal < 8; refusal++) {
      await expect(story.tick()).rejects.toThrow(CredentialsRefusedError);
      const { backOff } = await story.ledger.state();
      const minutes = backOff?.until.since(story.clock.now()).total('minutes') ?? 0;
      waits.push(minutes);
      story.clock.advance({ seconds: 60 * minutes - 1 });
      expect(await story.tick()).toMatchObject({ outcome: 'backing-off' });
      story.clock.advance({ seconds: 1 });
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 60, 60, 60]);
    story.partnerFailure = undefined;
    expect(await story.tick()).toMatchObject({ outcome: 'completed' });
    expect((await story.ledger.state()).backOff).toBeUndefined();
  });

  it('does not keep back what is owed already', async () => {
    await story.tick();
    story.world = [assessment()];
    story.refuse = () => true;
    await story.tick();
    story.partnerFailure = new CredentialsRefusedError();
    await expect(story.tick()).rejects.toThrow(CredentialsRefusedError);
    story.refuse = () => false;
    expect(await story.tick()).toMatchObject({ outcome: 'backing-off', delivered: 1 });
  });
});

describe('a baseline', () => {
  it('keeps what it has read when the partner fails in the middle', async () => {
    story.world = Array.from({ length: 3_000 }, (_, index) =>
      assessment({
        id: index + 1,
        certified_on: Temporal.PlainDate.from('2026-11-20')
          .subtract({ days: index % 400 })
          .toString(),
      }),
    );
    let recorded = 0;
    let outcome = '';
    for (let ticks = 0; outcome !== 'baseline' && ticks < 40; ticks++) {
      let answers = 4;
      const failing = story.partner.prove;
      const prove: PartnerReader['prove'] = async (range, deadline) => {
        answers -= 1;
        if (answers === 0) throw new Error('reset');
        return failing(range, deadline);
      };
      Object.assign(story.partner, { prove });
      const report = await story.tick().catch(() => undefined);
      Object.assign(story.partner, { prove: failing });
      outcome = report?.outcome ?? '';
      recorded += report?.recorded ?? 0;
    }
    expect(outcome).toBe('baseline');
    expect((await story.ledger.state()).baseline.status).toBe('completed');
    expect((await story.ledger.state()).expected).toBe(3_000);
    expect(recorded).toBeLessThan(3_000);
    expect(story.heard).toEqual([]);
  });

  it('announces what the config asks for: nothing, what is recent enough, or everything', async () => {
    const announce = async (announced: TickSettings['announce']) => {
      const other = new Story();
      other.settings = { announce: announced };
      other.world = [
        assessment({ id: 1, certified_on: '2026-11-20' }),
        assessment({ id: 2, certified_on: '2019-01-01' }),
      ];
      await other.tick();
      return other.heard.map(({ subject }) => subject).sort();
    };
    expect(await announce('none')).toEqual([]);
    expect(await announce({ since: '2026-01-01' })).toEqual(['1']);
    expect(await announce('all')).toEqual(['1', '2']);
  });

  it('ends with one notice of its counts and proofs', async () => {
    story.world = [assessment({ id: 1 }), assessment({ id: 2 })];
    await story.tick();
    await story.tick();
    expect(story.notices.map(({ subject }) => subject)).toEqual([
      `${story.name}: baseline completed`,
    ]);
    expect(story.notices[0]?.text).toMatch(/2 certifications on \d+ days/);
    expect(story.notices[0]?.text).toMatch(/single-page: \d+/);
  });
});
