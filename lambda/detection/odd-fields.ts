import * as z from 'zod/mini';
import type { Assessment } from '../events/assessment.ts';
import { documentedFields, documentedOfParts } from './fingerprint.ts';

/**
 * The paths at which a record has no value that the document allows: null, absent, or of another type, in the place
 * of which its reader has put null. Of an educator without a State Educator ID, null is documented.
 */
export function oddPaths(assessment: Assessment): string[] {
  const paths: string[] = documentedFields.filter((field) =>
    field === 'seid' ? assessment.seid === undefined : (assessment[field] ?? null) === null,
  );
  for (const part of assessment.results ?? [])
    for (const field of documentedOfParts)
      if ((part[field] ?? null) === null) paths.push(`results[].${field}`);
  return [...new Set(paths)];
}

/** What is known of each path: when a tick last met such records, and the most that one tick has met. */
export const oddPathsKnown = z.readonly(
  z.record(
    z.string(),
    z.readonly(
      z.object({
        /** Milliseconds since the epoch. */
        at: z.number(),
        records: z.int(),
      }),
    ),
  ),
);

export type OddPaths = z.output<typeof oddPathsKnown>;

/** The ids of the records that a tick has met, by path. */
export type MetPaths = ReadonlyMap<string, ReadonlySet<number>>;

export function withMet(known: OddPaths, met: MetPaths, nowMs: number): OddPaths {
  const paths = new Map(Object.entries(known));
  for (const [path, { size }] of met)
    paths.set(path, { at: nowMs, records: Math.max(size, paths.get(path)?.records ?? 0) });
  return Object.fromEntries([...paths].sort(([one], [other]) => one.localeCompare(other)));
}

/** Whether every day was read since such a record was last met. */
export function isOver(known: OddPaths, readAt: readonly number[]): boolean {
  const lastMet = Math.max(0, ...Object.values(known).map(({ at }) => at));
  return readAt.every((at) => at > lastMet);
}
