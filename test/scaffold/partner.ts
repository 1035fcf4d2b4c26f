import type { Dispatcher } from 'undici';
import type { Clock } from '../../lambda/clock.ts';
import type { Assessment } from '../../lambda/events/assessment.ts';
import { DEFAULT_LIMITS } from '../../lambda/partner/client.ts';
import {
  createPartnerClient,
  type PartnerClient,
  type PartnerClientOptions,
  type RequestDispatcher,
} from '../../lambda/partner/index.ts';
import type { DocumentedRecord } from '../../local/documented-record.ts';
import { AnswerCache } from '../../local/partner-sandbox/answer-cache.ts';
import { list, type Matches, type Ordering } from '../../local/partner-sandbox/list.ts';
import { matching } from '../../local/partner-sandbox/matching.ts';
import { type ParsedQuery, readRawQuery } from '../../local/partner-sandbox/query.ts';
import { RequestsOfMinute } from '../../local/partner-sandbox/requests-of-minute.ts';
import { Rows, RowsByDay, type View } from '../../local/partner-sandbox/rows.ts';
import { documentRules, type SandboxAnswer } from '../../local/partner-sandbox/rules.ts';
import { defaultSwitches, type Switches } from '../../local/partner-sandbox/switches.ts';
import { TokenIssuer } from '../../local/partner-sandbox/token-issuer.ts';
import { assessment } from '../support/assessments.ts';
import type { HostRecord } from './listing.ts';
import { once } from './once.ts';

/** An HTTP answer. */
export interface HostAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The connection ends half way through the body. */
  readonly breaksOff?: boolean;
}

/**
 * A reply instead of the document's answer: another answer, a reset connection, half of the answer,
 * or silence.
 */
export type Fault = HostAnswer | 'reset' | 'half' | 'silence';

/** A received request. */
export type Received =
  | { readonly kind: 'token' }
  | { readonly kind: 'list'; readonly query: ParsedQuery }
  | { readonly kind: 'get'; readonly id: number };

/** The purposes for which a tick sends requests (`partnerReader`). */
export type Asked = 'pulse' | 'tail' | 'oldest' | 'count' | 'prove' | 'get';

export interface HttpRequest {
  readonly method: string;
  /** Includes the query string. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const assessments = '/api/v1/ax/assessments';
const json = { 'content-type': 'application/json; charset=utf-8' };

/** 429, with or without a number of seconds to wait. */
export const tooManyRequests = (retryAfter?: number): HostAnswer => ({
  status: 429,
  ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
});

/** Whether a query asks for some days only. */
export const isOfDays = ({ first, last }: ParsedQuery): boolean =>
  first !== undefined || last !== undefined;

const notFound: HostAnswer = { status: 404 };
export const serverError: HostAnswer = { status: 500, headers: json, body: '{"error":"internal"}' };

/** A proxy's error page. */
export const htmlPage: HostAnswer = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: '<!DOCTYPE html><title>Back soon</title>',
};

export const invalidToken = written(documentRules.invalidToken);
export const invalidClient = written(documentRules.invalidClient);
export const unsupportedGrant = written(documentRules.unsupportedGrantType);
export const noOrganizations = written(documentRules.noOrganizations);
export const noAssessments = written(documentRules.noAssessments);

/**
 * The partner in memory, at the level of HTTP and below the real client. It answers by
 * docs/partner.md over records that tests change. It takes no time but the clock's and opens no
 * socket. Its faults look as they do on a wire.
 */
export class MemoryPartner {
  readonly #clock: Clock;
  readonly #rows = new Rows<HostRecord>(() => this.nowMs);
  readonly #texts = new WeakMap<HostRecord, string>();
  readonly #queries = new Map<string, ParsedQuery>();
  readonly access = new TokenIssuer(1);
  /** Of these, only the ones about tokens count. */
  switches: Switches = defaultSwitches;
  /** All requests so far. */
  readonly requests: Received[] = [];
  /** Milliseconds that an answer takes. */
  answerMs = 0;
  order: Ordering['userName'] = 'name';
  /** The most rows of a page: the document lets the partner return fewer than requested. */
  pageRows = 100;
  /** The size that it says it applies; undefined: the one that it applies. */
  statedRows: number | undefined;
  /** Decides among equals, anew in each answer. Without it, their ids do. */
  tie: Ordering['tie'];
  /**
   * Requests a minute, tokens included. The partner refuses more without saying how long to wait.
   */
  requestsPerMinute = Number.POSITIVE_INFINITY;
  /** The number of requests refused for their pace. */
  refusals = 0;
  readonly #minute = new RequestsOfMinute();
  /** Replaces each answer of the list and of single records. */
  fault: Fault | undefined;
  /** Each single record answers 404. */
  singleRecordsBroken = false;
  /** Milliseconds by which a replica lags; it answers when `isReplica` says so. 0: no replica. */
  replicaLagMs = 0;
  isReplica: () => boolean = () => false;
  /** Milliseconds for which an answer of the list is cached and given again to the same query. */
  cacheMs = 0;
  readonly #cache = new AnswerCache<ParsedQuery, HostAnswer>();
  /** Removed assessments that are still served by their ids. */
  isZombie: (id: number) => boolean = () => false;
  readonly #removed = new Map<number, HostRecord>();
  /** More rows under the id of a record. Lists have them in changing order. */
  twinOf: ((record: HostRecord) => HostRecord | readonly HostRecord[] | undefined) | undefined;
  #isTwinFirst = false;
  /** Ids that the count includes and no list shows. */
  readonly hidden = new Set<number>();
  /** Additional bytes of rows, by id. */
  readonly weights = new Map<number, number>();
  /** The rows of a page, made from the right ones. */
  rows: (right: readonly HostRecord[], query: ParsedQuery) => readonly HostRecord[] = (right) =>
    right;
  /** The `meta.count` of an answer, made from the right one. */
  count: (right: number, query: ParsedQuery) => number = (right) => right;
  /**
   * Called before an answer. It may change the partner's records. Its result replaces the answer.
   */
  onToken: () => Fault | undefined = () => undefined;
  onList: (query: ParsedQuery) => Fault | undefined = () => undefined;
  onGet: (id: number) => Fault | undefined = () => undefined;
  /** Called after the partner made an answer. Its result replaces that answer, which is lost. */
  onListed: (query: ParsedQuery) => Fault | undefined = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The real client for this partner, with fixed waits. */
  client(options: Partial<PartnerClientOptions> = {}): PartnerClient {
    return createPartnerClient({
      baseUrl: 'https://partner.example.org',
      credentials: async () => this.access.credentials,
      clock: this.#clock,
      random: () => 0.5,
      dispatcher: this.dispatcher,
      ...options,
    });
  }

  get records(): ReadonlyMap<number, HostRecord> {
    return this.#rows.all;
  }

  /** Queries of the list requests so far. */
  get queries(): ParsedQuery[] {
    return this.requests.flatMap((request) => (request.kind === 'list' ? request.query : []));
  }

  /** The purpose of each request so far, tokens apart. */
  get asked(): Asked[] {
    return this.requests.flatMap((request) => {
      if (request.kind === 'list') return askedBy(request.query);
      return request.kind === 'get' ? 'get' : [];
    });
  }

  has(id: number): boolean {
    return this.records.has(id);
  }

  /** Adds a record, or replaces the one with its id. */
  put(record: HostRecord): void {
    this.#removed.delete(record.assessment.id);
    this.#rows.put(record);
  }

  /** Adds a record, by default with a name that no other record has. */
  add(id: number, certified_on: string, more: Partial<DocumentedRecord> = {}): void {
    const { name = `Ada Number${String(id).padStart(5, '0')}` } = more;
    const [first_name = '', last_name = ''] = name.split(' ');
    this.put({
      assessment: assessment({ id, certified_on, name, first_name, last_name, ...more }),
      legacy: false,
      archived: false,
    });
  }

  /** Adds so many records of a day, with consecutive ids. */
  addMany(first: number, count: number, certified_on: string): void {
    for (let id = first; id < first + count; id++) this.add(id, certified_on);
  }

  edit(id: number, more: Partial<Assessment> = { email: `changed-${id}@example.org` }): void {
    const record = this.#record(id);
    this.put({ ...record, assessment: { ...record.assessment, ...more } });
  }

  /** From now on, the partner serves the record with undocumented fields; `false` repairs it. */
  spoil(id: number, malformed: HostRecord['malformed'] = true): void {
    this.put({ ...this.#record(id), malformed });
  }

  remove(id: number): void {
    this.#removed.set(id, this.#record(id));
    this.#rows.delete(id);
  }

  #record(id: number): HostRecord {
    const record = this.records.get(id);
    if (record === undefined) throw new Error(`there is no ${id}`);
    return record;
  }

  get nowMs(): number {
    return this.#clock.now().epochMilliseconds;
  }

  /** The replica learns all changes up to this moment. */
  catchUp(): void {
    this.#rows.forgetPast();
  }

  /** The records that answer a request: the current ones, or the replica's. */
  #answering(): View<HostRecord> {
    if (this.replicaLagMs === 0 || !this.isReplica()) return this.#rows;
    return this.#rows.asOf(this.nowMs - this.replicaLagMs);
  }

  /** Carries a client's requests to this partner. */
  readonly dispatcher: RequestDispatcher = dispatcherTo((request, signal) =>
    this.respond(request, signal),
  );

  /** Answers a request after the partner's time, unless the signal ends the wait. */
  async respond(request: HttpRequest, signal: AbortSignal): Promise<HostAnswer | 'reset'> {
    const received = this.#received(request);
    this.requests.push(received);
    const fault = this.#isTooMany() ? tooManyRequests() : this.#before(received);
    if (this.answerMs > 0) await this.#clock.sleep(this.answerMs, signal);
    return this.#delivered(fault, received, request, signal);
  }

  async #delivered(
    fault: Fault | undefined,
    received: Received,
    request: HttpRequest,
    signal: AbortSignal,
  ): Promise<HostAnswer | 'reset'> {
    if (fault === 'silence') {
      // The caller has its own time limit.
      await this.#clock.sleep(foreverMs, signal);
      return 'reset';
    }
    if (fault !== undefined && fault !== 'half') return fault;
    const answer = this.#answer(received, request);
    if (fault === 'half') return { ...answer, breaksOff: true };
    const lost = received.kind === 'list' ? this.onListed(received.query) : undefined;
    return lost === undefined ? answer : this.#delivered(lost, received, request, signal);
  }

  #isTooMany(): boolean {
    if (this.#minute.admits(this.nowMs, this.requestsPerMinute)) return false;
    this.refusals += 1;
    return true;
  }

  #before(received: Received): Fault | undefined {
    if (received.kind === 'token') return this.onToken();
    const fault = received.kind === 'list' ? this.onList(received.query) : this.onGet(received.id);
    return fault ?? this.fault;
  }

  #received({ method, path }: HttpRequest): Received {
    if (method === 'POST' && path === '/oauth/token') return { kind: 'token' };
    const [endpoint, search = ''] = path.split('?');
    if (endpoint === assessments) return { kind: 'list', query: this.#query(search) };
    const id = endpoint?.slice(assessments.length + 1);
    if (id !== undefined && /^\d+$/.test(id)) return { kind: 'get', id: Number(id) };
    throw new Error(`the partner has no ${method} ${path}`);
  }

  #query(search: string): ParsedQuery {
    const read = () => documentRules.listQuery(readRawQuery(new URLSearchParams(search)));
    return once(this.#queries, search, read);
  }

  #answer(received: Received, { headers, body }: HttpRequest): HostAnswer {
    const now = this.nowMs;
    const { status, ...rest } = this.#judged(received, headers, body, now);
    return {
      status,
      ...rest,
      headers: { ...json, ...rest.headers, date: new Date(now).toUTCString() },
    };
  }

  #judged(
    received: Received,
    { authorization, 'content-type': contentType }: Readonly<Record<string, string>>,
    body: string,
    now: number,
  ): HostAnswer {
    if (received.kind === 'token')
      return written(
        this.access.issue({ authorization, contentType, body }, documentRules, now, this.switches),
      );
    if (!this.access.admits(authorization, now, this.switches)) return invalidToken;
    if (received.kind === 'list') return this.#list(received.query);
    const record = this.singleRecordsBroken ? undefined : this.#single(received.id);
    if (record === undefined) return notFound;
    return { status: 200, body: this.#text(record), ...this.#weighed([record]) };
  }

  #single(id: number): HostRecord | undefined {
    return this.#answering().all.get(id) ?? (this.isZombie(id) ? this.#removed.get(id) : undefined);
  }

  #list(query: ParsedQuery): HostAnswer {
    if (this.cacheMs === 0) return this.#page(query);
    const now = this.nowMs;
    return this.#cache.get(query, now - this.cacheMs, now, () => this.#page(query));
  }

  #page(query: ParsedQuery): HostAnswer {
    const cut = { ...query, page: Math.min(query.page, this.pageRows) };
    const matches = this.#matches(cut);
    const right = matches.rows.filter(({ assessment: { id } }) => !this.hidden.has(id));
    const rows = this.rows(right, query);
    const { offset, page } = cut;
    const count = this.count(matches.count, query);
    const data = rows.map((record) => this.#text(record)).join();
    const meta = { count, offset, page: this.statedRows ?? page };
    const body = `{"data":[${data}],"meta":${JSON.stringify(meta)}}`;
    return { status: 200, body, ...this.#weighed(rows) };
  }

  /** An answer of this weight only states its length: no client reads so much. */
  #weighed(rows: readonly HostRecord[]): Pick<HostAnswer, 'headers'> {
    const bytes = rows.reduce(
      (sum, { assessment }) => sum + (this.weights.get(assessment.id) ?? 0),
      0,
    );
    if (bytes <= DEFAULT_LIMITS.maxResponseBytes) return {};
    return { headers: { 'content-length': String(bytes) } };
  }

  #matches(query: ParsedQuery): Matches<HostRecord> {
    const { order: userName, tie } = this;
    const { all, byDay } = this.#answering();
    const rows = this.twinOf === undefined ? byDay : new RowsByDay(this.#withTwins(all.values()));
    return list(rows, query, matching(query), { userName, tie });
  }

  #withTwins(records: Iterable<HostRecord>): HostRecord[] {
    this.#isTwinFirst = !this.#isTwinFirst;
    return [...records].flatMap((one) => {
      const both = [one, this.twinOf?.(one) ?? []].flat();
      return this.#isTwinFirst ? both.toReversed() : both;
    });
  }

  /** A record's JSON, written once. */
  #text(record: HostRecord): string {
    const { assessment, odd, malformed } = record;
    const fields = malformed === true ? { certified_on: null } : malformed;
    const served = () => JSON.stringify({ ...assessment, ...odd, ...(fields || {}) });
    return once(this.#texts, record, served);
  }
}

/** Longer than any client waits. */
const foreverMs = 86_400_000;

type Respond = (request: HttpRequest, signal: AbortSignal) => Promise<HostAnswer | 'reset'>;

/** Carries requests to the function that answers them, as undici's pool carries them to a host. */
export function dispatcherTo(respond: Respond): RequestDispatcher {
  let isClosed = false;
  return {
    dispatch(options, handler) {
      const wire = new Wire(handler);
      if (isClosed) wire.fail('UND_ERR_CLOSED');
      else void wire.carry(respond, requestOf(options));
      return true;
    },
    close: async () => {
      isClosed = true;
    },
  };
}

/** One request and its answer, which may be aborted at any time. */
class Wire implements Dispatcher.DispatchController {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #abortion = new AbortController();
  readonly paused = false;
  reason: Error | null = null;

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler;
  }

  get aborted(): boolean {
    return this.reason !== null;
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.reason = reason;
    this.#abortion.abort(reason);
    this.#handler.onResponseError?.(this, reason);
  }

  pause(): void {}

  resume(): void {}

  fail(code: string): void {
    this.abort(Object.assign(new Error(code), { code }));
  }

  async carry(respond: Respond, request: HttpRequest): Promise<void> {
    // The sender must be ready to receive it first.
    await Promise.resolve();
    this.#handler.onRequestStart?.(this, {});
    if (this.aborted) return;
    const answer = await respond(request, this.#abortion.signal).catch((error: unknown) => {
      if (!this.aborted) throw error;
    });
    if (this.aborted || answer === undefined) return;
    if (answer === 'reset') this.fail('ECONNRESET');
    else this.#deliver(answer);
  }

  #deliver({ status, headers = {}, body = '', breaksOff = false }: HostAnswer): void {
    const bytes = Buffer.from(body);
    const isTooLong = Number(headers['content-length'] ?? 0) > DEFAULT_LIMITS.maxResponseBytes;
    this.#handler.onResponseStart?.(this, status, {
      'content-length': String(bytes.length),
      ...headers,
    });
    if (this.aborted) return;
    if (isTooLong) {
      this.fail('UND_ERR_RES_EXCEEDED_MAX_SIZE');
      return;
    }
    this.#handler.onResponseData?.(this, breaksOff ? bytes.subarray(0, bytes.length / 2) : bytes);
    if (this.aborted) return;
    if (breaksOff) this.fail('UND_ERR_SOCKET');
    else this.#handler.onResponseEnd?.(this, {});
  }
}

function requestOf({ method, path, headers, body }: Dispatcher.DispatchOptions): HttpRequest {
  const pairs = Object.entries(headers ?? {});
  return {
    method,
    path,
    headers: Object.fromEntries(pairs.map(([name, value]) => [name, String(value)])),
    body: typeof body === 'string' ? body : '',
  };
}

/** Turns the sandbox's JSON values into bytes. */
function written({ status, headers, body }: SandboxAnswer): HostAnswer {
  return { status, headers: { ...json, ...headers }, body: JSON.stringify(body) };
}

function askedBy({ page, sort, descending, offset }: ParsedQuery): Asked {
  if (page === 1) return 'count';
  if (sort !== 'certified_on') return 'prove';
  if (descending) return 'pulse';
  return offset === 0 ? 'oldest' : 'tail';
}
