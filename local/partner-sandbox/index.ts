import { once } from 'node:events';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
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
  /** 0 for any free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** Assessments in scope at the start; a twentieth more is out of scope. */
  records: z.int().min(0).max(5_000_000).default(400),
  /** The same seed gives the same world and credentials. */
  seed: z.int().min(0).default(1),
  /** The partner's time zone. */
  timeZone: z.string().default('America/New_York'),
  /** Last day of the invented history, `YYYY-MM-DD`. */
  until: z.string().default(endOfHistory),
  /**
   * Milliseconds between new certifications while the clock goes on; 0: none. One in ten is backdated unless
   * `backdated` says otherwise.
   */
  certifyEvery: z.number().min(0).default(0),
  ...switchesSchema.partial().shape,
});

export interface SandboxOptions extends Readonly<z.input<typeof optionsSchema>> {
  readonly clock?: Clock;
  /** In place of credentials from the seed: for secrets with awkward characters. */
  readonly credentials?: Credentials;
  /** Active from the first request. */
  readonly faults?: readonly FaultOrder[];
}

/** A server that follows the document, on the loopback interface. */
export class PartnerSandbox {
  readonly #api: Api;
  readonly #world: World;
  readonly #queue: FaultQueue;
  readonly #log = new RequestLog();
  readonly #closing = new AbortController();
  // Idle connections stay: a client whose process was busy at that moment would get an ECONNRESET.
  readonly #server = createServer({ keepAliveTimeout: 0 });
  #port: number;

  /** @throws SandboxRequestError */
  constructor({ clock = systemClock, faults = [], credentials, ...rest }: SandboxOptions) {
    const { port, seed, certifyEvery, records, timeZone, until, ...switches } = parseRequest(
      optionsSchema,
      rest,
    );
    const backdated = certifyEvery > 0 ? 0.1 : 0;
    const world = new World({ seed, records, timeZone, until, clock });
    const begin = clock.now().epochMilliseconds;
    const life = new RandomChanges(world, seededRandom(seed, 'life'), certifyEvery, begin);
    const access = new TokenIssuer(seed, credentials);
    const initial = { ...defaultSwitches, backdated, ...present(switches) };
    const random = seededRandom(seed, 'replica');
    const api = new Api({ world, life, clock, random, access }, initial);
    const queue = new FaultQueue(seededRandom(seed, 'faults'));
    this.#port = port;
    this.#world = world;
    this.#api = api;
    this.#queue = queue;
    this.injectFaults(...faults);
    const parts = { api, queue, log: this.#log, clock, closing: this.#closing.signal };
    this.#server.on('request', requestListener({ ...parts, sandbox: this }));
  }

  /** @throws PortTakenError */
  async listen(): Promise<void> {
    const server = this.#server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening').catch((cause) => {
      throw cause.code === 'EADDRINUSE' ? new SandboxPortTakenError(this.#port, { cause }) : cause;
    });
    const address = server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
  }

  /** `http://127.0.0.1:PORT`, the API's base URL. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The present credentials. */
  get credentials(): Credentials {
    return this.#api.access.credentials;
  }

  /** The world by now, also if no request has asked for it. */
  get world(): World {
    this.#api.catchUp();
    return this.#world;
  }

  get switches(): Switches {
    return this.#api.switches;
  }

  /** @throws SandboxRequestError */
  set(changes: { readonly [Name in keyof Switches]?: Switches[Name] | undefined }): void {
    const switches = { ...this.switches, ...present(changes) };
    this.#api.switches = parseRequest(switchesSchema, switches);
  }

  /** Requests to the API, oldest first, without control requests. */
  get requests(): readonly LoggedRequest[] {
    return this.#log.entries;
  }

  resetRequests(): void {
    this.#log.clear();
  }

  /** The pending faults. */
  get faults(): readonly SandboxFault[] {
    return this.#queue.pending;
  }

  /** Adds to the pending faults. @throws SandboxRequestError */
  injectFaults(...orders: readonly FaultOrder[]): void {
    for (const order of orders) this.#queue.inject(order);
  }

  clearFaults(): void {
    this.#queue.clear();
  }

  /** Invalidates every token. @returns the new credentials. */
  rotateSecret(): Credentials {
    return this.#api.access.rotateSecret();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const closed = promisify(this.#server.close.bind(this.#server))();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Starts a server on the loopback interface. @throws SandboxRequestError for invalid options, PortTakenError */
export async function startPartnerSandbox(options: SandboxOptions = {}): Promise<PartnerSandbox> {
  const sandbox = new PartnerSandbox(options);
  await sandbox.listen();
  return sandbox;
}

/** Without undefined entries, which would hide defaults. */
function present(input: object): object {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}
