import type { HttpRequest } from '../../lambda/partner/transport.ts';

/** `name` → value, or one value per repetition of the name. */
export type Params = Readonly<Record<string, string | readonly string[]>>;

const assessments = '/api/v1/ax/assessments';

export function list(params: Params): HttpRequest {
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
  return { kind: 'list', method: 'GET', path: `${assessments}?${new URLSearchParams(pairs)}` };
}

export const record = (id: number): HttpRequest => ({
  kind: 'get',
  method: 'GET',
  path: `${assessments}/${id}`,
});

/** A token request with these form parameters. */
export const tokenRequest = (fields: Readonly<Record<string, string>>): HttpRequest => ({
  kind: 'token',
  method: 'POST',
  path: '/oauth/token',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
});

/** The request with an `Authorization` header, or expressly without one. */
export const authorized = (request: HttpRequest, authorization?: string): HttpRequest => ({
  ...request,
  headers: { ...request.headers, ...(authorization !== undefined && { authorization }) },
});
