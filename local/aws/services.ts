import { createServer, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { jsonText } from '../../lambda/json-text.ts';
import type { LocalFunction } from './function.ts';
import type { LocalPlan } from './interpret.ts';
import { type SecretStore, ServiceFault } from './secret-store.ts';

/** The data behind the services. */
interface Known {
  readonly secrets: SecretStore;
  /** By name. */
  readonly functions?: ReadonlyMap<string, LocalFunction>;
  readonly schedules?: LocalPlan['schedules'];
  readonly keys?: LocalPlan['keys'];
  /** The only stack. */
  readonly stack?: {
    readonly name: string;
    readonly arn: string;
    /** Name → value. */
    readonly outputs: Readonly<Record<string, string>>;
  };
}

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The URL that invokes a function: `POST` with the event as the body, such as `curl --data '{…}'`. */
export function invocationUrl(endpoint: string, functionName: string): string {
  return `${endpoint}/2015-03-31/functions/${functionName}/invocations`;
}

/**
 * Stand-ins for services of AWS that do little here, as one server: Secrets Manager and KMS (AWS JSON 1.1), Lambda and
 * EventBridge Scheduler (REST), CloudFormation (query protocol). Errors have the names that the services use, so the
 * SDK throws its own exception classes. Signatures are not checked.
 */
export const services = (known: Known): Server =>
  answering(async (request) => {
    const target = request.headers['x-amz-target'];
    const body = await text(request);
    if (target !== undefined) return { body: JSON.stringify(operate(known, String(target), body)) };
    const asked = `${request.method} ${decodeURIComponent(request.url ?? '')}`;
    const [, invoked] = /^POST \/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(asked) ?? [];
    if (invoked !== undefined) return invoke(known, invoked, request, body);
    const [, schedule] = /^GET \/schedules\/([^/?]+)/.exec(asked) ?? [];
    if (schedule !== undefined) return { body: JSON.stringify(getSchedule(known, schedule)) };
    return cloudFormation(known, new URLSearchParams(body));
  });

/** A server whose refusals and defects are answers, too. */
function answering(answer: (request: IncomingMessage) => Promise<Answer>): Server {
  return createServer(async (request, response) => {
    const { status = 200, headers, body } = await answer(request).catch(refused);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
}

function refused(error: unknown): Answer {
  if (error instanceof z.ZodError)
    return refused(new ServiceFault('ValidationException', z.prettifyError(error)));
  if (error instanceof SyntaxError)
    return refused(new ServiceFault('SerializationException', 'This is not JSON.'));
  if (!(error instanceof ServiceFault))
    return refused(new ServiceFault('ServiceException', 'The embedded service failed.', 500));
  const { status, type, message: Message } = error;
  const headers = { 'x-amzn-errortype': type };
  return { status, headers, body: JSON.stringify({ __type: type, Message }) };
}

const secretValue = z.looseObject({
  SecretId: z.string(),
  VersionId: z.string().optional(),
  VersionStage: z.string().optional(),
});
const newValue = z.looseObject({
  SecretId: z.string(),
  SecretString: z.string(),
  ClientRequestToken: z.string().optional(),
});
const newSecret = newValue
  .omit({ SecretId: true })
  .partial()
  .extend({ Name: z.string().min(1) });
const key = z.object({ KeyId: z.string() });

/** Values of secrets are text only, and nothing is encrypted. */
const operations: Readonly<Record<string, (known: Known, input: unknown) => object>> = {
  'secretsmanager.GetSecretValue': ({ secrets }, input) => {
    const { SecretId, VersionId, VersionStage } = secretValue.parse(input);
    const { version, ...shown } = secrets.get(SecretId, VersionId, VersionStage);
    return { ...shown, SecretString: version.value, CreatedDate: version.createdAtMs / 1000 };
  },
  'secretsmanager.PutSecretValue': ({ secrets }, input) => {
    const { SecretId, SecretString, ClientRequestToken } = newValue.parse(input);
    secrets.put(SecretId, SecretString, ClientRequestToken);
    const { version: _, ...shown } = secrets.get(SecretId, ClientRequestToken);
    return shown;
  },
  'secretsmanager.CreateSecret': ({ secrets }, input) => {
    const { Name, SecretString, ClientRequestToken } = newSecret.parse(input);
    const { arn } = secrets.create(Name);
    if (SecretString === undefined) return { ARN: arn, Name };
    const { id } = secrets.put(Name, SecretString, ClientRequestToken);
    return { ARN: arn, Name, VersionId: id };
  },
  'TrentService.DescribeKey': (known, input) => {
    const { arn } = keyOf(known, input);
    return { KeyMetadata: { KeyId: arn.split('/').at(-1), Arn: arn, KeyState: 'Enabled' } };
  },
  'TrentService.GetKeyPolicy': (known, input) => ({
    Policy: keyOf(known, input).policy,
    PolicyName: 'default',
  }),
};

function operate(known: Known, target: string, body: string): object {
  const operation = operations[target];
  if (operation) return operation(known, JSON.parse(body));
  throw new ServiceFault('UnknownOperationException', 'The embedded service cannot do this.');
}

function keyOf({ keys = [] }: Known, input: unknown): LocalPlan['keys'][number] {
  const { KeyId } = key.parse(input);
  const found = keys.find(({ arn }) => arn === KeyId);
  if (found) return found;
  throw new ServiceFault('NotFoundException', `Key '${KeyId}' does not exist`);
}

const eventText = z.pipe(jsonText, z.json());

/** Invoke with the answer. An error of the function is an answer, too, as in Lambda. */
async function invoke(
  { functions }: Known,
  name: string,
  { headers }: IncomingMessage,
  body: string,
): Promise<Answer> {
  // An ARN also works as a name, as in AWS.
  const invoked = functions?.get(name.split(':').at(-1) ?? '');
  if (invoked === undefined)
    throw new ServiceFault('ResourceNotFoundException', `Function not found: ${name}`, 404);
  if ((headers['x-amz-invocation-type'] ?? 'RequestResponse') !== 'RequestResponse')
    throw new ServiceFault('InvalidParameterValueException', 'Only RequestResponse is known here.');
  const { data: event } = eventText.safeParse(body || '{}');
  if (event === undefined)
    throw new ServiceFault('InvalidRequestContentException', 'The event is not JSON.');
  const result = await invoked.invoke(event);
  if (result.outcome === 'returned')
    return {
      headers: { 'x-amz-executed-version': '$LATEST' },
      body: JSON.stringify(result.payload),
    };
  const { errorType, errorMessage, trace } = result;
  if (errorType === 'TooManyRequestsException')
    throw new ServiceFault(errorType, errorMessage, 429);
  return {
    headers: { 'x-amz-function-error': 'Unhandled' },
    body: JSON.stringify({ errorType, errorMessage, trace }),
  };
}

function getSchedule({ schedules = [] }: Known, name: string): object {
  const found = schedules.find((schedule) => schedule.name === name);
  if (found === undefined)
    throw new ServiceFault('ResourceNotFoundException', `Schedule ${name} does not exist.`, 404);
  return {
    Arn: found.arn,
    Name: found.name,
    GroupName: 'default',
    ScheduleExpression: found.expression,
    Target: { Arn: found.functionName, RoleArn: '', Input: found.input },
    State: found.enabled ? 'ENABLED' : 'DISABLED',
  };
}

const xml = (value: string) =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** DescribeStacks. */
function cloudFormation({ stack }: Known, parameters: URLSearchParams): Answer {
  const headers = { 'content-type': 'text/xml' };
  const refusal = (code: string, message: string) => ({
    status: 400,
    headers,
    body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${xml(message)}</Message></Error></ErrorResponse>`,
  });
  if (stack === undefined || parameters.get('Action') !== 'DescribeStacks')
    return refusal('InvalidAction', 'The embedded CloudFormation cannot do this.');
  const asked = parameters.get('StackName') ?? stack.name;
  // CloudFormation has no own error code for this.
  if (asked !== stack.name && asked !== stack.arn)
    return refusal('ValidationError', `Stack with id ${asked} does not exist`);
  const outputs = Object.entries(stack.outputs).map(
    ([name, value]) =>
      `<member><OutputKey>${name}</OutputKey><OutputValue>${xml(value)}</OutputValue></member>`,
  );
  return {
    headers,
    body: `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
<DescribeStacksResult><Stacks><member>
<StackName>${xml(stack.name)}</StackName><StackId>${xml(stack.arn)}</StackId>
<StackStatus>CREATE_COMPLETE</StackStatus><CreationTime>${new Date().toISOString()}</CreationTime>
<Outputs>${outputs.join('')}</Outputs>
</member></Stacks></DescribeStacksResult>
</DescribeStacksResponse>`,
  };
}

/** The used parts of a function's answer (payload version 2.0). */
const urlAnswer = z.object({
  statusCode: z.int(),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default(''),
});

/**
 * A stand-in for a function's URL without IAM. Each request is an invocation (payload version 2.0), and its result is
 * the answer. A result that is no answer gives 502, and a throttled function 429.
 */
export const functionUrl = (called: () => LocalFunction | undefined): Server =>
  answering(async (request) => {
    const [rawPath = '/', ...query] = (request.url ?? '/').split('?');
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
    const result = await called()?.invoke({
      version: '2.0',
      rawPath,
      rawQueryString: query.join('?'),
      headers: Object.fromEntries(headers),
      requestContext: { http: { method: request.method ?? 'GET', path: rawPath } },
      body: await text(request),
      isBase64Encoded: false,
    });
    if (result === undefined) throw new ServiceFault('NotFoundException', 'Not Found', 404);
    if (result.outcome === 'failed' && result.errorType === 'TooManyRequestsException')
      throw new ServiceFault(result.errorType, result.errorMessage, 429);
    const { data } = urlAnswer.safeParse(result.outcome === 'returned' && result.payload);
    if (data) return { status: data.statusCode, headers: data.headers, body: data.body };
    throw new ServiceFault('InternalServerErrorException', 'Internal Server Error', 502);
  });
