import type { Dispatcher } from 'undici';
import Pool from 'undici/lib/dispatcher/pool.js';
import { parseBaseUrl } from './base-url.ts';
import { type RequestKind, ResponseTooLargeError, UnavailableError } from './errors.ts';
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

/** Collects a body without keeping an object for each piece: a server may send it byte by byte. */
class Body {
  #bytes = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  toBuffer(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

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
   * Any status resolves. Rejects with the signal's reason as soon as it aborts, even while the
   * request waits for a connection.
   *
   * @throws {PartnerError} if there is no whole answer
   */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpReply>();
    const { maxResponseBytes } = this.#limits;
    const body = new Body();
    let head: Pick<HttpReply, 'status' | 'header'> | undefined;
    let abortRequest: ((reason: Error) => void) | undefined;

    const isFailure = () => head !== undefined && head.status >= 300;
    const settle = (end: () => void) => {
      signal.removeEventListener('abort', onAbort);
      end();
    };
    const giveUp = (error: unknown) =>
      settle(() => {
        if (head && isFailure()) resolve({ ...head, body: Buffer.alloc(0) });
        else reject(error);
      });
    const stop = (error: unknown) => {
      giveUp(error);
      abortRequest?.(new Error('stopped', { cause: error }));
    };
    const checkSize = (bytes: number) => {
      if (bytes <= (isFailure() ? MAX_FAILURE_BYTES : maxResponseBytes)) return true;
      stop(new ResponseTooLargeError(request.kind, `${maxResponseBytes} bytes`));
      return false;
    };
    const onAbort = () => stop(signal.reason);

    this.#dispatcher.dispatch(
      {
        method: request.method,
        path: this.#prefix + request.path,
        headers: {
          accept: 'application/json',
          // A compressed megabyte can be a gigabyte of JSON: the cap is to count what is parsed.
          'accept-encoding': 'identity',
          'user-agent': USER_AGENT,
          ...request.headers,
        },
        body: request.body ?? null,
      },
      {
        onRequestStart(controller) {
          abortRequest = (reason) => controller.abort(reason);
          if (signal.aborted) onAbort();
        },
        onResponseStart(_controller, status, headers) {
          if (status < 200) return;
          const header = (name: string) => {
            const value = headers[name];
            return typeof value === 'string' ? value : undefined;
          };
          head = { status, header };
          checkSize(Number(header('content-length') ?? 0));
        },
        onResponseData(_controller, chunk) {
          if (checkSize(body.length + chunk.length)) body.append(chunk);
        },
        onResponseEnd() {
          settle(() => {
            if (head) resolve({ ...head, body: body.toBuffer() });
            else reject(new UnavailableError(request.kind, 'no answer'));
          });
        },
        onResponseError(_controller, error) {
          giveUp(toPartnerError(request.kind, error));
        },
      },
    );
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
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
