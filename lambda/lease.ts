import type { Temporal } from 'temporal-polyfill';
import type { Lease } from './ports/state.ts';

/** A lease outlives its invocation by a little, so that two never hold it at once. */
const slackSeconds = 5;

/** @param owner of which there is one alone: the invocation's id @param killedAt when that is */
export function leaseOf(owner: string, killedAt: Temporal.Instant): Lease {
  return { owner, until: killedAt.add({ seconds: slackSeconds }) };
}
