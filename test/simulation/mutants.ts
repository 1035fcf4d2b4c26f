import { Temporal } from 'temporal-polyfill';
import { compare, stillAgreed } from '../../lambda/decisions/compare.ts';
import { judged } from '../../lambda/decisions/days-read.ts';
import { oddPaths } from '../../lambda/decisions/fingerprint.ts';
import { judge, nothingFound } from '../../lambda/decisions/gate.ts';
import { withdrawing } from '../../lambda/decisions/missing.ts';
import type { RangeRead } from '../../lambda/decisions/partner-reads.ts';
import type { LeasedState, State } from '../../lambda/decisions/state.ts';
import { reachOf } from '../../lambda/errors.ts';
import { PartnerError } from '../../lambda/partner/errors.ts';
import type { Ledger } from '../../lambda/ports/ledger.ts';
import type { PartnerReader } from '../../lambda/ports/partner-reader.ts';
import type { TickSettings } from '../../lambda/settings.ts';
import type { TickParts } from '../../lambda/tick/parts.ts';
import { type LedgerRules, ledgerRules } from '../scaffold/memory-ledger.ts';
import { replacedIn } from '../scaffold/ports.ts';
import { replacing } from '../support/replacements.ts';
import { calmest, crowded, type Plan, restarting, rough } from './plan.ts';

/**
 * A part of the system that is broken on purpose, to show that the simulation or a test notices.
 * The part is a setting, a decision, an answer of the partner or the ledger, or a condition of the
 * ledger's writes.
 */
export interface Mutant {
  readonly breaks: string;
  readonly settings?: (real: TickSettings) => Partial<TickSettings>;
  /** Functions of modules. */
  readonly functions?: Functions;
  /** Of the ledger in memory. */
  readonly ledgerRules?: Partial<LedgerRules>;
  readonly ledger?: (real: Ledger) => Partial<Ledger>;
  readonly partner?: (real: PartnerReader) => Partial<PartnerReader>;
  /** Each tick has a new client, and so no token. */
  readonly forgetsToken?: boolean;
  /**
   * The seed of a life that noticed it when it was measured. A mutant with a story and without a
   * seed has no life.
   */
  readonly seed?: number;
  /** Lives that notice it sooner than others. */
  readonly amid?: Partial<Plan>;
}

/** A newest page shows less than half of it. */
const large: Partial<Plan> = { born: 240 };
/** Indexes that lag for minutes behind ticks that are often killed. */
const lagging: Partial<Plan> = { lagMs: 240_000, kill: 0.04, stories: 0, gaps: 0 };
const no = () => false;
const yes = () => true;

/** A ledger with a changed state. */
function telling(
  told: (state: State) => Partial<Omit<State, 'missing'>>,
): (real: Ledger) => Partial<Ledger> {
  return (real) => ({
    state: async () => {
      const state = await real.state();
      return { ...state, ...told(state) };
    },
    ...remembering((state) => ({ ...state, ...told(state) }))(real),
  });
}

/** A ledger with a changed state for the holder of the lease. */
function remembering(
  told: (state: LeasedState) => LeasedState,
): (real: Ledger) => Pick<Ledger, 'takeLease'> {
  return (real) => ({
    takeLease: async (lease, now) => {
      const state = await real.takeLease(lease, now);
      return state && told(state);
    },
  });
}

/** Only the records with all documented contents. */
function complete<Shown extends Pick<RangeRead, 'assessments' | 'quarantined'>>(
  shown: Shown,
): Shown {
  const odd = shown.assessments.filter((assessment) => oddPaths(assessment).length > 0);
  const quarantined = odd.map(({ id }) => ({ id, problems: ['not as documented'] }));
  return {
    ...shown,
    assessments: shown.assessments.filter((assessment) => !odd.includes(assessment)),
    quarantined: [...shown.quarantined, ...quarantined],
  };
}

/** The modules of test/support/replaceable-functions.ts. */
interface Modules {
  readonly baseline: typeof import('../../lambda/decisions/baseline.ts');
  readonly compare: typeof import('../../lambda/decisions/compare.ts');
  readonly 'day-entries': typeof import('../../lambda/decisions/day-entries.ts');
  readonly 'days-read': typeof import('../../lambda/decisions/days-read.ts');
  readonly gate: typeof import('../../lambda/decisions/gate.ts');
  readonly locate: typeof import('../../lambda/decisions/locate.ts');
  readonly missing: typeof import('../../lambda/decisions/missing.ts');
  readonly 'names-tied': typeof import('../../lambda/decisions/names-tied.ts');
  readonly seam: typeof import('../../lambda/decisions/seam.ts');
  readonly twins: typeof import('../../lambda/decisions/twins.ts');
}

type Functions = { readonly [Path in keyof Modules]?: Partial<Modules[Path]> };

/** By name. */
export const mutants: Readonly<Record<string, Mutant>> = {
  content: {
    breaks: 'a record without all of its content is quarantined',
    seed: 1,
    partner: (real) => ({
      pulse: async (deadline) => complete(await real.pulse(deadline)),
      tail: async (pulse, deadline) => complete(await real.tail(pulse, deadline)),
      prove: async (range, deadline, cursor) => {
        const { proof, ...read } = complete(await real.prove(range, deadline, cursor));
        return read.quarantined.length > 0 || proof === undefined ? read : { ...read, proof };
      },
    }),
  },
  seam: {
    breaks: 'pages follow each other as the API document says, unchecked',
    seed: 2,
    functions: { seam: { holdsAnchor: yes, nextOffset: (at, rows) => at + rows.length } },
    amid: crowded,
  },
  condition: {
    breaks: 'a commit overwrites the commit of another tick',
    seed: 14,
    ledgerRules: { isNext: yes },
    amid: { ...rough, kill: 0, happenings: 8 },
  },
  outbox: {
    breaks: 'a commit does not keep its event',
    seed: 1,
    ledgerRules: { keepsEvent: (destiny) => destiny === 'held' },
  },
  lease: {
    breaks: 'a tick writes on without a condition after another has taken its lease',
    seed: 2074,
    ledgerRules: { leaseSeen: () => 'over', isHeld: yes },
    amid: rough,
  },
  ahead: {
    breaks: 'a lease that was taken in the future is believed until its end',
    seed: 5,
    ledgerRules: {
      leaseSeen: ({ leaseUntil }, now) =>
        leaseUntil && Temporal.Instant.compare(leaseUntil, now) >= 0 ? 'held' : 'over',
    },
    amid: { ahead: 120, kill: 0.08, lies: 0, zombies: 0 },
  },
  newcomers: {
    breaks: 'a certification that appears while the baseline runs is not announced',
    functions: { baseline: { isNewcomer: no } },
  },
  anew: {
    breaks: 'an unknown certification is recorded silently after a restart of the baseline',
    seed: 9,
    ledger: telling(({ baseline: { isAnew: _, ...baseline } }) => ({ baseline })),
    amid: restarting,
  },
  flood: {
    breaks: 'a flood is announced',
    seed: 2,
    settings: () => ({ holdAbove: Number.POSITIVE_INFINITY }),
  },
  hour: {
    breaks: 'the gate forgets the finds of earlier ticks',
    seed: 21,
    ledger: remembering((state) => ({ ...state, gate: nothingFound })),
  },
  agreed: {
    breaks: 'a row of the page that a read has changed since is not asked of the ledger again',
    seed: 24,
    functions: {
      compare: {
        stillAgreed: (rows, _touched, salt) => stillAgreed(rows, new Set(), salt),
      },
    },
  },
  gate: {
    breaks: 'the memory of the gate is written after the changes that it allows',
    ledger: (real) => ({
      saveState: async (changes, lease) =>
        changes.gate !== undefined || real.saveState(changes, lease),
    }),
  },
  again: {
    breaks: 'a change that is found again after a death counts again',
    functions: {
      gate: {
        judge: (memory, ...more) => judge({ ...memory, unsettled: [] }, ...more),
      },
    },
  },
  total: {
    breaks: 'the changes that the total announces are not counted',
    functions: {
      gate: {
        judge: (memory, batch, { known, rest }, ...more) =>
          judge(memory, batch, { known, total: known, rest }, ...more),
      },
    },
  },
  foretold: {
    breaks: 'changes that were held for a false total stay held',
    functions: { gate: { foretoldAfter: (memory) => ({ memory, leaving: [] }) } },
    amid: { stories: 9 },
    seed: 1,
  },
  twins: {
    breaks: 'each row of an id that is there twice counts as its content',
    functions: {
      twins: { twinsIn: () => new Set(), twinsAfter: (known) => known },
      compare: {
        compare: (...[read, known, salt, nowMs, lag]) =>
          compare(read, known, salt, nowMs, lag, new Set(), yes),
      },
    },
    amid: { ...calmest, born: 30, ticks: 12, gaps: 1, twins: 0.5 },
    seed: 1,
  },
  undone: {
    breaks: 'changes that undo each other are held for ever',
    ledgerRules: { isUndone: no },
  },
  told: {
    breaks: 'held events leave the outbox with any change',
    ledgerRules: { isUndone: yes },
  },
  accept: {
    breaks: 'an acceptance by ops is not believed',
    seed: 2,
    ledger: remembering(({ missing, ...state }) => ({
      ...state,
      ...(missing && { missing: { ...missing, accepted: 0 } }),
    })),
  },
  few: {
    breaks: 'any number may vanish',
    seed: 4,
    functions: { missing: { mayGo: yes } },
  },
  looks: {
    breaks: 'the first look is enough',
    functions: { missing: { isAskedFor: yes } },
  },
  sight: {
    breaks: 'a certification that was seen again is still noted as missing',
    functions: { missing: { sighted: (missing) => missing } },
  },
  forgotten: {
    breaks: 'notes from before too many were missing are still there',
    functions: {
      missing: { forgotten: (missing, now) => ({ tooManySince: now, ...missing }) },
    },
  },
  drip: {
    breaks: 'withdrawals of the same day are not remembered',
    functions: {
      missing: {
        withdrawing: (missing, ids, now) => ({ ...withdrawing(missing, ids, now), withdrawn: [] }),
      },
    },
  },
  believed: {
    breaks: 'a certification that two looks lacked is gone, even if its id shows it',
    partner: () => ({ get: async () => undefined }),
  },
  touch: {
    breaks: 'a day is in the calendar only after its certifications are committed',
    seed: 2,
    ledger: () => ({ touch: async () => undefined }),
  },
  rest: {
    breaks: 'a row that the partner counts and does not show readably is not expected',
    functions: { 'day-entries': { attributeRest: (entries) => entries } },
  },
  elsewhere: {
    breaks: 'a moved certification is not counted on its new day',
    functions: { 'day-entries': { movesElsewhere: () => new Map() } },
  },
  stale: {
    breaks: 'a sight from before the work of another tick is committed after it',
    functions: { locate: { isPulseOutdated: no } },
  },
  locate: {
    breaks: 'differences are left to the audits',
    seed: 1,
    functions: { locate: { locate: function* () {} } },
  },
  searched: {
    breaks:
      'a total that no day explains is believed at once, although replicas have counted the days',
    functions: { locate: { isSearchedAgain: no } },
  },
  leftover: {
    breaks: 'days that a tick has located and not read are forgotten once the total agrees',
    ledger: (real) => ({
      ...telling(() => ({ searching: undefined }))(real),
      saveDays: (days, lease) =>
        real.saveDays(
          new Map([...days].map(([day, { askedAt: _, failures: __, ...entry }]) => [day, entry])),
          lease,
        ),
    }),
  },
  lookups: {
    breaks: 'a lookup that fails ends the tick',
    seed: 8,
    amid: large,
    partner: (real) => ({
      get: async (id, deadline) => {
        try {
          return await real.get(id, deadline);
        } catch (error) {
          throw reachOf(error) === 'request' ? new PartnerError('invalid-call', 'list') : error;
        }
      },
    }),
  },
  audits: {
    breaks: 'nothing is read again without a reason',
    settings: ({ audit }) => ({ audit: { ...audit, requests: 0 } }),
  },
  pace: {
    breaks: 'each tick has to learn the pace anew',
    ledger: telling(() => ({ pace: undefined })),
  },
  apart: {
    breaks: 'days of which a read proved nothing are read together again, time after time',
    functions: { 'day-entries': { separated: (entries) => entries } },
  },
  cursor: {
    breaks: 'a day that does not fit into one tick is begun anew in each',
    ledger: telling(() => ({ cursor: undefined })),
  },
  contradiction: {
    breaks: 'a baseline believes answers that contradict each other',
    seed: 29,
    functions: { 'days-read': { hasRead: yes } },
    amid: { contradicts: 0.3, announce: 0, born: 20, ticks: 6, stories: 0 },
  },
  vain: {
    breaks: 'a read that was cut off counts as one',
    functions: { 'days-read': { judged: (...read) => ({ ...judged(...read), isInVain: false }) } },
  },
  order: {
    breaks: 'an event after an undelivered one does not wait for it',
    ledger: (real) => ({
      commit: async (change, event, now, destiny) => {
        const committed = await real.commit(change, event, now, destiny);
        if (typeof committed !== 'object' || committed.behind !== 'pending') return committed;
        const { behind: _, ...free } = committed;
        return free;
      },
    }),
  },
  older: {
    breaks: 'an answer from before the last change is an update',
    functions: {
      compare: {
        compare: (read, known, ...more) => {
          const anew = [...known].map(([id, { earlier: _, ...one }]) => [id, one] as const);
          return compare(read, new Map(anew), ...more);
        },
      },
    },
  },
  revisit: {
    breaks: 'a change that an older answer may have hidden is left to the audits',
    ledger: (real) => ({
      saveDays: (days, lease) =>
        real.saveDays(
          new Map([...days].map(([day, { dueAt: _, ...entry }]) => [day, entry])),
          lease,
        ),
    }),
  },
  lag: {
    breaks: 'the index of the undelivered is trusted at once',
    ledger: telling(({ dirtySince }) => ({ dirtySince: dirtySince?.subtract({ hours: 1 }) })),
  },
  since: {
    breaks: 'the index is trusted ten minutes after the first of several failures',
    seed: 101,
    amid: lagging,
    ledgerRules: { dirtySince: (now, before) => before ?? now },
  },
  zone: {
    breaks: 'days are those of UTC',
    seed: 3,
    // Kiritimati, fourteen hours ahead of UTC.
    amid: { place: 4 },
    settings: () => ({ timeZone: 'UTC' }),
  },
  token: {
    breaks: 'a tick asks for a token although its process has one',
    seed: 1,
    amid: { ...calmest, born: 3, ticks: 2 },
    forgetsToken: true,
  },
  quiet: {
    breaks: 'a tick in which nothing happened takes a lease',
    seed: 1,
    ledger: telling(() => ({ pulseDigest: undefined })),
  },
};

/** The parts of a tick, as a mutant has them. */
export type BrokenParts = ReturnType<typeof breakParts>;

export function breakParts(mutant: Omit<Mutant, 'breaks'>) {
  const functions = new Map(
    Object.entries(mutant.functions ?? {}).flatMap(([module, replacements]) =>
      Object.entries(replacements).map(
        ([name, one]) => [`decisions/${module}.ts ${name}`, one] as const,
      ),
    ),
  );
  const inPlace = new Set<string>(functions.keys());
  const asked = new Set<string | symbol>();
  const replaced = <Whole extends object>(whole: Whole, replacement: object = {}): Whole => {
    const names = Object.keys(replacement);
    if (names.length === 0) return whole;
    for (const name of names) inPlace.add(name);
    return replacedIn(whole, replacement, (name) => asked.add(name));
  };
  const broken = {
    ledgerRules: replaced(ledgerRules, mutant.ledgerRules),
    forgetsToken: mutant.forgetsToken ?? false,
    settings: (real: TickSettings): TickSettings => ({ ...real, ...mutant.settings?.(real) }),
    partner: (real: PartnerReader) => replaced(real, mutant.partner?.(real)),
    ledger: <Whole extends Ledger>(real: Whole) => replaced(real, mutant.ledger?.(real)),
    /** All parts of a tick, with the real partner and ledger. */
    parts: (real: TickParts): TickParts => ({
      ...real,
      settings: broken.settings(real.settings),
      partner: broken.partner(real.partner),
      ledger: broken.ledger(real.ledger),
    }),
    /** Work of ticks, or of ops, in which the mutant's functions are in force. */
    during: <Result>(work: () => Result): Result =>
      functions.size === 0 ? work() : replacing(functions, asked, work),
    /** Replacements that no part has used: they break nothing. */
    get unasked() {
      return [...inPlace].filter((name) => !asked.has(name));
    },
  };
  return broken;
}

/** Nothing is broken. */
export const intact = breakParts({});
