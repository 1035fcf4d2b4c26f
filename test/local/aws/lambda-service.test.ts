import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedAws, startEmbeddedAws } from '../../../local/aws/index.ts';
import { invocationUrl } from '../../../local/aws/services.ts';
import { synthesizeSmallStack } from './small-stack.ts';

let aws: EmbeddedAws;
let assembly: string;
let name: string;

beforeAll(async () => {
  assembly = synthesizeSmallStack();
  aws = await startEmbeddedAws(assembly);
  [name = ''] = aws.functions.keys();
});
afterAll(async () => {
  await aws.close();
  await rm(assembly, { recursive: true });
});

const invoke = (body: string, headers: Record<string, string> = {}, functionName = name) =>
  fetch(invocationUrl(aws.endpoints.lambda, functionName), { method: 'POST', body, headers });

test("a posted event is handled by name or ARN, and the answer is the function's result", async () => {
  const { arn = '' } = aws.functions.get(name) ?? {};
  for (const called of [name, encodeURIComponent(arn)]) {
    const answer = await invoke('{}', {}, called);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-amz-function-error')).toBeNull();
    expect(await answer.json()).toMatchObject({ memory: '256' });
  }
});

test("a function's error is reported as by Lambda", async () => {
  const answer = await invoke('{"do": "throw"}');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-amz-function-error')).toBe('Unhandled');
  expect(await answer.json()).toMatchObject({
    errorType: 'TypeError',
    errorMessage: 'no such thing',
  });
});

test('a busy function is throttled', async () => {
  const busy = invoke('{"do": "hang"}');
  await expect
    .poll(async () => (await invoke('{}')).headers.get('x-amzn-errortype'), { interval: 5 })
    .toBe('TooManyRequestsException');
  await busy;
});

test.each([
  ['no such function', () => invoke('{}', {}, 'Other'), 404, 'ResourceNotFoundException'],
  ['an event that is not JSON', () => invoke('{'), 400, 'InvalidRequestContentException'],
  [
    'an invocation without a wait for its answer',
    () => invoke('{}', { 'x-amz-invocation-type': 'Event' }),
    400,
    'InvalidParameterValueException',
  ],
  ['a name that is not encoded', () => invoke('{}', {}, '%E0%A4%A'), 500, 'ServiceException'],
])('%s is refused', async (_, request, status, type) => {
  const answer = await request();
  expect(answer.status).toBe(status);
  expect(answer.headers.get('x-amzn-errortype')).toBe(type);
});
