import { ledgerTable } from '../../lambda/names.ts';
import type { AwsCall } from '../../local/aws/gate.ts';
import { Resolver } from '../../local/aws/intrinsics.ts';
import type { Json, StackPlace, Template } from '../../local/aws/template.ts';

/** One action on one resource, allowed by a policy or needed by a call. */
export interface Permission {
  readonly action: string;
  readonly resource: string;
  /** Partition keys of a call, or patterns of the allowed ones. Absent: none, or any. */
  readonly keys?: readonly string[];
}

export interface RoleOfFunction {
  /** Physical name. */
  readonly functionName: string;
  readonly logicalId: string;
  readonly granted: readonly Permission[];
}

/** The permissions that the template's roles give its functions, with every reference resolved. */
export function rolesOfFunctions(template: Template, place: StackPlace): RoleOfFunction[] {
  const resolver = new Resolver(template, place);
  return Object.entries(template.Resources)
    .filter(([, { Type }]) => Type === 'AWS::Lambda::Function')
    .map(([logicalId, { Properties }]) => ({
      logicalId,
      functionName: resolver.identity(logicalId).ref,
      granted: policiesOf(template, roleIdOf(Properties.Role)).flatMap((policy) =>
        permissionsOf(resolver.resolve(policy, logicalId)),
      ),
    }));
}

function roleIdOf(role: Json | undefined): string {
  const [id] = listOf(field(role, 'Fn::GetAtt'));
  if (typeof id !== 'string') throw new Error('a function has a role that is not of the stack');
  return id;
}

/** Inline policies, and separate policies that name the role. */
function policiesOf(template: Template, roleId: string): Json[] {
  const role = template.Resources[roleId]?.Properties;
  if (role === undefined) throw new Error(`the stack has no role ${roleId}`);
  if (listOf(role.ManagedPolicyArns).length > 0)
    throw new Error(`${roleId} has managed policies: nobody can say what of them is used`);
  const attached = Object.values(template.Resources)
    .filter(({ Type }) => /^AWS::IAM::(Managed)?Policy$/.test(Type))
    .map(({ Properties }) => Properties)
    .filter(({ Roles }) => listOf(Roles).some((one) => field(one, 'Ref') === roleId));
  return [...listOf(role.Policies), ...attached].map((policy) => field(policy, 'PolicyDocument'));
}

const leadingKeys = 'dynamodb:LeadingKeys';

/** Only conditions on partition keys are read: the embedded parts know no others. */
function permissionsOf(document: Json | undefined): Permission[] {
  return listOf(field(document, 'Statement')).flatMap((statement) => {
    const actions = listOf(field(statement, 'Action'));
    const resources = listOf(field(statement, 'Resource'));
    if (field(statement, 'Effect') !== 'Allow' || !actions.length || !resources.length)
      throw new Error('only statements that allow actions on resources are understood');
    const keys = keysAllowed(field(statement, 'Condition'));
    return actions
      .map(String)
      .flatMap((action) =>
        resources.map(String).map((resource) => ({ action, resource, ...(keys && { keys }) })),
      );
  });
}

function keysAllowed(condition: Json): readonly string[] | undefined {
  const operators = condition && typeof condition === 'object' ? Object.keys(condition) : [];
  const [operator] = operators.filter((one) => field(field(condition, one), leadingKeys) !== null);
  if (operator === undefined) return undefined;
  if (operator !== 'ForAllValues:StringLike')
    throw new Error(`${leadingKeys} is not understood with ${operator}`);
  return listOf(field(field(condition, operator), leadingKeys)).map(String);
}

export const isAllowed = ({ granted }: Pick<RoleOfFunction, 'granted'>, needed: Permission) =>
  granted.some((grant) => covers(grant, needed));

/** IAM's wildcards: `*` for any characters, `?` for one. */
function covers(granted: Permission, needed: Permission): boolean {
  return (
    matches(granted.action.toLowerCase(), needed.action.toLowerCase()) &&
    matches(granted.resource, needed.resource) &&
    // As ForAllValues: a call that names no key passes.
    (needed.keys ?? []).every((key) => granted.keys?.some((one) => matches(one, key)) ?? true)
  );
}

/** Patterns are few, and are compared thousands of times. */
const compiled = new Map<string, RegExp>();

function matches(pattern: string, text: string): boolean {
  const known = compiled.get(pattern);
  if (known) return known.test(text);
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  const source = escaped.replaceAll('*', '.*').replaceAll('?', '.');
  compiled.set(pattern, new RegExp(`^${source}$`, 's'));
  return matches(pattern, text);
}

/**
 * The permissions that AWS would have asked the caller's role for: those of the call itself and
 * those of encryption. The embedded services encrypt nothing.
 *
 * @param resources the template's resources, which say which of them are encrypted
 */
export class Requirements {
  readonly #place: StackPlace;
  readonly #keys = new Map<string, string>();
  readonly #keyOfSecrets: string | undefined;

  /** @param keyOfSecrets the customer key of a secret outside of the stack */
  constructor(template: Template, place: StackPlace, keyOfSecrets?: string) {
    this.#place = place;
    this.#keyOfSecrets = keyOfSecrets;
    const resolver = new Resolver(template, place);
    for (const [logicalId, { Type, Properties }] of Object.entries(template.Resources)) {
      const key = Properties.KmsMasterKeyId;
      if (!/^AWS::(SNS::Topic|SQS::Queue)$/.test(Type) || key === undefined) continue;
      const { Arn, TopicArn } = resolver.identity(logicalId).attributes;
      this.#keys.set(TopicArn ?? Arn ?? '', String(resolver.resolve(key, logicalId)));
    }
  }

  /** @throws Error for an unknown call: add it here, unless it is a scan, which no function needs */
  of({ service, operation, url, body }: AwsCall): Permission[] {
    const call = `${service}:${operation}`;
    const named = (name: string) => text(parsed(body), name);
    if (/^dynamodb:Batch(Get|Write)Item$/.test(call)) return this.#ofBatch(call, parsed(body));
    if (/^dynamodb:(GetItem|PutItem|UpdateItem|DeleteItem|Query)$/.test(call)) {
      const index = field(parsed(body), 'IndexName');
      const table = `table/${named('TableName')}`;
      const resource = this.#arn('dynamodb', index === null ? table : `${table}/index/${index}`);
      return [{ action: call, resource, keys: keysOf(parsed(body)) }];
    }
    const topic = new URLSearchParams(body).get('TopicArn') ?? '';
    switch (call) {
      case 'sns:Publish':
      case 'sns:PublishBatch':
        return [{ action: 'sns:Publish', resource: topic }, ...this.#encrypted(topic)];
      case 'sns:GetTopicAttributes':
      case 'sns:ListSubscriptionsByTopic':
        return [{ action: call, resource: topic }];
      case 'kms:DescribeKey':
      case 'kms:GetKeyPolicy':
        return [{ action: call, resource: named('KeyId') }];
      case 'sqs:GetQueueUrl':
        return [{ action: call, resource: this.#arn('sqs', named('QueueName')) }];
      case 'sqs:GetQueueAttributes':
        return [{ action: call, resource: this.#queue(named('QueueUrl')) }];
      case 'sqs:SendMessage':
      case 'sqs:SendMessageBatch': {
        const resource = this.#queue(named('QueueUrl'));
        return [{ action: 'sqs:SendMessage', resource }, ...this.#encrypted(resource)];
      }
      case 'secretsmanager:GetSecretValue':
      case 'secretsmanager:PutSecretValue':
      case 'secretsmanager:DescribeSecret':
        return this.#ofSecret(call, named('SecretId'));
      default:
        throw new Error(`${call} ${url}: test/support/iam.ts does not know what it needs`);
    }
  }

  #ofBatch(action: string, request: Json): Permission[] {
    const tables = Object.entries<Json>(Object(field(request, 'RequestItems')));
    return tables.map(([table, requests]) => {
      const keys = field(requests, 'Keys');
      const items = keys === null ? listOf(requests).map(writtenBy) : listOf(keys);
      const resource = this.#arn('dynamodb', `table/${table}`);
      return { action, resource, keys: items.map(partitionKeyOf) };
    });
  }

  #queue(url: string): string {
    return this.#arn('sqs', url.split('/').at(-1) ?? '');
  }

  #ofSecret(action: string, id: string): Permission[] {
    // Secrets Manager adds six characters to a name.
    const arn = id.startsWith('arn:') ? id : this.#arn('secretsmanager', `secret:${id}-aB3dE6`);
    const key = this.#keyOfSecrets;
    const read = { action, resource: arn };
    return key === undefined ? [read] : [read, { action: 'kms:Decrypt', resource: key }];
  }

  /** A caller that publishes or sends to an encrypted resource also uses its customer key. */
  #encrypted(arn: string): Permission[] {
    const resource = this.#keys.get(arn);
    if (resource === undefined) return [];
    return ['kms:GenerateDataKey', 'kms:Decrypt'].map((action) => ({ action, resource }));
  }

  #arn(service: string, path: string): string {
    return `arn:aws:${service}:${this.#place.region}:${this.#place.accountId}:${path}`;
  }
}

/**
 * The partition keys of a request for one item, or for the items under one key of the table or an
 * index.
 */
function keysOf(request: Json): string[] {
  const item = field(request, 'Key') ?? field(request, 'Item');
  if (item !== null) return [partitionKeyOf(item)];
  const condition = String(field(request, 'KeyConditionExpression'));
  // Other shapes of a query are not supported yet.
  if (!/^\w+ = :key( AND \w+ >= :from)?$/.test(condition))
    throw new Error('the key of a query is not understood');
  return [text(field(field(request, 'ExpressionAttributeValues'), ':key'), 'S')];
}

const writtenBy = (write: Json): Json =>
  field(field(write, 'PutRequest'), 'Item') ?? field(field(write, 'DeleteRequest'), 'Key');
const partitionKeyOf = (item: Json) => text(field(item, ledgerTable.partitionKey), 'S');
const parsed = (body: string): Json => JSON.parse(body);

function field(value: Json | undefined, name: string): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
  return value[name] ?? null;
}

function text(value: Json, name: string): string {
  const found = field(value, name);
  if (typeof found !== 'string') throw new Error(`the call has no ${name}`);
  return found;
}

function listOf(value: Json | undefined): Json[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

/** A permission, and the function to which it belongs. */
export interface Finding extends Permission {
  readonly of: string;
}

/**
 * Permissions that functions asked for and their roles lack, and permissions that no function used.
 *
 * @param asked by the function's physical name
 * @param excepted permissions that nothing here can use
 */
export function compareRoles(
  roles: readonly RoleOfFunction[],
  asked: ReadonlyMap<string, readonly Permission[]>,
  excepted: readonly string[],
): { missing: Finding[]; unused: Finding[] } {
  const findings = roles.map(({ functionName, granted }) => {
    const needed = distinct(asked.get(functionName) ?? []);
    const judged = distinct(granted).filter(({ action }) => !excepted.includes(action));
    const of = (all: readonly Permission[]) => all.map((one) => ({ of: functionName, ...one }));
    return {
      missing: of(needed.filter((one) => !isAllowed({ granted }, one))),
      unused: of(judged.flatMap((grant) => unusedOf(grant, needed))),
    };
  });
  const all = (kind: 'missing' | 'unused') => findings.flatMap((one) => one[kind]);
  return { missing: all('missing'), unused: all('unused') };
}

/**
 * The whole permission, or its unused keys. Several actions share their keys: one action that uses
 * a key is enough.
 */
function unusedOf(grant: Permission, needed: readonly Permission[]): Permission[] {
  const used = needed.filter((one) => covers(grant, one));
  if (used.length === 0) return [grant];
  const { keys, ...rest } = grant;
  const ofResource = needed.filter((one) => matches(rest.resource, one.resource));
  const asked = ofResource.flatMap((one) => one.keys ?? []);
  const unused = keys?.filter((pattern) => !asked.some((key) => matches(pattern, key))) ?? [];
  return unused.length > 0 ? [{ ...rest, keys: unused }] : [];
}

function distinct(permissions: readonly Permission[]): Permission[] {
  const named = permissions.map(
    (one) => [`${one.action} ${one.resource} ${one.keys}`, one] as const,
  );
  return [...new Map(named).values()];
}
