import * as z from 'zod';
import { deviationNames } from './deviations.ts';

const share = z.number().min(0).max(1);

/** Behaviour of real servers that the document leaves open; all of it is off unless asked for. */
export const switchesSchema = z.strictObject({
  /** Rows that tie come in another order with every request. */
  unstableTies: z.boolean(),
  /** How likely the world changes (arrival, edit, move, departure, return) before a list request. */
  churn: share,
  /** Share of invented arrivals that are completed days to years ago. */
  backdated: share,
  /** Records carry fields that the document does not name. */
  extraFields: z.boolean(),
  /** Share of the records, always the same ones, that have no usable id or no valid day. */
  malformed: share,
  /** Share of the records, always the same ones, of which some content is null, missing or of another type. */
  nulls: share,
  /** Share of the records, always the same ones, whose rows are longer than 2 MiB. */
  hugeRows: share,
  /**
   * Requests that are answered within any minute, tokens included; more get 429, without `Retry-After`. 0: any
   * number.
   */
  requestsPerMinute: z.int().min(0).max(1_000_000),
  /** So many more `meta.count` says than there are: records of no day, or a total that is not kept up. */
  countOffset: z.int(),
  /** Minutes by which a replica is behind. It answers every other request for records, by chance. 0: none does. */
  replicaLag: z.number().min(0).max(1_440),
  /** Seconds for which an answer of the list is kept, and given again to the same URL. */
  cache: z.number().min(0).max(86_400),
  /** Share of the records, always the same ones, that are still served by their id when they have been removed. */
  zombies: share,
  /** Seconds by which the server's clock is ahead (`Date`, `created_at`); ten years at most. */
  clockSkew: z.number().min(-315_360_000).max(315_360_000),
  /** Seconds that a token lives, and says it lives. */
  tokenLifetime: z.number().positive(),
  /** HTTP Basic credentials are taken as they are, not form-decoded as RFC 6749 2.3.1 has it. */
  basicVerbatim: z.boolean(),
  /** The key that `sort=user_name` compares: the full name, or the family name alone. */
  userNameOrder: z.enum(['name', 'last_name']),
  /** Deliberate contradictions of the document, by name (deviations.ts). */
  deviations: z.array(z.enum(deviationNames)),
});

export type Switches = z.output<typeof switchesSchema>;

export const defaultSwitches: Switches = {
  unstableTies: false,
  churn: 0,
  backdated: 0,
  extraFields: false,
  malformed: 0,
  nulls: 0,
  hugeRows: 0,
  requestsPerMinute: 0,
  countOffset: 0,
  replicaLag: 0,
  cache: 0,
  zombies: 0,
  clockSkew: 0,
  tokenLifetime: 7200,
  basicVerbatim: false,
  userNameOrder: 'name',
  deviations: [],
};
