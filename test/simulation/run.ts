import { fingerprintOf } from '../../lambda/detection/fingerprint.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import { LedgerUnavailableError } from '../../lambda/ledger/errors.ts';
import { partnerReader } from '../../lambda/partner/reader.ts';
import type { TickParts } from '../../lambda/parts.ts';
import type { Announcer, Ledger, PartnerReader } from '../../lambda/ports.ts';
import { type TickReport, tick } from '../../lambda/tick.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryLedger } from '../support/memory-ledger.ts';
import { Host, type HostSwitches } from './host.ts';
import { Random } from './random.ts';

/** A part of the system that is broken on purpose, to show that the simulation notices. */
export interface Mutation {
  /** What the host does in every life. */
  readonly switches?: Partial<HostSwitches>;
  /** Ticks that always overlap, and calls that often outlive the lease. */
  readonly rough?: boolean;
  readonly ledger?: (ledger: MemoryLedger) => Ledger;
  readonly partner?: (partner: PartnerReader, host: Host) => PartnerReader;
}

/** What a run found wrong; empty when every promise was kept. */
export type Findings = readonly string[];

class Killed extends Error {}

/**
 * One life of an integration: a world in which things happen between any two requests, ticks that
 * fail, overlap, lose their lease and are killed at any await; then rest, and the promises checked
 * against the truth. The same seed is the same life.
 */
export async function simulate(seed: number, mutation: Mutation = {}): Promise<Findings> {
  return new Life(seed, mutation).live();
}

class Life {
  readonly #random: Random;
  readonly #clock = new ManualClock('2026-11-21T08:00:00Z');
  readonly #host: Host;
  readonly #memory = new MemoryLedger();
  readonly #ledger: Ledger;
  readonly #partner: PartnerReader;
  readonly #findings: string[] = [];
  readonly #told = new Map<string, CertificationEvent>();
  readonly #mailed = new Set<string>();
  #notices = 0;
  #baselineCompletedAt = Infinity;
  #killChance = 0;
  /** How likely an answer is lost. */
  #lossChance = 0;
  /** How likely a call takes longer than the lease lasts. */
  #pauseChance = 0;
  readonly #switches: Partial<HostSwitches>;
  readonly #rough: boolean;
  #refusals = 0;
  #ticks = 0;
  readonly #holdAbove: number;

  constructor(seed: number, mutation: Mutation) {
    this.#random = new Random(seed);
    this.#switches = mutation.switches ?? {};
    this.#rough = mutation.rough ?? false;
    const today = () => this.#clock.now().toZonedDateTimeISO('UTC').toPlainDate();
    this.#host = new Host(this.#random, today);
    this.#ledger = this.#watched(mutation.ledger?.(this.#memory) ?? this.#memory);
    const partner = partnerReader(this.#host, this.#clock);
    this.#partner = this.#witnessed(mutation.partner?.(partner, this.#host) ?? partner);
    this.#holdAbove = this.#random.chance(0.3) ? 5 : 500;
  }

  async live(): Promise<Findings> {
    const random = this.#random;
    const born = random.chance(0.3) ? 180 + random.below(120) : random.below(60);
    for (let n = 0; n < born; n++) this.#host.create();

    this.#host.switches = {
      churn: random.chance(0.8) ? 0.3 : 0,
      faults: random.chance(0.4) ? 0.05 : 0,
      unstableTies: random.chance(0.7),
      singleRecordsBroken: random.chance(0.15),
      ...this.#switches,
    };
    this.#pauseChance = this.#rough ? 0.08 : random.chance(0.3) ? 0.05 : 0;
    this.#lossChance = random.chance(0.3) ? 0.01 : 0;
    this.#killChance = random.chance(0.6) ? 0.02 : 0;
    this.#refusals = random.chance(0.4) ? 0.2 : 0;
    const ticks = 4 + random.below(8);
    for (let n = 0; n < ticks; n++) {
      for (let m = random.below(4); m > 0; m--) this.#host.happen();
      this.#host.trulyAbsent.clear();
      const overlap = this.#rough ? 6 : random.chance(0.25) ? 2 : 1;
      await Promise.all(Array.from({ length: overlap }, (_, late) => this.#tick(late)));
      this.#clock.advance({ seconds: random.chance(0.2) ? 3_600 * random.below(30) : 60 });
    }
    await this.#rest();
    await this.#check();
    return this.#findings;
  }

  /** Quiet, and time enough for every audit. */
  async #rest(): Promise<void> {
    this.#host.rest();
    this.#killChance = 0;
    this.#pauseChance = 0;
    this.#lossChance = 0;
    this.#refusals = 0;
    for (let n = 0; n < 8; n++) {
      this.#clock.advance({ hours: 25 });
      for (let m = 0; m < 12; m++) {
        const report = await this.#tick();
        this.#clock.advance({ seconds: 61 });
        if (report?.outcome === 'completed' && report.examined === 0) break;
      }
    }
  }

  /** @param late for a tick that begins in the middle of another */
  async #tick(late = 0): Promise<TickReport | undefined> {
    for (let turns = late * this.#random.below(150); turns > 0; turns--) await null;
    this.#ticks += 1;
    const life = { killed: false };
    const parts: TickParts = {
      settings: {
        name: 'sim',
        timeZone: 'UTC',
        recentDays: 3,
        audit: { recentMs: 15 * 60_000, historyMs: 24 * 3_600_000, requests: 20 },
        holdAbove: this.#holdAbove,
        announce: 'none',
        fields: 'all',
        alerts: { detail: 'names', maxRows: 60 },
      },
      clock: this.#clock,
      partner: this.#mortal(this.#partner, life),
      ledger: this.#mortal(this.#ledger, life),
      announcer: this.#mortal(this.#announcer(), life),
      journal: { warn: () => undefined },
    };
    const run = { id: `tick-${this.#ticks}`, deadline: this.#clock.now().add({ seconds: 60 }) };
    try {
      const report = await tick(parts, run);
      const { baseline } = await this.#memory.state();
      if (baseline.status === 'completed')
        this.#baselineCompletedAt = Math.min(this.#baselineCompletedAt, this.#host.requests);
      return report;
    } catch (error) {
      // Failed or killed: the next tick goes on. What it must not do is go wrong.
      if (error instanceof TypeError || error instanceof RangeError) throw error;
      return undefined;
    }
  }

  /** May be killed before or after any call takes effect; dead, it can do nothing more. */
  #mortal<Port extends object>(port: Port, life: { killed: boolean }): Port {
    const die = () => {
      life.killed = true;
      throw new Killed('killed');
    };
    return new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        if (name === 'leftovers') return method.bind(target);
        return async (...values: unknown[]) => {
          for (let turns = this.#random.below(3); turns > 0; turns--) await null;
          if (life.killed || this.#random.chance(this.#killChance)) die();
          // Frozen on its way for longer than the lease lasts: what it does, it does to another world.
          if (this.#random.chance(this.#pauseChance)) {
            this.#clock.advance({ seconds: 90 });
            for (let turns = this.#random.below(400); turns > 0; turns--) await null;
          }
          const answer: unknown = await method.apply(target, values);
          if (life.killed || this.#random.chance(this.#killChance)) die();
          // Done, and the answer lost on its way.
          if (this.#random.chance(this.#lossChance)) throw new LedgerUnavailableError('a call', {});
          return answer;
        };
      },
    });
  }

  #announcer(): Announcer {
    return {
      publish: async (owed) => {
        const accepted = owed.filter(() => !this.#random.chance(this.#refusals));
        for (const { event } of accepted) {
          const before = this.#told.get(event.id);
          if (before && JSON.stringify(before) !== JSON.stringify(event))
            this.#findings.push(`two events with the id ${event.id}`);
          this.#told.set(event.id, event);
        }
        const refused = owed
          .filter((one) => !accepted.includes(one))
          .map((one) => ({ owed: one, code: 'InternalError' }));
        return { accepted, refused };
      },
      sendDigest: async (owed) => {
        if (this.#random.chance(this.#refusals)) return { accepted: false, code: 'InternalError' };
        for (const { event } of owed) this.#mailed.add(event.id);
        return { accepted: true };
      },
      notify: async () => {
        if (this.#random.chance(this.#refusals)) return { accepted: false, code: 'InternalError' };
        this.#notices += 1;
        return { accepted: true };
      },
    };
  }

  /** The partner, and a witness to what its reads prove. */
  #witnessed(partner: PartnerReader): PartnerReader {
    const host = this.#host;
    return {
      ...partner,
      prove: async (range, deadline) => {
        const [before, since] = [host.standing(range), host.moment];
        const read = await partner.prove(range, deadline);
        const seen = new Set(read.assessments.map(({ id }) => id));
        const after = host.standing(range);
        for (const id of read.proof ? before : []) {
          const stood = after.has(id) && (host.touchedAt.get(id) ?? 0) <= since;
          if (stood && !seen.has(id)) this.#findings.push(`a proven read lost ${id}`);
        }
        return read;
      },
    };
  }

  /** The ledger, and a witness to what is said about removals. */
  #watched(ledger: Ledger): Ledger {
    const commit: Ledger['commit'] = (change, ...rest) => {
      // Absent when it was asked for, in this tick or one that overlaps it.
      if (change.kind === 'withdrawn' && !this.#host.trulyAbsent.has(change.before.id))
        this.#findings.push(`false withdrawal of ${change.before.id}`);
      return ledger.commit(change, ...rest);
    };
    return new Proxy(ledger, {
      get: (target, name) => {
        if (name === 'commit') return commit;
        const method: unknown = Reflect.get(target, name);
        return typeof method === 'function' ? method.bind(target) : method;
      },
    });
  }

  async #check(): Promise<void> {
    const { items, days } = this.#memory;
    const { expected, unexplained, collapsedFrom } = await this.#memory.state();
    // More than half gone at once: nothing is inferred from that, until ops have looked.
    if (collapsedFrom !== undefined || this.#host.entries.size < expected / 2) return;
    const present = this.#host.entries.size;
    const counted = [...days.values()].reduce((sum, { count }) => sum + count, 0);
    if (expected !== present || counted !== present || unexplained !== 0)
      this.#findings.push(
        `${present} are there, ${expected} expected, ${counted} in the calendar, ${unexplained} unexplained`,
      );
    if (this.#memory.held.length > 0 && this.#notices < 2)
      this.#findings.push('operations were not told of what is held');
    const held = new Map(this.#memory.held.map(({ event }) => [event.id, event]));
    for (const [id, { assessment }] of this.#host.entries) {
      const known = items.get(id)?.certification;
      if (known === undefined) this.#findings.push(`${id} was missed`);
      else if (known.presence !== 'present') this.#findings.push(`${id} is thought withdrawn`);
      else if (known.fingerprint.whole !== fingerprintOf(assessment, 'salt').whole)
        this.#findings.push(`${id} is known as it was before`);
      else if (known.day !== assessment.certified_on) this.#findings.push(`${id} has another day`);
    }
    for (const [id, { certification, outbox }] of items) {
      if (certification.presence === 'present' && !this.#host.entries.has(id))
        this.#findings.push(`${id} is gone and was not withdrawn`);
      if ([...outbox.values()].some((entry) => !entry.held))
        this.#findings.push(`${id} still owes an event`);
      this.#checkAnnouncements(id, certification.revision, held);
    }
    for (const id of this.#told.keys())
      if (!this.#mailed.has(id)) this.#findings.push(`nobody was mailed about ${id}`);
  }

  /** Every revision was announced, or, if it is the first, was there before the baseline was done. */
  #checkAnnouncements(
    id: number,
    revisions: number,
    held: ReadonlyMap<string, CertificationEvent>,
  ): void {
    for (let revision = 1; revision <= revisions; revision++) {
      const eventId = `sim/${id}/${revision}`;
      const event = this.#told.get(eventId) ?? held.get(eventId);
      const isSilent = (this.#host.appearedAt.get(id) ?? 0) <= this.#baselineCompletedAt;
      if (event === undefined && !(revision === 1 && isSilent))
        this.#findings.push(`no event ${eventId}`);
      if (event !== undefined && (revision === 1) !== (event.type === 'certification.created'))
        this.#findings.push(`${eventId} is of the wrong type`);
    }
    if (this.#told.has(`sim/${id}/${revisions + 1}`))
      this.#findings.push(`an event of ${id} that the ledger does not know`);
  }
}
