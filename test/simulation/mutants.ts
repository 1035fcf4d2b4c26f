import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import type { LifeOptions } from './simulate.ts';

/** A part of the system that is broken on purpose, to show that the simulation notices. */
export interface Mutant {
  readonly breaks: string;
  /** From the repository's root. */
  readonly file: string;
  /** Each text must be there exactly once. */
  readonly edits: readonly (readonly [from: string, to: string])[];
  /** Lives, from the first seed on, until one noticed, when it was measured; otherwise a test does. */
  readonly lives?: number;
  /** Lives in which it is seen sooner than in others. */
  readonly amid?: LifeOptions;
}

const examination = 'lambda/steps/examination.ts';
const memoryLedger = 'test/support/memory-ledger.ts';

/** By name. */
export const mutants: Readonly<Record<string, Mutant>> = {
  seam: {
    breaks: 'pages follow each other as the API document says, unchecked',
    lives: 1,
    file: 'lambda/detection/seam.ts',
    edits: [
      [
        '  return rows.some(\n    (row) =>\n      row !== undefined &&',
        '  return true || rows.some(\n    (row) =>\n      row !== undefined &&',
      ],
      ['Math.max(0, lastBelow(rows) - slack)', 'rows.length'],
    ],
    amid: { crowded: true },
  },
  canary: {
    breaks: 'a 404 is believed although nothing can be fetched by its id',
    lives: 2,
    file: 'lambda/steps/confirmation.ts',
    edits: [
      [
        'async singleRecordsWork(): Promise<boolean> {',
        'async singleRecordsWork(): Promise<boolean> {\n    if (this) return true;',
      ],
    ],
    amid: { host: { singleRecordsBroken: true } },
  },
  condition: {
    breaks: 'a commit overwrites what another tick has committed',
    lives: 8,
    file: memoryLedger,
    edits: [['if ((item?.certification.revision ?? 0) !== revision - 1) return undefined;', '']],
    amid: { rough: true },
  },
  outbox: {
    breaks: 'a commit does not keep its event',
    lives: 1,
    file: memoryLedger,
    edits: [
      [
        '    outbox.set(revision, { owed, held:',
        "    if (destiny === 'held') outbox.set(revision, { owed, held:",
      ],
    ],
  },
  lease: {
    breaks: 'two ticks hold the lease at the same time',
    lives: 21,
    file: memoryLedger,
    edits: [['if (isTaken && this.#leasedUntil >= now.epochMilliseconds) return undefined;', '']],
    amid: { rough: true },
  },
  newcomers: {
    breaks: 'what appears while the baseline runs is not announced',
    file: 'lambda/steps/baseline.ts',
    edits: [['else await announceNewcomers(context, pulse, startDay);', '']],
  },
  anew: {
    breaks: 'what nobody knows is recorded silently when everything is read anew',
    lives: 7,
    file: 'lambda/steps/baseline.ts',
    edits: [['state.baseline.isAnew === true || isAnnounced', 'isAnnounced']],
    amid: { restarts: true },
  },
  doubtful: {
    breaks: 'most of a day may vanish like anything else',
    lives: 1,
    file: examination,
    edits: [['difference.known >= doubtfulFrom &&', 'false &&']],
  },
  flood: {
    breaks: 'a flood is announced',
    lives: 2,
    file: 'lambda/steps/flood-guard.ts',
    edits: [['=>\n      this.#isFlooded ||\n      doubtful ||', '=>\n      doubtful ||']],
  },
  collapse: {
    breaks: 'a total that collapses is believed',
    lives: 1,
    file: 'lambda/detection/total.ts',
    edits: [['return count < before / 2;', 'return false;']],
  },
  accept: {
    breaks: 'a total that operators have accepted is not believed',
    lives: 13,
    file: 'lambda/detection/total.ts',
    edits: [
      ['const isRight = accepted !== undefined &&', 'const isRight = accepted?.total === -1 &&'],
    ],
  },
  back: {
    breaks: 'an accepted total is believed again after most of what had gone was back',
    lives: 41,
    file: 'lambda/detection/total.ts',
    edits: [
      [
        'accepted !== undefined && count - accepted.total >',
        'accepted?.total === -1 && count - accepted.total >',
      ],
    ],
  },
  touch: {
    breaks: 'a day is in the calendar only after its certifications are committed',
    lives: 3,
    file: 'lambda/steps/calendar-days.ts',
    edits: [['if (zeros.size === 0) return;', 'if (zeros.size >= 0) return;']],
  },
  rest: {
    breaks: 'what the partner counts and does not show readably is not expected',
    lives: 119,
    file: examination,
    edits: [['if (!proof) attributeRest(entries, days, read);', '']],
  },
  elsewhere: {
    breaks: 'what has moved is not counted where it went',
    file: examination,
    edits: [['movesElsewhere(done, entries));', 'new Map());']],
  },
  proofs: {
    breaks: 'a day is called proven although the ledger does not agree with it',
    file: examination,
    edits: [['forgetProofs(entries, confirmed.standing,', 'void ([confirmed.standing],']],
  },
  stale: {
    breaks: 'what was seen before another tick was at work is committed after it',
    file: 'lambda/tick.ts',
    edits: [
      [
        'if (leased.heartbeat !== state.heartbeat || leased.dirtySince !== undefined)',
        'if (false)',
      ],
    ],
  },
  locate: {
    breaks: 'differences are left to the audits',
    lives: 1,
    file: 'lambda/steps/survey.ts',
    edits: [['!context.differs || (await search.differences(pulse.count, state.trail))', 'true']],
  },
  unexplained: {
    breaks: 'what came while a tick was reading is taken for a total that lies',
    lives: 4,
    file: 'lambda/steps/survey.ts',
    edits: [
      ['if (!differs) return state.unexplained;', ''],
      ['if (now === calendar.total) return 0;', ''],
      [
        'return now === total ? unexplained : undefined;',
        'return now === 0 ? undefined : unexplained;',
      ],
    ],
  },
  leftover: {
    breaks: 'what a tick had left over is forgotten once the total agrees',
    file: 'lambda/tick.ts',
    edits: [['!page.isAll || state.hasMoreToFind;', '!page.isAll;']],
  },
  lookups: {
    breaks: 'a lookup that fails ends the tick',
    lives: 10,
    file: 'lambda/steps/confirmation.ts',
    edits: [['if (!isLocalFailure(error)) throw error;', 'if (id) throw error;']],
  },
  part: {
    breaks: 'what is left of most of a day may vanish like anything else',
    lives: 10,
    file: examination,
    edits: [['if (doubtful && (!isSettled ||', 'if (false && (!isSettled ||']],
  },
  audits: {
    breaks: 'nothing is read again without a reason',
    lives: 1,
    file: 'lambda/steps/search.ts',
    edits: [['while (budget.requests > 0) {', 'while (false) {']],
  },
  turns: {
    breaks: 'a read that does not fit into one tick begins with the same half each time',
    file: examination,
    edits: [['readAt(earlier) < readAt(later)', 'false']],
  },
  vain: {
    breaks: 'a read that was cut off counts as one',
    file: examination,
    edits: [['this.wasInVain || limit.noteIfReached()', 'limit.noteIfReached()']],
  },
  order: {
    breaks: 'what follows an event that has not gone out yet does not wait for it',
    lives: 217,
    file: 'lambda/steps/delivery.ts',
    edits: [['const isFree = isNext &&', 'const isFree = true || isNext &&']],
  },
  lag: {
    breaks: 'the index of the undelivered is trusted at once',
    lives: 16,
    file: 'lambda/steps/index-lag.ts',
    edits: [['export const indexLagMinutes = 10;', 'export const indexLagMinutes = 0;']],
  },
  since: {
    breaks: 'the index is trusted ten minutes after the first of several failures',
    lives: 16,
    file: memoryLedger,
    edits: [['dirtySince: now };', 'dirtySince: state.dirtySince ?? now };']],
  },
  zone: {
    breaks: 'days are those of UTC',
    lives: 31,
    file: 'lambda/detection/days.ts',
    edits: [['now.toZonedDateTimeISO(timeZone)', "now.toZonedDateTimeISO('UTC')"]],
  },
  quiet: {
    breaks: 'a tick in which nothing happened takes a lease',
    lives: 1,
    file: 'lambda/tick.ts',
    edits: [['if (this.#isQuiet(state, pulse)) return', 'if (false) return']],
  },
};

const root = new URL('../../', import.meta.url);

/** @throws Error when the source has changed so that the mutant no longer applies */
export function mutated(name: string, { file, edits }: Mutant): string {
  let source = readFileSync(new URL(file, root), 'utf8');
  for (const [from, to] of edits) {
    if (source.split(from).length !== 2)
      throw new Error(`mutant "${name}" does not apply: ${file} has changed`);
    source = source.replace(from, () => to);
  }
  return source;
}

/** From now on the module is loaded as the mutant has it: for a process that does nothing else. */
export function mutate(name: string): void {
  const mutant = mutants[name];
  if (mutant === undefined)
    throw new Error(`no such mutant; there are ${Object.keys(mutants).join(', ')}`);
  const source = mutated(name, mutant);
  const { href } = new URL(mutant.file, root);
  registerHooks({
    load: (url, context, nextLoad) =>
      url === href
        ? { format: 'module-typescript', source, shortCircuit: true }
        : nextLoad(url, context),
  });
}
