import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Clock } from '../../lambda/clock.ts';
import { type Api, type ApiRequest, routeOf } from './api.ts';
import { control, controlPrefix, isLocal } from './control.ts';
import type { FaultQueue } from './faults.ts';
import type { PartnerSandbox } from './index.ts';
import type { RequestLog } from './request-log.ts';
import { afflict, readBody, send, writeAnswer } from './transport.ts';

export interface ServerParts {
  readonly api: Api;
  readonly queue: FaultQueue;
  readonly log: RequestLog;
  readonly clock: Clock;
  /** The parts that the control API acts on. */
  readonly sandbox: PartnerSandbox;
  /** Aborted when the sandbox closes, so that slow answers end with it. */
  readonly closing: AbortSignal;
}

const tooLarge = { status: 413, body: { errors: [{ message: 'Request body too large' }] } };
const notLocal = { status: 403, body: { message: 'Only for requests from this machine.' } };
const crashed = { status: 500, body: { status: 500, error: 'Internal Server Error' } };

export function requestListener(parts: ServerParts): RequestListener {
  return (request, response) => {
    handle(parts, request, response).catch((error: unknown) => {
      if (parts.closing.aborted || response.destroyed) return;
      console.error('sandbox:', error);
      if (response.headersSent) response.destroy();
      else send(response, writeAnswer(crashed), undefined, parts.closing);
    });
  };
}

async function handle(
  { api, queue, log, clock, sandbox, closing }: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '/', ...query] = (request.url ?? '/').split('?');
  const body = await readBody(request);
  if (body === undefined) {
    await send(response, writeAnswer(tooLarge), undefined, closing);
    return;
  }
  if (path === controlPrefix || path.startsWith(`${controlPrefix}/`)) {
    api.catchUp();
    const answer = isLocal(request)
      ? control(sandbox, request.method ?? 'GET', path, body)
      : notLocal;
    await send(response, writeAnswer(answer), undefined, closing);
    return;
  }
  const apiRequest: ApiRequest = {
    method: request.method ?? 'GET',
    path,
    params: new URLSearchParams(query.join('?')),
    authorization: request.headers.authorization,
    contentType: request.headers['content-type'],
    body,
  };
  const route = routeOf(apiRequest);
  const fault = route === undefined ? undefined : queue.take(route);
  const written = afflict(writeAnswer(api.answer(apiRequest, fault)), fault, api.now());
  log.add({
    at: clock.now().toString(),
    method: apiRequest.method,
    path: apiRequest.path,
    query: [...apiRequest.params],
    status: fault?.kind === 'reset' ? 0 : written.status,
    fault: fault?.kind,
  });
  response.setHeader('Date', new Date(api.now()).toUTCString());
  await send(response, written, fault, closing);
}
