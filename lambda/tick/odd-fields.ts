import { type MetPaths, oddPaths } from '../detection/odd-fields.ts';
import type { Assessment } from '../events/assessment.ts';
import type { PartnerReader } from '../ports/partner-reader.ts';

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

  get met(): MetPaths {
    return this.#met;
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
