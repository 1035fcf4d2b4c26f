import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import type { DayRange } from '../detection/days.ts';
import { faultOf } from '../errors.ts';
import type { PartnerReader } from '../ports/partner-reader.ts';
import type { PartnerClient } from './client.ts';
import { proveRange } from './proven/proven-read.ts';
import { dateFilters } from './proven/reading.ts';
import type { SeamRules } from './proven/rules.ts';
import { MAX_PAGE_SIZE } from './query.ts';

/** Where the oldest records cannot be read: the reading goes back this far, in ever larger steps. */
const longAgo = '1900-01-01';

/**
 * What the tick asks the partner, in terms of the API.
 *
 * @param rules of proven reads; default: `seamRules`
 */
export function partnerReader(
  client: Pick<PartnerClient, 'list' | 'get' | 'pace'>,
  clock: Clock,
  rules?: SeamRules,
): PartnerReader {
  const count = async (range: DayRange, deadline: Temporal.Instant) => {
    const { meta } = await client.list({ filter: dateFilters(range), page: 1 }, { deadline });
    return meta.count;
  };
  const pageByDay = async (order: 'ASC' | 'DESC', offset: number, deadline: Temporal.Instant) => {
    const { assessments, quarantined, meta } = await client.list(
      { sort: 'certified_on', order, page: MAX_PAGE_SIZE, ...(offset > 0 && { offset }) },
      { deadline },
    );
    return { assessments, quarantined, count: meta.count };
  };
  return {
    pace: client.pace,
    pulse: (deadline) => pageByDay('DESC', 0, deadline),
    tail: ({ count: total }, deadline) =>
      pageByDay('ASC', Math.max(0, total - MAX_PAGE_SIZE), deadline),
    count,

    async oldestDay(deadline) {
      const { assessments, count: total } = await pageByDay('ASC', 0, deadline);
      if (total === 0) return undefined;
      const [oldest] = assessments;
      return Temporal.PlainDate.from(oldest?.certified_on ?? longAgo);
    },

    prove: (range, deadline, bookmark) =>
      proveRange(client, range, { clock, deadline, rules }, bookmark),

    async get(id, deadline) {
      try {
        return await client.get(id, { deadline });
      } catch (error) {
        if (faultOf(error) === 'record') return 'unreadable';
        throw error;
      }
    },
  };
}
