import { createServer, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import type { LocalFunction } from './function.ts';

/** The used parts of a function's answer (payload version 2.0). */
const answerSchema = z.object({
  statusCode: z.int(),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default(''),
});

/**
 * A stand-in for a function's URL without IAM. Each request is an invocation (payload version 2.0), and its result is
 * the answer. A result that is no answer gives 502, and a throttled function 429.
 */
export function functionUrl(called: () => LocalFunction | undefined): Server {
  return createServer(async (request, response) => {
    const target = called();
    const { statusCode, headers, body } = target
      ? await answer(request, target)
      : refused(404, 'Not Found');
    response.writeHead(statusCode, headers).end(body);
  });
}

async function answer(request: IncomingMessage, called: LocalFunction) {
  const [rawPath = '/', ...query] = (request.url ?? '/').split('?');
  const result = await called.invoke({
    version: '2.0',
    rawPath,
    rawQueryString: query.join('?'),
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    ),
    requestContext: { http: { method: request.method ?? 'GET', path: rawPath } },
    body: await text(request),
    isBase64Encoded: false,
  });
  if (result.outcome === 'returned') {
    const parsed = answerSchema.safeParse(result.payload);
    if (parsed.success) return parsed.data;
  }
  const isThrottled =
    result.outcome === 'failed' && result.errorType === 'TooManyRequestsException';
  return isThrottled ? refused(429, 'Rate Exceeded.') : refused(502, 'Internal Server Error');
}

function refused(statusCode: number, Message: string) {
  const headers = { 'content-type': 'application/json' };
  return { statusCode, headers, body: JSON.stringify({ Message }) };
}
