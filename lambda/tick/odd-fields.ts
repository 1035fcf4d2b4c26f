import { type OddPaths, oddPaths, withMet } from '../detection/odd-fields.ts';
import type { Assessment } from '../events/assessment.ts';
import type { PartnerReader } from '../ports/partner-reader.ts';

/** Enough to look at; the log is not to hold a list of everybody. */
const idsShown = 10;

/** The fields of announceable records that are not as documented, among all that a tick is shown. */
export class OddFields {
  readonly #met = new Map<string, Set<number>>();

  /** The same partner; what it shows is noted. */
  watching(partner: PartnerReader): PartnerReader {
    return {
      pace: partner.pace,
      pulse: async (deadline) => this.#noted(await partner.pulse(deadline)),
      tail: async (pulse, deadline) => this.#noted(await partner.tail(pulse, deadline)),
      count: (range, deadline) => partner.count(range, deadline),
      oldestDay: (deadline) => partner.oldestDay(deadline),
      prove: async (range, deadline, bookmark) =>
        this.#noted(await partner.prove(range, deadline, bookmark)),
      get: async (id, deadline) => {
        const record = await partner.get(id, deadline);
        if (record !== undefined && record !== 'unreadable') this.#note(record);
        return record;
      },
    };
  }

  get isNoneMet(): boolean {
    return this.#met.size === 0;
  }

  /** What is known now, and the ids of some records by each path that was not known before. */
  learned(known: OddPaths, nowMs: number) {
    const news = [...this.#met].filter(([path]) => !Object.hasOwn(known, path));
    return {
      paths: withMet(known, this.#met, nowMs),
      news: news.map(([path, ids]) => ({
        path,
        records: ids.size,
        ids: [...ids].slice(0, idsShown),
      })),
    };
  }

  #noted<Shown extends { readonly assessments: readonly Assessment[] }>(shown: Shown): Shown {
    for (const assessment of shown.assessments) this.#note(assessment);
    return shown;
  }

  #note(assessment: Assessment): void {
    for (const path of oddPaths(assessment)) {
      const ids = this.#met.get(path) ?? new Set();
      this.#met.set(path, ids.add(assessment.id));
    }
  }
}
