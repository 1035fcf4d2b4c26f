import { Temporal } from 'temporal-polyfill';
import { complete } from '../../../lambda/fan-out/complete.ts';
import type { FanOutParts } from '../../../lambda/fan-out/parts.ts';
import { plan } from '../../../lambda/fan-out/plan.ts';
import { readRange } from '../../../lambda/fan-out/read-range.ts';
import type { PlannedRange } from '../../../lambda/ports/planned-range.ts';
import { Integration } from '../../scaffold/integration.ts';
import { assessment } from '../../support/assessments.ts';

/** An integration whose ticks leave the history to tasks. */
export class FanOutIntegration extends Integration {
  override settings = { baseline: 'fan-out' } as const;
  #tasks = 0;

  get taskParts(): FanOutParts {
    const { parts, fanOut, requestsPerMinute } = this;
    return { ...parts, fanOut, settings: { ...parts.settings, requestsPerMinute } };
  }

  /** The invocation of the next task, which is killed ten minutes from now. */
  run(seconds = 600) {
    this.#tasks += 1;
    return { id: `task-${this.#tasks}`, deadline: this.clock.now().add({ seconds }) };
  }

  /** Plans small ranges of a small history. The first plan that was written stays valid. */
  async divide(days: number): Promise<void> {
    const { before, begunAt } = (await this.ledger.state()).baseline;
    const oldest = await this.partner.oldestDay(this.run().deadline);
    if (before === undefined || begunAt === undefined || oldest === undefined)
      throw new Error('there is nothing to divide');
    const ranges: PlannedRange[] = [];
    for (let end = before; Temporal.PlainDate.compare(end, oldest) > 0; ) {
      const from = end.subtract({ days });
      const isOldest = Temporal.PlainDate.compare(from, oldest) <= 0;
      const to = end.subtract({ days: 1 });
      ranges.push({ begunAt, from, to, sliceDays: 1, ...(isOldest && { isOldest }) });
      end = from;
    }
    await this.fanOut.keepPlan(begunAt, ranges);
  }

  plan() {
    return plan(this.taskParts, this.run());
  }

  read(range: PlannedRange, parts: Partial<FanOutParts> = {}, seconds?: number, atOnce = 4) {
    return readRange({ ...this.taskParts, ...parts }, range, this.run(seconds), atOnce);
  }

  complete(parts: Partial<FanOutParts> = {}) {
    return complete({ ...this.taskParts, ...parts }, this.run());
  }

  /** Reads the rest of the plan to its end. */
  async readAll() {
    const { left } = await this.plan();
    for (const range of left) while (!(await this.read(range)).isDone);
  }

  async calendar() {
    const { years } = await this.ledger.state();
    return this.ledger.calendar(years);
  }
}

/** So many assessments, a few a day, back from the newest day. */
export function history(records: number, newest: string, aDay = 8) {
  return Array.from({ length: records }, (_, index) =>
    assessment({
      id: index + 1,
      certified_on: Temporal.PlainDate.from(newest)
        .subtract({ days: Math.floor(index / aDay) })
        .toString(),
    }),
  );
}
