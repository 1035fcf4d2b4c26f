import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { run } from '../../infra/run.ts';
import { RunningProgram } from '../support/running.ts';
import {
  addresses,
  archive,
  bus,
  keyArn,
  pagerTopicArn,
  queue,
  slack,
  teams,
} from './config/settings.ts';

export const folder = mkdtempSync(join(tmpdir(), 'synth-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const district = { baseUrl: 'https://partner.example.org', timeZone: 'UTC' };
const onOperations = { topic: 'operations', protocol: 'email', endpoint: 'on-call@example.org' };
export const twoDistricts = {
  integrations: [
    { ...district, name: 'district-a' },
    { ...district, name: 'district-b' },
  ],
  subscriptions: [onOperations],
};

/** Each setting that adds resources or changes a policy. */
export const everything = {
  integrations: [
    { ...district, name: 'district-a' },
    {
      ...{ ...district, name: 'district-b', every: 15 },
      ...{ secretName: 'partner/district-b', secretKeyArn: keyArn },
    },
  ],
  runbookUrl: 'https://wiki.example.org/notifier/operations',
  logRetentionDays: 7,
  subscriptions: [
    { ...queue, endpoint: { newQueue: 'payroll', readers: ['arn:aws:iam::111122223333:role/a'] } },
    { ...bus, filter: { types: ['created'], organizations: [7], late: false } },
    { ...bus, bus: 'certifications' },
    { ...archive, keepDays: 400 },
    slack,
    { ...slack, topic: 'operations' },
    teams,
    { topic: 'alerts', protocol: 'email', endpoint: addresses.email },
    { topic: 'alerts', protocol: 'https', endpoint: addresses.https, raw: true },
    { topic: 'operations', protocol: 'lambda', endpoint: addresses.lambda },
  ],
  subscriberAccounts: ['444455556666'],
  pagerTopicArn,
  permissionsBoundary: 'boundary',
  tags: { team: 'certification' },
};

export function configFile(name: string, config: unknown): string {
  const file = join(folder, name);
  writeFileSync(file, `export default ${JSON.stringify(config)};`);
  return file;
}

/**
 * The app in this process, which loads the CDK once, without the functions' code, and with cdk-nag.
 *
 * @param judged by the CDK's validator as well, which takes seconds
 * @returns `found`: the CDK's findings
 */
export async function synthesis(
  file: string,
  { into = 'none', judged = false, context = {} } = {},
) {
  vi.stubEnv('CDK_OUTDIR', join(folder, into));
  vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify({ 'aws:cdk:bundling-stacks': [], ...context }));
  vi.stubEnv('CDK_VALIDATION', String(judged));
  let found = '';
  const find = (text: unknown) => {
    found += text;
    return true;
  };
  for (const one of [process.stdout, process.stderr])
    vi.spyOn(one, 'write').mockImplementation(find);
  for (const method of ['log', 'info', 'warn', 'error'] as const)
    vi.spyOn(console, method).mockImplementation(find);
  const { exitCode, stderr } = await new RunningProgram(run, [file]).ended;
  return { status: exitCode, stderr, found };
}

export const clean = { status: 0, stderr: '', found: '' };
