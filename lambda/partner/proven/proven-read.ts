import type { Temporal } from 'temporal-polyfill';
import type { DayRange } from '../../detection/days.ts';
import type { SeamKey } from '../../detection/names-tied.ts';
import type { Assessment } from '../../events/assessment.ts';
import type { PartnerClient } from '../client.ts';
import type { Quarantined } from '../records.ts';
import type { ChainStart } from './chain.ts';
import { readPart, type Stop, seeRest } from './part.ts';
import { type ProvenReadOptions, Reading } from './reading.ts';

/** The certificate that a range of days is complete: see docs/proven-reads.md. */
export interface Proof {
  /**
   * `single-page`: one answer held everything. `key-seam`: pages in the order of one key, each
   * joined to those before. `split`: parts, each proven by one of these.
   */
  readonly kind: 'single-page' | 'key-seam' | 'split';
  /** Of a `key-seam`. */
  readonly key?: SeamKey;
  /** Distinct records that were seen. Not the host's count, which may include what came too late. */
  readonly count: number;
  /** Calls of `list` that it took, as many as the read made. */
  readonly requests: number;
  readonly provenAt: Temporal.Instant;
}

export interface RangeRead {
  /** Every assessment that was seen, once, as it was last read; no order. */
  readonly assessments: readonly Assessment[];
  /** Every record that was seen and, when last read, could not be announced. */
  readonly quarantined: readonly Quarantined[];
  /**
   * Every record that was in the range throughout, under an unchanged name, is among the above;
   * if the proof's kind is `split`, save those that went from one part to another meanwhile.
   */
  readonly allSeen: boolean;
  /**
   * Undefined: unproven, and nothing may be inferred from what is not there. Also undefined when a
   * record was quarantined, since it may be of any day of the range; `allSeen` then still says
   * whether to read the range's other days again is of any use.
   */
  readonly proof: Proof | undefined;
  /** Where it stopped because time or requests ran out: a later read can go on there. */
  readonly stoppedAt?: Stop;
  /** What the host counted for the range at the end of the read, if one answer says so. */
  readonly count?: number;
  /** Calls of `list`, proven or not. */
  readonly requests: number;
}

/**
 * Reads a range of days so that it can be said to be complete, or says that it cannot.
 * A range of up to 99 records costs one request.
 *
 * @param start where an earlier read of the same range stopped: this one returns the rest, which
 * is not all, and so is never a proof
 * @throws {PartnerError} what `client.list` throws, save for the deadline, which ends the read as
 * unproven with what was seen
 */
export async function proveRange(
  client: Pick<PartnerClient, 'list'>,
  range: DayRange,
  options: ProvenReadOptions,
  start?: ChainStart & Pick<Stop, 'isSweep'>,
): Promise<RangeRead> {
  const reading = new Reading(client, options);
  const part = { range, filter: {} };
  let isWhole = start === undefined;
  let { means, stoppedAt, count } = start?.isSweep
    ? await seeRest(reading, part, start.offset)
    : await readPart(reading, part, start);
  if (reading.mistaken) {
    reading.distrustNames();
    ({ means, stoppedAt, count } = await readPart(reading, part));
    isWhole = true;
  }
  const { assessments, quarantined, requests } = reading;
  return {
    assessments,
    quarantined,
    allSeen: isWhole && means !== undefined,
    proof:
      isWhole && means && quarantined.length === 0
        ? { ...means, count: assessments.length, requests, provenAt: reading.now() }
        : undefined,
    ...(stoppedAt && { stoppedAt }),
    ...(count !== undefined && { count }),
    requests,
  };
}
