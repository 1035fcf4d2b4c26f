import { once } from 'node:events';
import {
  Agent,
  request as ask,
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { text } from 'node:stream/consumers';
import { close, listenOnLoopback } from './loopback-server.ts';

/** A request on its way to an embedded service. */
export interface ServiceCall {
  /** `PublishBatch`, `PutItem` and so on; the path for a service outside of AWS. */
  readonly operation: string;
  readonly body: string;
  /** Set if AWS's SDK has signed the request. */
  readonly asked: AwsCall | undefined;
  /** Sends the request on, possibly with another body, and waits for the answer. */
  forward(body?: string): Promise<Reply>;
}

/** A request to an embedded service, and its caller. */
export interface AwsCall {
  /** As IAM calls it: `dynamodb`, `sns`, … */
  readonly service: string;
  /** The access key; for a function of the embedded AWS, its name. */
  readonly caller: string;
  readonly operation: string;
  readonly url: string;
  readonly body: string;
}

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  /** The date of the answer; absent: the gate's clock. */
  readonly date?: string | undefined;
  /** The service's name for the error, if the body does not have it. */
  readonly errorType?: string | undefined;
  /** The value of the header `Retry-After`. */
  readonly retryAfter?: string | undefined;
}

/** Answers a call; `undefined` breaks the connection without an answer. */
export type Rule = (call: ServiceCall) => Promise<Reply | undefined>;

const errorHeader = 'x-amzn-errortype';

const openly: Rule = (call) => call.forward();

/** A limit, for a gate that is open for days. */
const callsKept = 10_000;

/** An HTTP proxy in front of a real service. It can be closed, broken or bent. */
export class Gate {
  readonly #server = createServer((request, response) => void this.#pass(request, response));
  /** The address of the service. */
  target = '';
  /** Whether there was a rule since `forget`. */
  hasBent = false;
  /** Whether an answer since `forget` had a date more than a minute from now. */
  hasShownOtherTime = false;
  #rules: Rule[] = [];
  #url: Promise<string> | undefined;
  readonly #onCall: ((call: AwsCall) => void) | undefined;
  /** The latest operations, passed and stopped ones, in order. */
  readonly calls: string[] = [];

  /** @param onCall called for every signed call before it passes */
  constructor(onCall?: (call: AwsCall) => void) {
    this.#onCall = onCall;
  }

  /** Listens on a loopback port, which does not keep the process alive. @returns the gate's URL */
  open(): Promise<string> {
    this.#url ??= listenOnLoopback(this.#server.unref());
    return this.#url;
  }

  async close(): Promise<void> {
    this.#url = undefined;
    await close(this.#server);
  }

  /** A rule for the next call of this operation only. */
  once(operation: string, rule: Rule): void {
    const handler: Rule = (call) => {
      if (call.operation !== operation) return openly(call);
      this.#rules = this.#rules.filter((one) => one !== handler);
      return rule(call);
    };
    this.always(handler);
  }

  /** A rule for all calls without an earlier rule, until `reset`. */
  always(rule: Rule): void {
    this.hasBent = true;
    this.#rules.push(rule);
  }

  reset(): void {
    this.#rules = [];
    this.calls.length = 0;
  }

  /** Prepares the gate for the next test. */
  forget(): void {
    this.reset();
    this.hasBent = false;
    this.hasShownOtherTime = false;
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const operation = operationOf(request, body);
    this.calls.push(operation);
    if (this.calls.length > callsKept) this.calls.shift();
    const asked = askedBy(request, operation, body);
    if (asked) this.#onCall?.(asked);
    const call: ServiceCall = {
      operation,
      body,
      asked,
      forward: (changed = body) => forward(this.target, request, changed),
    };
    try {
      const reply = await (this.#rules[0] ?? openly)(call);
      if (reply === undefined) return void response.destroy();
      const { status, type, date, errorType, retryAfter, body } = reply;
      if (date && Math.abs(Date.parse(date) - Date.now()) > 60_000) this.hasShownOtherTime = true;
      const headers = {
        ...(date && { date }),
        ...(errorType && { [errorHeader]: errorType }),
        ...(retryAfter && { 'retry-after': retryAfter }),
      };
      response.writeHead(status, { 'content-type': type, ...headers }).end(body);
    } catch {
      // The service is gone. The caller sees a broken connection.
      response.destroy();
    }
  }
}

/** Undefined: the request is not signed. */
function askedBy(request: IncomingMessage, operation: string, body: string): AwsCall | undefined {
  // Signature Version 4: `Credential=<access key>/<date>/<region>/<service>/aws4_request`.
  const [, caller, service] =
    /Credential=([^/]+)\/[^/]+\/[^/]+\/([^/]+)\//.exec(request.headers.authorization ?? '') ?? [];
  if (caller === undefined || service === undefined) return undefined;
  return { caller, service, operation, url: request.url ?? '/', body };
}

function operationOf(request: IncomingMessage, body: string): string {
  const target = request.headers['x-amz-target'];
  if (typeof target === 'string') return target.slice(target.indexOf('.') + 1);
  return new URLSearchParams(body).get('Action') ?? request.url ?? '';
}

/** Connections to the services behind gates. `fetch` would cost more than twice as much. */
const agent = new Agent({ keepAlive: true });

async function forward(target: string, request: IncomingMessage, body: string): Promise<Reply> {
  const headers = { ...request.headers };
  // Headers of this connection, and of a body that arrives plain here and may be changed.
  for (const name of [
    'host',
    'connection',
    'content-length',
    'transfer-encoding',
    'accept-encoding',
  ])
    delete headers[name];
  const { method = 'GET' } = request;
  const outgoing = ask(new URL(request.url ?? '/', target), { method, headers, agent });
  // A reset amid the body also reaches the request, after its answer has begun. `text` reports it, so it is ignored
  // here.
  outgoing.on('error', () => {});
  outgoing.end(method === 'GET' ? undefined : body);
  const [answer]: IncomingMessage[] = await once(outgoing, 'response');
  if (answer === undefined) throw new Error('a response without an answer');
  return {
    status: answer.statusCode ?? 502,
    type: answer.headers['content-type'] ?? 'text/plain',
    body: await text(answer),
    date: answer.headers.date,
    errorType: answer.headers[errorHeader]?.toString(),
    retryAfter: answer.headers['retry-after'],
  };
}
