import { Temporal } from 'temporal-polyfill';
import { faultOf } from '../errors.ts';
import type { PartnerReader } from '../ports/partner-reader.ts';
import { MAX_PAGE_SIZE } from './api.ts';
import type { PartnerClient } from './client.ts';
import { proveRange } from './proven/proven-read.ts';
import { dateFilters, type HostPages, notePulse } from './proven/reading.ts';

/** If the oldest records cannot be read, the baseline goes back this far, in ever larger steps. */
const longAgo = '1900-01-01';

/** Turns the tick's questions into requests to the API. */
export function partnerReader(client: Pick<PartnerClient, 'list' | 'get' | 'pace'>): PartnerReader {
  const host: HostPages = {};
  const byDay = { sort: 'certified_on', page: MAX_PAGE_SIZE } as const;
  return {
    pace: client.pace,

    async pulse(deadline) {
      const whole = await client.list({ ...byDay, order: 'DESC' }, { deadline });
      notePulse(host, whole);
      const { meta, ...page } = whole;
      return { ...page, count: meta.count };
    },

    async tail({ count, assessments, quarantined }, deadline) {
      // As many rows as a page of this host has.
      const offset = Math.max(0, count - assessments.length - quarantined.length);
      const { meta, ...page } = await client.list({ ...byDay, order: 'ASC', offset }, { deadline });
      return { ...page, count: meta.count };
    },

    async count(range, deadline) {
      const { meta } = await client.list({ filter: dateFilters(range), page: 1 }, { deadline });
      return meta.count;
    },

    async oldestDay(deadline) {
      const { assessments, meta } = await client.list({ ...byDay, order: 'ASC' }, { deadline });
      if (meta.count === 0) return undefined;
      const [oldest] = assessments;
      return Temporal.PlainDate.from(oldest?.certified_on ?? longAgo);
    },

    prove: (range, deadline, bookmark) => proveRange(client, range, deadline, bookmark, host),

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
