import { createServer, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import type { LocalFunction } from './function.ts';
import type { Json } from './template.ts';

const path = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;

/** The URL that invokes a function: `POST` with the event as the body, such as `curl --data '{…}'`. */
export function invocationUrl(endpoint: string, functionName: string): string {
  return `${endpoint}/2015-03-31/functions/${functionName}/invocations`;
}

interface ServiceAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Json;
}

/**
 * A stand-in for AWS Lambda: Invoke (API version 2015-03-31) with the answer. An error of the function is an answer,
 * too, as in Lambda. Signatures are not checked.
 */
export function lambdaService(functions: ReadonlyMap<string, LocalFunction>): Server {
  return createServer(async (request, response) => {
    const { status, headers, body } = await handle(request, functions).catch(() =>
      refused(500, 'ServiceException', 'The embedded Lambda failed.'),
    );
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));
  });
}

async function handle(
  request: IncomingMessage,
  functions: ReadonlyMap<string, LocalFunction>,
): Promise<ServiceAnswer> {
  const [, name = ''] = path.exec(decodeURIComponent(request.url ?? '')) ?? [];
  // An ARN also works as a name, as in AWS.
  const invoked = functions.get(name.split(':').at(-1) ?? '');
  if (request.method !== 'POST' || invoked === undefined)
    return refused(404, 'ResourceNotFoundException', `Function not found: ${name}`);
  const type = request.headers['x-amz-invocation-type'] ?? 'RequestResponse';
  if (type !== 'RequestResponse')
    return refused(400, 'InvalidParameterValueException', 'Only RequestResponse is known here.');
  const event = parsed(await text(request));
  if (event === undefined)
    return refused(400, 'InvalidRequestContentException', 'The event is not JSON.');

  const result = await invoked.invoke(event);
  if (result.outcome === 'returned')
    return { status: 200, headers: { 'x-amz-executed-version': '$LATEST' }, body: result.payload };
  const { errorType, errorMessage, trace } = result;
  if (errorType === 'TooManyRequestsException') return refused(429, errorType, errorMessage);
  return {
    status: 200,
    headers: { 'x-amz-function-error': 'Unhandled' },
    body: { errorType, errorMessage, trace: [...trace] },
  };
}

function refused(status: number, type: string, Message: string): ServiceAnswer {
  return { status, headers: { 'x-amzn-errortype': type }, body: { Message } };
}

function parsed(body: string): Json | undefined {
  try {
    return JSON.parse(body === '' ? '{}' : body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
