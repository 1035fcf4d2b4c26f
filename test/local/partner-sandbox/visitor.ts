import type { DocumentedRecord } from '../../../local/documented-record.ts';
import type { PartnerSandbox } from '../../../local/partner-sandbox/index.ts';

export interface Page {
  readonly data: readonly DocumentedRecord[];
  readonly meta: { readonly count: number; readonly offset: number; readonly page: number };
}

/** The answer to a request for a token, as a person would send it with curl. */
export function askForToken({ url, credentials }: PartnerSandbox): Promise<Response> {
  return fetch(`${url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
    }),
  });
}

export async function tokenFor(sandbox: PartnerSandbox): Promise<string> {
  return JSON.parse(await (await askForToken(sandbox)).text()).access_token;
}

export interface Visitor {
  request(pathAndQuery: string): Promise<Response>;
  list(query?: string): Promise<Page>;
}

export async function visit(sandbox: PartnerSandbox): Promise<Visitor> {
  const token = await tokenFor(sandbox);
  const request = (pathAndQuery: string) =>
    fetch(sandbox.url + pathAndQuery, { headers: { authorization: `Bearer ${token}` } });
  return {
    request,
    list: async (query = '') => {
      const response = await request(`/api/v1/ax/assessments?${query}`);
      if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
      return JSON.parse(await response.text());
    },
  };
}
