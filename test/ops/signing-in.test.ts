import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { nobodyThere } from '../support/nobody-there.ts';
import { Running } from './program-runner.ts';

const folder = mkdtempSync(join(tmpdir(), 'signing-in-'));
const config = join(folder, 'config');
const environment: Record<string, string> = {
  ...{ NO_COLOR: '1', HOME: folder, AWS_CONFIG_FILE: config },
  ...{ AWS_SHARED_CREDENTIALS_FILE: devNull, AWS_EC2_METADATA_DISABLED: 'true' },
  AWS_ENDPOINT_URL_CLOUDFORMATION: nobodyThere,
};

const profiles = `[profile people]
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
`;
writeFileSync(config, profiles);
afterAll(() => rmSync(folder, { recursive: true }));

/** AWS's SDK searches the environment of this process. */
async function status(args: string, env: Record<string, string>) {
  const all = { ...environment, ...env };
  for (const name of Object.keys(process.env))
    if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  return new Running(`status --stack prod ${args}`, { environment: all }).ended;
}

const keys = { AWS_ACCESS_KEY_ID: 'duty', AWS_SECRET_ACCESS_KEY: 'duty' };
const noRegion = `error: The region of the stack is not known.
  Give --region, or set AWS_REGION, or a region in the profile.`;
const noCredentials = `error: There are no usable AWS credentials.
  To have some, sign in (aws sso login, or as you usually do), or choose another --profile. aws sts get-caller-identity shows whether it works.
  A retry alone does not help. (not-signed-in)`;
const expired = `error: The sign-in of the AWS profile people has expired, or was never done.
  Sign in: aws sso login --profile people. Then run it again.
  A retry alone does not help. (not-signed-in)`;
const noProfile = `error: There is no AWS profile prodution.
  There are machines, nowhere, people. Name one with --profile, or AWS_PROFILE.
  A retry alone does not help. (not-found)`;

it.each<[args: string, env: Record<string, string>, exitCode: number, said: string]>([
  ['', keys, 2, noRegion],
  ['--profile nowhere', {}, 2, noRegion],
  ['--region us-east-1', {}, 4, noCredentials],
  ['--profile machines', {}, 4, noCredentials],
  ['--profile people', {}, 4, expired],
  ['', { AWS_PROFILE: 'people' }, 4, expired],
  ['--profile prodution', {}, 3, noProfile],
  ['--profile prodution --region us-east-1', {}, 3, noProfile],
  ['', { AWS_PROFILE: 'prodution' }, 3, noProfile],
])(
  'a person who is not signed in gets the cause and the next step: %s %j',
  async (args, env, exitCode, said) => {
    const { stderr, ...ended } = await status(args, env);
    expect(stderr).toContain(said);
    expect(ended).toEqual({ exitCode, stdout: '' });
  },
);
