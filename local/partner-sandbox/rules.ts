import type { DocumentedRecord } from '../documented-record.ts';
import type { SandboxRow, Scope } from './genesis.ts';
import { type Matching, matching } from './matching.ts';
import { type ParsedQuery, type RawQuery, readListQuery } from './query.ts';
import type { View } from './rows.ts';

/** An answer before it is written: an HTTP status and a JSON body. */
export interface SandboxAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Meta {
  readonly count: number;
  readonly offset: number;
  readonly page: number;
}

/**
 * The statements of the document, one seam each. A server with exactly one mistake is this one with one replaced seam
 * (deviations.ts).
 */
export interface Rules {
  /** 2.1: the lifetime in a token answer, in seconds. */
  readonly expiresIn: (lifetime: number) => number;
  readonly tokenType: string;
  /** 4.2 */
  readonly listQuery: (raw: RawQuery) => ParsedQuery;
  readonly matching: (query: ParsedQuery, raw: RawQuery) => Matching;
  /** Refuses a list request. The document knows no refusal. */
  readonly refuse: (raw: RawQuery, scope: Scope) => SandboxAnswer | undefined;
  readonly meta: (count: number, query: ParsedQuery, rows: number) => Meta;
  /** 2.2: a record, in the list and by itself. */
  readonly record: (assessment: DocumentedRecord) => unknown;
  /** 4.3 */
  readonly single: (record: unknown) => unknown;
  readonly find: (id: number, view: View<SandboxRow>) => SandboxRow | undefined;
  readonly notFound: SandboxAnswer;
  /** 7 */
  readonly invalidClient: SandboxAnswer;
  readonly unsupportedGrantType: SandboxAnswer;
  readonly invalidToken: SandboxAnswer;
  readonly noOrganizations: SandboxAnswer;
  readonly noAssessments: SandboxAnswer;
}

export const limits = { maximumPage: 100, defaultPage: 50 } as const;

const tokenDescription = 'The access token is invalid';

export const documentRules: Rules = {
  expiresIn: (lifetime) => lifetime,
  tokenType: 'Bearer',
  listQuery: (raw) => readListQuery(raw, limits),
  matching,
  refuse: () => undefined,
  meta: (count, { offset, page }) => ({ count, offset, page }),
  record: (assessment) => assessment,
  single: (record) => record,
  find: (id, { all }) => all.get(id),
  notFound: { status: 404, body: { errors: [{ message: 'Assessment not found' }] } },
  invalidClient: { status: 401, body: { error: 'invalid_client' } },
  unsupportedGrantType: { status: 400, body: { error: 'unsupported_grant_type' } },
  invalidToken: {
    status: 401,
    body: { error: 'invalid_token', error_description: tokenDescription },
    headers: {
      'WWW-Authenticate': `Bearer error="invalid_token", error_description="${tokenDescription}"`,
    },
  },
  noOrganizations: {
    status: 400,
    body: { errors: [{ message: 'Invalid or missing tenant ids' }] },
  },
  noAssessments: { status: 400, body: { errors: [{ message: 'Invalid or missing product ids' }] } },
};
