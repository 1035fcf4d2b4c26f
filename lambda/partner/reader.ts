import { Temporal } from 'temporal-polyfill';
import { faultOf } from '../errors.ts';
import type { PartnerReader } from '../ports/partner-reader.ts';
import { MAX_PAGE_SIZE } from './api.ts';
import type { PartnerClient } from './client.ts';
import { proveRange } from './proven/proven-read.ts';
import { dateFilters } from './proven/reading.ts';

/** If the oldest records cannot be read, the baseline goes back this far, in ever larger steps. */
const longAgo = '1900-01-01';

/** Fewer rows say nothing about a cap: so few may be all that there are, at a total that is too high. */
const leastCap = 10;

/** Turns the tick's questions into requests to the API. */
export function partnerReader(client: Pick<PartnerClient, 'list' | 'get' | 'pace'>): PartnerReader {
  const byDay = { sort: 'certified_on', page: MAX_PAGE_SIZE } as const;
  let cap = MAX_PAGE_SIZE;
  return {
    pace: client.pace,

    async pulse(deadline) {
      const page = await client.list({ ...byDay, order: 'DESC' }, { deadline });
      const { rows, meta } = page;
      // Each tick's first page shows the cap, so that no read needs requests to learn it: at a few
      // requests a minute, none would get on.
      const isShort = rows !== meta.page && rows < Math.min(MAX_PAGE_SIZE, meta.count);
      cap = isShort && rows >= leastCap ? rows : MAX_PAGE_SIZE;
      return { ...page, count: meta.count };
    },

    async tail({ count, assessments, quarantined }, deadline) {
      // As many rows as a page of this host has.
      const offset = Math.max(0, count - assessments.length - quarantined.length);
      const page = await client.list({ ...byDay, order: 'ASC', offset }, { deadline });
      return { ...page, count: page.meta.count };
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

    prove: (range, deadline, bookmark) => proveRange(client, range, deadline, bookmark, cap),

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
