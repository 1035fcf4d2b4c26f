import * as z from 'zod';
import { parseRequest } from './parse.ts';
import type { Random } from './random.ts';

export const faultKinds = [
  'too-many-requests',
  'server-error',
  'unauthorized',
  'html',
  'truncated',
  'oversized',
  'redirect',
  'reset',
  'reset-mid-body',
  'slow-headers',
  'slow-body',
  'malformed-record',
] as const;

/** The target of a request; `api` stands for `list` and `record`. */
export const routes = ['token', 'list', 'record'] as const;
export type Route = (typeof routes)[number];

const orderSchema = z.strictObject({
  kind: z.enum(faultKinds),
  /** The number of requests that it strikes; default 1. */
  times: z
    .union([z.int().positive(), z.literal('always')], {
      error: "expected a positive whole number or 'always'",
    })
    .default(1),
  /** The probability that it strikes each of them; default 1. */
  probability: z.number().min(0).max(1).default(1),
  on: z.enum([...routes, 'api', 'any']).default('api'),
  /** The number of requests that pass first. */
  after: z.int().min(0).default(0),
  /** `server-error` (default 503), `html` (default 502) and `redirect` (default 302). */
  status: z.int().min(200).max(599).optional(),
  /** `too-many-requests` (default 1) and `server-error`: `Retry-After`, seconds. */
  retryAfter: z.int().min(0).max(86_400).optional(),
  /** Writes `Retry-After` as an HTTP date. */
  retryAfterAsDate: z.boolean().default(false),
  /** `oversized`: the blank space after the answer, in bytes; default 64 MiB. */
  bytes: z
    .int()
    .min(1)
    .default(64 * 2 ** 20),
  /** `redirect`: the target; default another name of this machine, where nothing listens. */
  location: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'expected visible ASCII characters, as in a header')
    .default('http://localhost:9/api/v1/ax/assessments'),
  /** `slow-headers`, `slow-body`: milliseconds, default 1000. */
  ms: z.int().min(0).default(1000),
});

/** Statuses whose answers have no body, while every fault but `redirect` writes one. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** A fault that strikes the next requests. */
export const faultSchema = orderSchema
  .refine(({ kind, status = 0 }) => kind === 'redirect' || !bodiless.has(status), {
    path: ['status'],
    error: 'this status has no body',
  })
  .refine(({ kind, on }) => kind !== 'unauthorized' || on !== 'token', {
    path: ['on'],
    error: 'a token request carries no token to refuse',
  });

/** The input of a fault; everything but the kind has a default. */
export type FaultOrder = z.input<typeof faultSchema>;
export type SandboxFault = z.output<typeof faultSchema>;

/** The pending faults, in the order in which they were injected. */
export class FaultQueue {
  readonly #random: Random;
  #pending: { fault: SandboxFault; skip: number; left: number }[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** @throws SandboxRequestError */
  inject(order: FaultOrder): void {
    const fault = parseRequest(faultSchema, order);
    const left = fault.times === 'always' ? Infinity : fault.times;
    this.#pending.push({ fault, skip: fault.after, left });
  }

  clear(): void {
    this.#pending = [];
  }

  get pending(): readonly SandboxFault[] {
    return this.#pending.map(({ fault, left }) => ({
      ...fault,
      times: left === Infinity ? 'always' : left,
    }));
  }

  /** The fault that strikes this request, if any. At most one does. */
  take(route: Route): SandboxFault | undefined {
    for (const entry of this.#pending) {
      const { kind, on, probability } = entry.fault;
      if (kind === 'unauthorized' && route === 'token') continue;
      const concerns = on === 'any' || on === route || (on === 'api' && route !== 'token');
      if (!concerns || entry.skip-- > 0 || !this.#random.chance(probability)) continue;
      entry.left--;
      if (entry.left === 0) this.#pending = this.#pending.filter((other) => other !== entry);
      return entry.fault;
    }
    return undefined;
  }
}
