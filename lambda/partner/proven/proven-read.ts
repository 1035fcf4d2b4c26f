import type { DayRange } from '../../detection/days.ts';
import type { Bookmark, RangeRead } from '../../ports/partner-reader.ts';
import type { PartnerClient } from '../client.ts';
import { readPart, type Stop, seeRest } from './part.ts';
import { type ProvenReadOptions, Reading } from './reading.ts';

/**
 * Reads a range of days so that it can be said to be complete, or says that it cannot: see
 * docs/proven-reads.md. A range of up to 99 records costs one request.
 *
 * Every record that was in the range throughout a proven read, under an unchanged name, is among its
 * assessments; if the proof is `split`, save those that went from one part to another meanwhile.
 *
 * @param bookmark where an earlier read of the same range stopped: this one returns the rest, which
 * is not all, and so is never a proof
 * @throws {PartnerError} what `client.list` throws, save for the deadline, which ends the read as
 * unproven with what was seen
 */
export async function proveRange(
  client: Pick<PartnerClient, 'list'>,
  range: DayRange,
  options: ProvenReadOptions,
  bookmark?: Bookmark,
): Promise<RangeRead> {
  const reading = new Reading(client, options);
  const part = { range, filter: {} };
  const start = bookmark && {
    offset: bookmark.offset,
    anchors: new Map(bookmark.anchors.map((id) => [id, undefined])),
  };
  let read = bookmark?.isSweep
    ? await seeRest(reading, part, bookmark.offset)
    : await readPart(reading, part, start);
  const isBegunAnew = reading.nameOrder?.mistaken ?? false;
  if (isBegunAnew) {
    reading.nameOrder = undefined;
    read = await readPart(reading, part);
  }
  const isWhole = bookmark === undefined || isBegunAnew;
  const { proof, stoppedAt } = read;
  // One that is quarantined may be of any day of the range.
  const isProven = proof !== undefined && isWhole && reading.quarantined.length === 0;
  // What was seen, not what the host counts, which may include what came too late. Unproven, it is asked for at
  // once, in what is left of the time: it could be late time after time.
  const count = isProven ? reading.assessments.length : (read.count ?? (await reading.count(part)));
  const { assessments, quarantined, requests } = reading;
  const seen = { assessments, quarantined, requests, isCutOff: count === undefined };
  if (count !== undefined) return { ...seen, count, ...(isProven && { proof }) };
  return {
    ...seen,
    count: Math.max(assessments.length, stoppedAt?.count ?? 0),
    ...(stoppedAt && isBeyond(stoppedAt, bookmark) && { bookmark: bookmarkAt(range, stoppedAt) }),
  };
}

/** Any one of the last page's anchors will do; removals meanwhile may take some. */
const anchorsKept = 30;

function bookmarkAt(range: DayRange, { offset, anchors, isSweep }: Stop): Bookmark {
  const kept = [...anchors.keys()].slice(-anchorsKept);
  return { range, offset, anchors: kept, ...(isSweep && { isSweep }) };
}

/** To have found out that nothing will prove the day is progress, too. */
function isBeyond(stop: Stop, start: Bookmark | undefined): boolean {
  return stop.offset > (start?.offset ?? 0) || stop.isSweep !== (start?.isSweep ?? false);
}
