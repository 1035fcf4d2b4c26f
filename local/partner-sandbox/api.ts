import type { Clock } from '../../lambda/clock.ts';
import { AnswerCache } from './answer-cache.ts';
import { blemish, malform } from './blemish.ts';
import { deviate } from './deviations.ts';
import type { Route, SandboxFault } from './faults.ts';
import type { SandboxRow } from './genesis.ts';
import { list } from './list.ts';
import { readRawQuery } from './query.ts';
import { type Random, scramble } from './random.ts';
import { RequestsOfMinute } from './requests-of-minute.ts';
import type { Row, View } from './rows.ts';
import { documentRules, type Rules, type SandboxAnswer } from './rules.ts';
import type { Switches } from './switches.ts';
import type { AuthorizedRequest, TokenIssuer } from './token-issuer.ts';
import type { World } from './world.ts';

export interface ApiRequest extends AuthorizedRequest {
  readonly method: string;
  readonly path: string;
  readonly params: URLSearchParams;
}

/** `/oauth/token`, the list, or a single record; undefined for every other path. */
export function routeOf({ method, path }: ApiRequest): Route | undefined {
  const bare = path.replace(/\/$/, '');
  if (bare === '/oauth/token') return method === 'POST' ? 'token' : undefined;
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (bare === '/api/v1/ax/assessments') return 'list';
  return /^\/api\/v1\/ax\/assessments\/[^/]+$/.test(bare) ? 'record' : undefined;
}

const noRoute: SandboxAnswer = { status: 404, body: { status: 404, error: 'Not Found' } };

const tooManyRequests: SandboxAnswer = {
  status: 429,
  body: { errors: [{ message: 'Too many requests' }] },
};

/** Changes of the world over time: by chance (life.ts), or by a timetable (timetable.ts). */
export interface Happenings {
  /** Makes the changes that were due by `now`, in epoch milliseconds. */
  catchUp(now: number, backdated: number): void;
  /** Makes one change, with a probability. */
  churn(now: number, probability: number, backdated: number): void;
}

export interface ApiParts {
  readonly world: World;
  readonly life: Happenings;
  readonly clock: Clock;
  /** Decides which requests the replica answers. */
  readonly random: Random;
  readonly access: TokenIssuer;
}

/** The partner's API without its transport: it answers a request at an instant. */
export class Api {
  readonly #parts: ApiParts;
  #switches: Switches;
  #rules: Rules;
  /** The number of lists so far. */
  #listed = 0;
  readonly #answers = new AnswerCache<string, SandboxAnswer>();
  readonly #minute = new RequestsOfMinute();

  constructor(parts: ApiParts, switches: Switches) {
    this.#parts = parts;
    this.#switches = switches;
    this.#rules = deviate(documentRules, switches.deviations);
  }

  get access(): TokenIssuer {
    return this.#parts.access;
  }

  get switches(): Switches {
    return this.#switches;
  }

  set switches(switches: Switches) {
    this.#switches = switches;
    this.#rules = deviate(documentRules, switches.deviations);
  }

  get #nowMs(): number {
    return this.#parts.clock.now().epochMilliseconds;
  }

  /** The server's time, in epoch milliseconds. */
  now(): number {
    return this.#nowMs + this.#switches.clockSkew * 1000;
  }

  /** Makes the changes that are due by now. */
  catchUp(): void {
    this.#parts.life.catchUp(this.#nowMs, this.#switches.backdated);
  }

  answer(request: ApiRequest, fault?: SandboxFault): SandboxAnswer {
    const route = routeOf(request);
    if (route === undefined) return noRoute;
    if (this.#isTooMany()) return tooManyRequests;
    if (route === 'token') {
      return this.access.issue(request, this.#rules, this.now(), this.#switches);
    }
    if (fault?.kind === 'unauthorized') return this.#rules.invalidToken;
    if (!this.access.admits(request.authorization, this.now(), this.switches))
      return this.#rules.invalidToken;
    const { organizationIds, productIds } = this.#parts.world.scope;
    if (organizationIds.size === 0) return this.#rules.noOrganizations;
    if (productIds.size === 0) return this.#rules.noAssessments;
    this.catchUp();
    return route === 'list' ? this.#list(request.params, fault) : this.#record(request.path, fault);
  }

  /** The rows that answer this request: those of now, or of a replica that lags. */
  #answering(): View<SandboxRow> {
    const { replicaLag } = this.#switches;
    const { rows } = this.#parts.world;
    if (replicaLag === 0 || this.#parts.random.chance(0.5)) return rows;
    return rows.asOf(this.#nowMs - replicaLag * 60_000);
  }

  #isTooMany(): boolean {
    const most = this.#switches.requestsPerMinute || Number.POSITIVE_INFINITY;
    return !this.#minute.admits(this.#nowMs, most);
  }

  #list(params: URLSearchParams, fault: SandboxFault | undefined): SandboxAnswer {
    const { churn, backdated, cache } = this.#switches;
    const now = this.#nowMs;
    this.#parts.life.churn(now, churn, backdated);
    if (cache === 0 || fault !== undefined) return this.#made(params, fault);
    return this.#answers.get(params.toString(), now - cache * 1_000, now, () =>
      this.#made(params, undefined),
    );
  }

  #made(params: URLSearchParams, fault: SandboxFault | undefined): SandboxAnswer {
    const { byDay } = this.#answering();
    const { unstableTies, userNameOrder: userName } = this.#switches;
    const raw = readRawQuery(params);
    const refusal = this.#rules.refuse(raw, this.#parts.world.scope);
    if (refusal !== undefined) return refusal;
    const query = this.#rules.listQuery(raw);
    const salt = ++this.#listed;
    const tie = unstableTies ? ({ assessment: { id } }: Row) => scramble(id, salt) : undefined;
    const { count, rows } = list(byDay, query, this.#rules.matching(query, raw), { userName, tie });
    return {
      status: 200,
      body: {
        data: rows.map((row, index) => this.#show(row, index === 0 ? fault : undefined)),
        meta: this.#rules.meta(count + this.#surplus(params), query, rows.length),
      },
    };
  }

  /** A record without a day is in no range of days. */
  #surplus(params: URLSearchParams): number {
    const isOfDays = [...params.keys()].some((name) => /(start|end)_date/.test(name));
    return isOfDays ? 0 : this.#switches.countOffset;
  }

  #record(path: string, fault: SandboxFault | undefined): SandboxAnswer {
    const view = this.#answering();
    const [, digits] = /\/(\d+)\/?$/.exec(path) ?? [];
    const row = digits === undefined ? undefined : this.#find(Number(digits), view);
    if (row === undefined) return this.#rules.notFound;
    return { status: 200, body: this.#rules.single(this.#show(row, fault)) };
  }

  #find(id: number, view: View<SandboxRow>): SandboxRow | undefined {
    const isZombie = scramble(id, 7) / 2 ** 32 < this.#switches.zombies;
    return (isZombie ? this.#parts.world.removed(id) : undefined) ?? this.#rules.find(id, view);
  }

  #show({ assessment, damage }: SandboxRow, fault: SandboxFault | undefined): unknown {
    if (fault?.kind === 'malformed-record') return malform(assessment);
    const shown = blemish(assessment, this.#switches, damage);
    return shown === assessment ? this.#rules.record(assessment) : shown;
  }
}
