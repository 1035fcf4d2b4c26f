import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Gate } from '../../local/aws/gate.ts';
import { ended, Running, startProgram } from './running.ts';

const cloudFormation = new Gate();
const folder = mkdtempSync(join(tmpdir(), 'signing-in-'));
const config = join(folder, 'config');
let environment: Record<string, string>;

beforeAll(async () => {
  writeFileSync(
    config,
    `[profile people]
region = us-east-1
sso_session = work
sso_account_id = 111122223333
sso_role_name = ops
[sso-session work]
sso_region = us-east-1
sso_start_url = https://sso.example.org
[profile machines]
region = eu-west-1
[profile nowhere]
aws_access_key_id = duty
aws_secret_access_key = duty
`,
  );
  environment = {
    NO_COLOR: '1',
    HOME: folder,
    AWS_CONFIG_FILE: config,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_ENDPOINT_URL_CLOUDFORMATION: await cloudFormation.open(),
  };
});
afterEach(() => {
  vi.unstubAllEnvs();
  cloudFormation.reset();
});
afterAll(async () => {
  await cloudFormation.close();
  rmSync(folder, { recursive: true });
});

const keys = { AWS_ACCESS_KEY_ID: 'duty', AWS_SECRET_ACCESS_KEY: 'duty' };

/** AWS's SDK searches the environment of this process. */
async function status(args: string, env: Record<string, string> = {}) {
  const all = { ...environment, ...env };
  for (const name of Object.keys(process.env))
    if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  const program = new Running(`status --stack prod ${args}`, { environment: all });
  const { exitCode, stdout, stderr } = await program.ended;
  expect(stdout).toBe('');
  const [problem, whatToDo, last] = stderr.trimEnd().split('\n  ');
  return { exitCode, problem, whatToDo, last };
}

/** The answer of CloudFormation. */
function answers(Code: string, status = 403): void {
  cloudFormation.always(async () => ({
    status,
    type: 'text/xml',
    body: `<ErrorResponse><Error><Type>Sender</Type><Code>${Code}</Code><Message>no</Message></Error></ErrorResponse>`,
  }));
}

describe('a person who is not signed in gets the cause and the next step:', () => {
  it('no region', async () => {
    expect(await status('', keys)).toEqual({
      exitCode: 2,
      problem: 'error: The region of the stack is not known.',
      whatToDo: 'Give --region, or set AWS_REGION, or a region in the profile.',
    });
    expect(await status('--profile nowhere')).toMatchObject({
      problem: 'error: The region of the stack is not known.',
    });
  });

  it('no credentials', async () => {
    expect(await status('--region us-east-1')).toEqual({
      exitCode: 4,
      problem: 'error: There are no usable AWS credentials.',
      whatToDo:
        'To have some, sign in (aws sso login, or as you usually do), or choose another --profile. aws sts get-caller-identity shows whether it works.',
      last: 'A retry alone does not help. (not-signed-in)',
    });
    expect(await status('--profile machines')).toMatchObject({
      exitCode: 4,
      problem: 'error: There are no usable AWS credentials.',
    });
  });

  it.each([
    ['by option', '--profile people', {}],
    ['by environment', '', { AWS_PROFILE: 'people' }],
  ])('an expired sign-in, %s', async (_how, args, env) => {
    expect(await status(args, env)).toEqual({
      exitCode: 4,
      problem: 'error: The sign-in of the AWS profile people has expired, or was never done.',
      whatToDo: 'Sign in: aws sso login --profile people. Then run it again.',
      last: 'A retry alone does not help. (not-signed-in)',
    });
  });

  it.each([
    ['by option', '--profile prodution', {}],
    ['by option, with a region', '--profile prodution --region us-east-1', {}],
    ['by environment', '', { AWS_PROFILE: 'prodution' }],
  ])('a missing profile, %s', async (_how, args, env) => {
    expect(await status(args, env)).toEqual({
      exitCode: 3,
      problem: 'error: There is no AWS profile prodution.',
      whatToDo: 'There are machines, nowhere, people. Name one with --profile, or AWS_PROFILE.',
      last: 'A retry alone does not help. (not-found)',
    });
  });

  it.each([
    ['ExpiredToken', 'error: The AWS credentials have expired.'],
    ['ExpiredTokenException', 'error: The AWS credentials have expired.'],
    ['InvalidClientTokenId', 'error: AWS does not know these credentials.'],
    ['SignatureDoesNotMatch', 'error: AWS does not know these credentials.'],
    ['AccessDenied', 'error: AWS refuses cloudformation:DescribeStacks (AccessDenied).'],
  ])('credentials that AWS answers with %s', async (code, problem) => {
    answers(code);
    expect(await status('--region us-east-1', keys)).toMatchObject({ exitCode: 4, problem });
  });
});

it('to machines as JSON', async () => {
  const child = startProgram('status --stack prod --json --profile people', environment);
  const { exitCode, stdout } = await ended(child);
  expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({
    exitCode: 4,
    problem: { code: 'not-signed-in' },
  });
});
