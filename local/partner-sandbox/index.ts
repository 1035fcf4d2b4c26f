import { createServer, type Server } from 'node:http';
import * as z from 'zod';
import { type Clock, systemClock } from '../../lambda/clock.ts';
import { Api } from './api.ts';
import { SandboxPortTakenError } from './errors.ts';
import { type FaultOrder, FaultQueue, type SandboxFault } from './faults.ts';
import { parseRequest } from './parse.ts';
import { seededRandom } from './random.ts';
import { RandomChanges } from './random-changes.ts';
import { type LoggedRequest, RequestLog } from './request-log.ts';
import { requestListener } from './server.ts';
import { defaultSwitches, type Switches, switchesSchema } from './switches.ts';
import { type Credentials, TokenIssuer } from './token-issuer.ts';
import { World } from './world.ts';

export { type DeviationName, deviationNames, deviations } from './deviations.ts';
export {
  NotInWorldError,
  SandboxPortTakenError as PortTakenError,
  SandboxRequestError,
} from './errors.ts';
export type { FaultOrder, SandboxFault as Fault } from './faults.ts';
export type { LoggedRequest } from './request-log.ts';
export type { Switches } from './switches.ts';
export type { Credentials } from './token-issuer.ts';
export type { World } from './world.ts';
export type { Changes, Damage, Hidden, NewAssessment, ScopeChange } from './world-schema.ts';

/** The last day of the invented history. It is fixed, so that a seed gives the same world next month. */
const endOfHistory = '2026-11-20';

const optionsSchema = z.strictObject({
  port: z.int().min(0).max(65_535).default(0),
  records: z.int().min(0).max(5_000_000).default(400),
  seed: z.int().min(0).default(1),
  timeZone: z.string().default('America/New_York'),
  until: z.string().default(endOfHistory),
  certifyEvery: z.number().min(0).default(0),
});

export interface SandboxOptions extends Partial<Switches> {
  /** 0, the default, for any free port. */
  readonly port?: number;
  /** Assessments in scope at the start, default 400; a twentieth more is out of scope. */
  readonly records?: number;
  /** Whole number ≥ 0, default 1. The same seed gives the same world and credentials. */
  readonly seed?: number;
  /** The partner's time zone, default America/New_York. */
  readonly timeZone?: string;
  /** Last day of the invented history, `YYYY-MM-DD`, default 2026-11-20. */
  readonly until?: string;
  readonly clock?: Clock;
  /**
   * Milliseconds between new certifications while the clock goes on; 0, the default: none. One in ten is backdated
   * unless `backdated` says otherwise.
   */
  readonly certifyEvery?: number;
  /** In place of credentials from the seed: for secrets with awkward characters. */
  readonly credentials?: Credentials;
  /** Active from the first request. */
  readonly faults?: readonly FaultOrder[];
}

export interface PartnerSandbox {
  /** `http://127.0.0.1:PORT`, the API's base URL. */
  readonly url: string;
  /** The present credentials. */
  readonly credentials: Credentials;
  /** The world by now, also if no request has asked for it. */
  readonly world: World;
  readonly switches: Switches;
  /** Requests to the API, oldest first, without control requests. */
  readonly requests: readonly LoggedRequest[];
  resetRequests(): void;
  /** @throws SandboxRequestError */
  set(switches: { readonly [Name in keyof Switches]?: Switches[Name] | undefined }): void;
  /** Adds to the pending faults. @throws SandboxRequestError */
  injectFaults(...faults: readonly FaultOrder[]): void;
  clearFaults(): void;
  /** The pending faults. */
  readonly faults: readonly SandboxFault[];
  /** Invalidates every token. @returns the new credentials. */
  rotateSecret(): Credentials;
  close(): Promise<void>;
}

/**
 * Starts a server that follows the document, on the loopback interface. @throws SandboxRequestError for invalid
 * options, PortTakenError.
 */
export async function startPartnerSandbox(options: SandboxOptions = {}): Promise<PartnerSandbox> {
  const { clock = systemClock, faults = [], credentials, ...rest } = options;
  const { port, records, seed, timeZone, until, certifyEvery, ...switches } = rest;
  const wanted = parseRequest(
    optionsSchema,
    present({ port, records, seed, timeZone, until, certifyEvery }),
  );
  const initial = parseRequest(switchesSchema, {
    ...defaultSwitches,
    backdated: wanted.certifyEvery > 0 ? 0.1 : 0,
    ...present(switches),
  });

  const world = new World({ ...wanted, clock });
  const life = new RandomChanges(
    world,
    seededRandom(wanted.seed, 'life'),
    wanted.certifyEvery,
    clock.now().epochMilliseconds,
  );
  const api = new Api(
    world,
    life,
    clock,
    seededRandom(wanted.seed, 'replica'),
    new TokenIssuer(wanted.seed, credentials),
    initial,
  );
  const queue = new FaultQueue(seededRandom(wanted.seed, 'faults'));
  for (const fault of faults) queue.inject(fault);
  const log = new RequestLog();
  const closing = new AbortController();
  // Idle connections stay: a client whose process was busy at that moment would get an ECONNRESET.
  const server = createServer({ keepAliveTimeout: 0 });
  const listening = await listen(server, wanted.port);

  const sandbox: PartnerSandbox = {
    url: `http://127.0.0.1:${listening}`,
    get credentials() {
      return api.access.credentials;
    },
    get world() {
      api.catchUp();
      return world;
    },
    get switches() {
      return api.switches;
    },
    get requests() {
      return log.entries;
    },
    resetRequests: () => log.clear(),
    set: (changes) => {
      api.switches = parseRequest(switchesSchema, { ...api.switches, ...present(changes) });
    },
    injectFaults: (...orders) => {
      for (const order of orders) queue.inject(order);
    },
    clearFaults: () => queue.clear(),
    get faults() {
      return queue.pending;
    },
    rotateSecret: () => api.access.rotateSecret(),
    close: () =>
      new Promise((resolve, reject) => {
        closing.abort();
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
  server.on(
    'request',
    requestListener({ api, queue, log, clock, sandbox, closing: closing.signal }),
  );
  return sandbox;
}

/** Without undefined entries, which would hide defaults. */
function present(input: object): object {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const refuse = (cause: NodeJS.ErrnoException) =>
      reject(cause.code === 'EADDRINUSE' ? new SandboxPortTakenError(port, { cause }) : cause);
    server.once('error', refuse);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', refuse);
      resolve();
    });
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
