import * as z from 'zod';
import { deviationNames } from './deviations.ts';

const share = z.number().min(0).max(1);

/** Behaviour of real servers that the document leaves open. All of it is off by default. */
export const switchesSchema = z.strictObject({
  /** Tied rows come in another order with every request. */
  unstableTies: z.boolean(),
  /** The probability of a change (arrival, edit, move, departure, return) before a list request. */
  churn: share,
  /** The share of invented arrivals that were completed days to years ago. */
  backdated: share,
  /** Records carry fields that the document does not name. */
  extraFields: z.boolean(),
  /** The share of records, always the same ones, without a usable id or a valid day. */
  malformed: share,
  /** The share of records, always the same ones, whose content is partly null, missing or of another type. */
  nulls: share,
  /** The share of records, always the same ones, whose rows are longer than 2 MiB. */
  hugeRows: share,
  /**
   * The requests that are answered within a minute, tokens included. Further ones get 429, without `Retry-After`. 0: no
   * limit.
   */
  requestsPerMinute: z.int().min(0).max(1_000_000),
  /**
   * The difference by which `meta.count` is too high, as with records without a day, or with a total that is not
   * updated.
   */
  countOffset: z.int(),
  /** Minutes by which a replica lags. It answers every second request for records, by chance. 0: there is none. */
  replicaLag: z.number().min(0).max(1_440),
  /** Seconds for which an answer of the list is repeated for the same URL. */
  cache: z.number().min(0).max(86_400),
  /** The share of records, always the same ones, whose id still answers after their removal. */
  zombies: share,
  /** Seconds by which the server's clock is ahead (`Date`, `created_at`); ten years at most. */
  clockSkew: z.number().min(-315_360_000).max(315_360_000),
  /** The lifetime of a token in seconds, as the answer says it, too. */
  tokenLifetime: z.number().positive(),
  /** Seconds after which a token that was issued is accepted. */
  tokenDelay: z.number().min(0).max(3_600),
  /** A new token ends the one before it. Only this process counts them. */
  oneToken: z.boolean(),
  /** HTTP Basic credentials are read verbatim, not form-decoded as RFC 6749 2.3.1 requires. */
  basicVerbatim: z.boolean(),
  /** The sort key of `sort=user_name`: the full name, or the family name alone. */
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
  tokenDelay: 0,
  oneToken: false,
  basicVerbatim: false,
  userNameOrder: 'name',
  deviations: [],
};
