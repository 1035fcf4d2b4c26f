import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as cdk from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { buildApp } from '../../infra/build-app.ts';
import { parseConfig } from '../../infra/config.ts';

export { district } from './config/settings.ts';

const known = new Map<string, Template>();

/**
 * The stack of a configuration, without the functions' code. The same configuration returns the
 * same stack.
 */
export function synthesized(input: unknown): Template {
  const key = JSON.stringify(input);
  const template = known.get(key) ?? synthesizedNow(input);
  known.set(key, template);
  return template;
}

function synthesizedNow(input: unknown): Template {
  const outdir = mkdtempSync(join(tmpdir(), 'stack-'));
  try {
    const app = buildApp(parseConfig(input), { bundle: false, outdir });
    const stack = app.node.children.find((child) => child instanceof cdk.Stack);
    if (!(stack instanceof cdk.Stack)) throw new Error('the app has no stack');
    return Template.fromStack(stack);
  } finally {
    rmSync(outdir, { recursive: true });
  }
}

export type Json = Readonly<Record<string, unknown>>;

export function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), value);
}

export function listAt(value: unknown, ...path: string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** All resources of a type. */
export const every = (template: Template, type: string): unknown[] =>
  Object.values(template.findResources(type));

export const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });

/** The one resource of a type with these properties. */
export function only(
  template: Template,
  type: string,
  properties: Json = {},
): { id: string; resource: unknown } {
  const found = Object.entries(template.findResources(type, { Properties: properties }));
  const [entry] = found;
  if (found.length !== 1 || !entry) throw new Error(`${found.length} resources of ${type}`);
  return { id: entry[0], resource: entry[1] };
}

const displayNames = {
  events: 'Certification events',
  alerts: 'Certification alerts',
  operations: 'Certification notifier operations',
  'alerts for chats': 'Certification alerts, for chats',
  'operations for chats': 'Certification notifier operations, for chats',
};

/** The id of a topic. */
export const topicOf = (template: Template, name: keyof typeof displayNames) =>
  only(template, 'AWS::SNS::Topic', { DisplayName: displayNames[name] }).id;

export function roleOf(template: Template, service: string, mentions: string): unknown {
  const [entry] = Object.entries(template.findResources('AWS::IAM::Role')).filter(
    ([id, role]) => JSON.stringify(role).includes(service) && id.includes(mentions),
  );
  if (!entry) throw new Error(`no role of ${service}`);
  return entry[1];
}

/** The resources of each action that a role allows. */
export function permissions(role: unknown): Map<string, unknown[]> {
  const granted = new Map<string, unknown[]>();
  for (const statement of statementsOf(role))
    for (const action of [at(statement, 'Action')].flat())
      granted.set(String(action), [at(statement, 'Resource')].flat());
  return granted;
}

export function statementsOf(role: unknown): unknown[] {
  return listAt(role, 'Properties', 'Policies').flatMap((policy) =>
    listAt(policy, 'PolicyDocument', 'Statement'),
  );
}
