import { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import type { DayRange } from '../detection/days.ts';
import { faultOf } from '../errors.ts';
import type { Bookmark, PartnerReader } from '../ports/partner-reader.ts';
import type { PartnerClient } from './client.ts';
import { isCutOff } from './errors.ts';
import type { Stop } from './proven/part.ts';
import { proveRange } from './proven/proven-read.ts';
import type { SeamRules } from './proven/rules.ts';
import { MAX_PAGE_SIZE } from './query.ts';

/** Where the oldest records cannot be read: the reading goes back this far, in ever larger steps. */
const longAgo = '1900-01-01';

/**
 * What the tick asks the partner, in terms of the API.
 *
 * @param rules of proven reads; default: those of `Reading`
 */
export function partnerReader(
  client: Pick<PartnerClient, 'list' | 'get' | 'pace'>,
  clock: Clock,
  rules?: SeamRules,
): PartnerReader {
  const count = async (range: DayRange, deadline: Temporal.Instant) => {
    const { meta } = await client.list({ filter: filterOf(range), page: 1 }, { deadline });
    return meta.count;
  };
  /** `undefined` when the deadline came first, or the pace was spent. */
  const countInTime = async (range: DayRange, deadline: Temporal.Instant) => {
    if (Temporal.Instant.compare(clock.now(), deadline) >= 0) return undefined;
    try {
      return await count(range, deadline);
    } catch (error) {
      if (isCutOff(error)) return undefined;
      throw error;
    }
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

    async prove(range, deadline, bookmark) {
      const start = bookmark && {
        offset: bookmark.offset,
        anchors: new Map(bookmark.anchors.map((id) => [id, undefined])),
        isSweep: bookmark.isSweep ?? false,
      };
      const read = await proveRange(client, range, { clock, deadline, rules }, start);
      const { assessments, quarantined, proof, stoppedAt, requests } = read;
      const seen = { assessments, quarantined, isCutOff: false, requests };
      if (proof) return { ...seen, count: proof.count, proof: proof.kind };
      // Whatever is left of the time: asked for once more, it could be late time after time.
      if (read.count !== undefined) return { ...seen, count: read.count };
      const total = await countInTime(range, deadline);
      if (total !== undefined) return { ...seen, count: total, requests: requests + 1 };
      const isFurther = stoppedAt !== undefined && isBeyond(stoppedAt, start);
      return {
        ...seen,
        isCutOff: true,
        count: Math.max(assessments.length, stoppedAt?.count ?? 0),
        ...(isFurther && { bookmark: bookmarkAt(range, stoppedAt) }),
      };
    },

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

/** Any one of the last page's anchors will do; removals meanwhile may take some. */
const anchorsKept = 30;

function bookmarkAt(range: DayRange, { offset, anchors, isSweep }: Stop): Bookmark {
  const kept = [...anchors.keys()].slice(-anchorsKept);
  return { range, offset, anchors: kept, ...(isSweep && { isSweep }) };
}

/** To have found out that nothing will prove the day is progress, too. */
function isBeyond(stop: Stop, start: Pick<Stop, 'offset' | 'isSweep'> | undefined): boolean {
  return stop.offset > (start?.offset ?? 0) || stop.isSweep !== (start?.isSweep ?? false);
}

function filterOf({ from, to }: DayRange) {
  return {
    ...(from && { start_date: from.toString() }),
    ...(to && { end_date: to.toString() }),
  };
}
