import type { Dispatcher } from 'undici';
import Pool from 'undici/lib/dispatcher/pool.js';
import { parseBaseUrl } from './base-url.ts';
import { type RequestKind, ResponseTooLargeError } from './errors.ts';
import { toPartnerError } from './network-failures.ts';

export interface TransportLimits {
  readonly connectMs: number;
  /** From the request being sent to the last header. */
  readonly headersMs: number;
  /** Between two pieces of the body; an attempt as a whole has a limit of its own. */
  readonly bodyMs: number;
  /** Cap on the body of a success. */
  readonly maxResponseBytes: number;
  /** Sockets open to the host at the same time. */
  readonly connections: number;
}

export interface HttpRequest {
  readonly kind: RequestKind;
  readonly method: 'GET' | 'POST';
  /** Below the base URL, with the query string. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpReply {
  readonly status: number;
  /** Undefined for a header that is absent or repeated. */
  header(name: string): string | undefined;
  /** Empty if the body of a failure was too large or broke off: the status is what counts then. */
  readonly body: Buffer;
}

/** What carries a request to the host and its answer back: undici's pool, or a host in memory. */
export type RequestDispatcher = Pick<Dispatcher, 'dispatch'> & { close(): Promise<void> };

/** Kept equal to package.json by a test. */
const USER_AGENT = 'certification-notifier/0.1.0';

/** What is read of the body of a failure: the documented ones are below 200 bytes. */
const MAX_FAILURE_BYTES = 64 * 1024;

/** Requests to one host: follows nothing and reads no more than it was told to. */
export class Transport {
  readonly #dispatcher: RequestDispatcher;
  readonly #prefix: string;
  readonly #limits: TransportLimits;

  /** @throws {InvalidBaseUrlError} */
  constructor(baseUrl: string | URL, limits: TransportLimits, dispatcher?: RequestDispatcher) {
    const url = parseBaseUrl(baseUrl);
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#limits = limits;
    this.#dispatcher = dispatcher ?? poolTo(url.origin, limits);
  }

  /**
   * Any status resolves. Rejects with the signal's reason when it aborts; a request that still waits for a
   * connection then, once it has one.
   *
   * @param signal of this request alone
   * @throws {PartnerError} if there is no whole answer
   */
  send({ kind, ...request }: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpReply>();
    const { maxResponseBytes } = this.#limits;
    const tooLarge = () => new ResponseTooLargeError(kind, `${maxResponseBytes} bytes`);
    let head = { status: 0, header: (_name: string): string | undefined => undefined };
    let most = 0;
    // One buffer that grows, not one for each piece: a server may send it byte by byte.
    let bytes = Buffer.alloc(0);
    let length = 0;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        const abort = () => controller.abort(signal.reason);
        signal.addEventListener('abort', abort);
        if (signal.aborted) abort();
      },
      onResponseStart(controller, status, headers) {
        if (status < 200) return;
        const header = (name: string) => {
          const value = headers[name];
          return typeof value === 'string' ? value : undefined;
        };
        head = { status, header };
        most = status < 300 ? maxResponseBytes : MAX_FAILURE_BYTES;
        if (Number(header('content-length') ?? 0) > most) controller.abort(tooLarge());
      },
      onResponseData(controller, chunk) {
        const before = length;
        length += chunk.length;
        if (length > most) return controller.abort(tooLarge());
        if (length > bytes.length) bytes = Buffer.concat([bytes], 2 * length);
        chunk.copy(bytes, before);
      },
      onResponseEnd() {
        resolve({ ...head, body: bytes.subarray(0, length) });
      },
      onResponseError(_controller, error) {
        if (head.status >= 300) resolve({ ...head, body: Buffer.alloc(0) });
        else reject(signal.aborted ? signal.reason : toPartnerError(kind, error));
      },
    };
    const headers = {
      accept: 'application/json',
      // A compressed megabyte can be a gigabyte of JSON: the cap is to count what is parsed.
      'accept-encoding': 'identity',
      'user-agent': USER_AGENT,
      ...request.headers,
    };
    this.#dispatcher.dispatch({ ...request, path: this.#prefix + request.path, headers }, handler);
    return promise;
  }

  /** Ends the connections once the requests under way have been answered. */
  async close(): Promise<void> {
    await this.#dispatcher.close();
  }
}

function poolTo(origin: string, limits: TransportLimits): RequestDispatcher {
  return new Pool(origin, {
    connections: limits.connections,
    connectTimeout: limits.connectMs,
    headersTimeout: limits.headersMs,
    bodyTimeout: limits.bodyMs,
    // A Lambda function is frozen between invocations, and its sockets die without a word. The
    // request that then finds one dead is reset, which is retried.
    keepAliveMaxTimeout: 60_000,
    allowH2: false,
  });
}
