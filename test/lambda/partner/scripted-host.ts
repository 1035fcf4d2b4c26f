import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { Temporal } from 'temporal-polyfill';
import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../../lambda/clock.ts';
import {
  createPartnerClient,
  type PartnerClient,
  type PartnerClientOptions,
  type RequestKind,
} from '../../../lambda/partner/index.ts';

export type Kind = 'token' | 'list' | 'get';

export interface Received {
  readonly kind: Kind;
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Responder = (response: ServerResponse, request: Received) => void;

export interface ScriptedHost {
  readonly url: string;
  readonly received: Received[];
  of(kind: Kind): Received[];
  /** Answers the next requests of this kind in turn; the last responder stays. */
  script(kind: Kind, ...responders: [Responder, ...Responder[]]): void;
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

/** Any bytes as the body of a success. */
export const raw =
  (body: string | Buffer, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(200, headers);
    response.end(body);
  };

export const token = (access_token: string, expires_in = 7200) =>
  json(200, { access_token, token_type: 'Bearer', expires_in, created_at: 1_795_000_000 });

export const invalidToken = json(401, {
  error: 'invalid_token',
  error_description: 'The access token is invalid',
});

export const invalidClient = json(401, { error: 'invalid_client' });

/** A page with these records, consistent with the request. */
export const page =
  (data: readonly unknown[], count = data.length): Responder =>
  (response, { url }) => {
    const meta = {
      count,
      offset: Number(url.searchParams.get('offset') ?? 0),
      page: Number(url.searchParams.get('page') ?? 50),
    };
    json(200, { data, meta })(response);
  };

/** An assessment without parts, of an invented educator. */
export function record(id: number, more: Record<string, unknown> = {}) {
  return {
    id,
    seid: null,
    name: 'Zuzana Ó Tóibín-Nobody',
    first_name: 'Zuzana',
    last_name: 'Ó Tóibín-Nobody',
    email: 'zuzana.nobody@example.org',
    organization_id: 7,
    organization_name: 'Nowhere Unified',
    assessment_name: 'Imaginary Reading 1',
    certified_on: '2026-11-20',
    results: [
      {
        assessment_id: id,
        assessment_name: 'Imaginary Reading 1',
        certified_on: '2026-11-20',
        proctor_id: 11,
        proctor_name: 'Pat Invented',
      },
    ],
    ...more,
  };
}

/** A real HTTP server on loopback, closed after the test. */
async function startHost(): Promise<ScriptedHost> {
  const received: Received[] = [];
  let issued = 0;
  const scripts: Record<Kind, Responder[]> = {
    token: [
      (response) => {
        issued += 1;
        token(`token-${issued}`)(response);
      },
    ],
    list: [page([])],
    get: [json(404, {})],
  };

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = new URL(request.url ?? '/', 'http://host');
    const kind = kindOf(url.pathname);
    const entry: Received = {
      kind,
      method: request.method ?? '',
      url,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    received.push(entry);
    const script = scripts[kind];
    const responder = script.length > 1 ? script.shift() : script[0];
    responder?.(response, entry);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    received,
    of: (kind) => received.filter((entry) => entry.kind === kind),
    script: (kind, ...responders) => {
      scripts[kind] = responders;
    },
  };
}

function kindOf(path: string): Kind {
  if (path.endsWith('/oauth/token')) return 'token';
  return path.endsWith('/assessments') ? 'list' : 'get';
}

export interface FakeClock extends Clock {
  readonly sleeps: number[];
  advance(ms: number): void;
}

/** A clock that a sleep moves, without real time. */
function fakeClock(start = '2026-11-21T08:00:00Z'): FakeClock {
  let now = Temporal.Instant.from(start);
  const sleeps: number[] = [];
  const advance = (ms: number) => {
    now = now.add({ milliseconds: ms });
  };
  return {
    // The guard against a host that holds on to a socket needs real time.
    after: systemClock.after,
    sleeps,
    advance,
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      sleeps.push(ms);
      advance(ms);
    },
  };
}

export const CREDENTIALS = { clientId: 'integration-1', clientSecret: 'correct horse' };

export interface Rig {
  readonly host: ScriptedHost;
  readonly client: PartnerClient;
  readonly clock: FakeClock;
  readonly requests: RequestKind[];
}

/** A host and its client. */
export async function rig(options: Partial<PartnerClientOptions> = {}): Promise<Rig> {
  const host = await startHost();
  const clock = fakeClock();
  const requests: RequestKind[] = [];
  const client = createPartnerClient({
    baseUrl: host.url,
    credentials: async () => CREDENTIALS,
    clock,
    random: () => 0.5,
    onRequest: (kind) => requests.push(kind),
    ...options,
  });
  return { host, client, clock, requests };
}

/** The rejection of `call`. Fails if the call succeeds. */
export async function rejection(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('did not reject');
}
