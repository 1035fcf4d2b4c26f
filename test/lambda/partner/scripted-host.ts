import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import {
  createPartnerClient,
  type PartnerClientOptions,
  type RequestKind,
} from '../../../lambda/partner/index.ts';
import { close, listenOnLoopback } from '../../../local/aws/loopback-server.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { assessment } from '../../support/assessments.ts';

type Kind = 'token' | 'list' | 'get';

interface Received extends Pick<IncomingMessage, 'method' | 'headers'> {
  readonly kind: Kind;
  readonly url: URL;
  readonly body: string;
}

export type Responder = (response: ServerResponse, request: Received) => void;

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    const whole = { 'content-type': 'application/json', ...headers };
    response.writeHead(status, whole).end(JSON.stringify(body));
  };

/** Any bytes as the body of a success. */
export const raw =
  (body: string | Buffer, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    response.writeHead(200, headers).end(body);

export const token = (access_token: string, expires_in = 7200) =>
  json(200, { access_token, token_type: 'Bearer', expires_in, created_at: 1_795_000_000 });

export const invalidToken = json(401, { error: 'invalid_token' });
export const invalidClient = json(401, { error: 'invalid_client' });

/** A page with these records, consistent with the request. */
export const page =
  (data: readonly unknown[], count = data.length): Responder =>
  (response, { url }) => {
    const { offset = 0, page = 50 } = Object.fromEntries(url.searchParams);
    const meta = { count, offset: Number(offset), page: Number(page) };
    json(200, { data, meta })(response);
  };

/** An assessment without parts, of an invented educator. */
export const record = (id: number, more: Record<string, unknown> = {}) => ({
  ...assessment({ id, seid: null, name: 'Zuzana Ó Tóibín-Nobody', email: 'zuzana@example.org' }),
  ...more,
});

/** As in `script`. */
type Answers = Partial<Record<Kind, Responder | Responder[]>>;

/** A real HTTP server on loopback, closed after the test. */
async function startHost(answers: Answers) {
  const received: Received[] = [];
  const of = (kind: Kind) => received.filter((entry) => entry.kind === kind);
  const scripts: Required<Answers> = {
    token: (response: ServerResponse) => token(`token-${of('token').length}`)(response),
    list: page([]),
    get: json(404, {}),
    ...answers,
  };
  const server = createServer(async (request, response) => {
    const { method, headers } = request;
    const url = new URL(request.url ?? '/', 'http://host');
    const kind = kindOf(url.pathname);
    const entry = { kind, method, url, headers, body: await text(request) };
    received.push(entry);
    const [responder, ...later] = [scripts[kind]].flat();
    if (later.length > 0) scripts[kind] = later;
    responder?.(response, entry);
  });
  const url = await listenOnLoopback(server);
  onTestFinished(() => close(server));
  return {
    url,
    received,
    of,
    /** Answers the next requests of this kind in turn; the last responder stays. */
    script: (kind: Kind, ...responders: Responder[]) => {
      scripts[kind] = responders;
    },
  };
}

function kindOf(path: string): Kind {
  if (path.endsWith('/oauth/token')) return 'token';
  return path.endsWith('/assessments') ? 'list' : 'get';
}

/** Notes its sleeps, which take no real time. */
class SleepyClock extends ManualClock {
  readonly sleeps: number[] = [];
  /** The guard against a host that holds on to a socket needs real time. */
  override after(ms: number, run: () => void): () => void {
    return systemClock.after(ms, run);
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await super.sleep(ms, signal);
    this.sleeps.push(ms);
  }
}

export const CREDENTIALS = { clientId: 'integration-1', clientSecret: 'correct horse' };

interface RigOptions extends Partial<PartnerClientOptions> {
  readonly answers?: Answers;
}

/** A host and its client. */
export async function rig({ answers = {}, ...options }: RigOptions = {}) {
  const host = await startHost(answers);
  const clock = new SleepyClock();
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

export type Rig = Awaited<ReturnType<typeof rig>>;

/** The rejection of `call`. Fails if the call succeeds. */
export async function rejection(call: Promise<unknown>): Promise<unknown> {
  const [outcome] = await Promise.allSettled([call]);
  if (outcome.status === 'fulfilled') throw new Error('did not reject');
  return outcome.reason;
}
