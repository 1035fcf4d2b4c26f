import * as z from 'zod';
import type { PartnerReady } from './child.ts';

const logged = z.array(z.object({ path: z.string() }));
const apiPath = '/api/';

/** docs/partner.md#control-it. */
export async function controlSandbox(
  { url }: PartnerReady,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const response = await fetch(`${url}/_sandbox${path}`, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`The sandbox refuses ${method} ${path}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Requests to the API since the log was emptied. */
export async function requestsTo(partner: PartnerReady): Promise<number> {
  const log = logged.parse(await controlSandbox(partner, 'GET', '/requests'));
  return log.filter(({ path }) => path.startsWith(apiPath)).length;
}
