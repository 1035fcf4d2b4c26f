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
    const [effect, actions, resources] = ['Effect', 'Action', 'Resource'].map((name) =>
      field(statement, name),
    );
    if (effect !== 'Allow' || actions === null || resources === null)
      throw new Error('only statements that allow actions on resources are understood');
    const keys = keysAllowed(field(statement, 'Condition'));
    return listOf(actions).flatMap((action) =>
      listOf(resources).map((resource) => ({
        action: String(action),
        resource: String(resource),
        ...(keys && { keys }),
      })),
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

export function isAllowed({ granted }: RoleOfFunction, needed: Permission): boolean {
  return granted.some((grant) => covers(grant, needed));
}

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
    switch (`${service}:${operation}`) {
      case 'dynamodb:BatchGetItem':
      case 'dynamodb:BatchWriteItem':
        return Object.entries<Json>(Object(field(parsed(body), 'RequestItems'))).map(
          ([table, requests]) => ({
            action: `dynamodb:${operation}`,
            resource: this.#arn('dynamodb', `table/${table}`),
            keys: (operation === 'BatchGetItem'
              ? listOf(field(requests, 'Keys'))
              : listOf(requests).map(writtenBy)
            ).map(partitionKeyOf),
          }),
        );
      case 'dynamodb:GetItem':
      case 'dynamodb:PutItem':
      case 'dynamodb:UpdateItem':
      case 'dynamodb:DeleteItem':
      case 'dynamodb:Query': {
        const index = field(parsed(body), 'IndexName');
        const table = `table/${text(parsed(body), 'TableName')}`;
        const resource = this.#arn('dynamodb', index === null ? table : `${table}/index/${index}`);
        return [{ action: `dynamodb:${operation}`, resource, keys: keysOf(parsed(body)) }];
      }
      case 'sns:Publish':
      case 'sns:PublishBatch': {
        const resource = new URLSearchParams(body).get('TopicArn') ?? '';
        return [{ action: 'sns:Publish', resource }, ...this.#encrypted(resource)];
      }
      case 'sns:GetTopicAttributes':
      case 'sns:ListSubscriptionsByTopic': {
        const resource = new URLSearchParams(body).get('TopicArn') ?? '';
        return [{ action: `sns:${operation}`, resource }];
      }
      case 'kms:DescribeKey':
      case 'kms:GetKeyPolicy':
        return [{ action: `kms:${operation}`, resource: text(parsed(body), 'KeyId') }];
      case 'sqs:GetQueueAttributes': {
        const name = text(parsed(body), 'QueueUrl').split('/').at(-1) ?? '';
        return [{ action: 'sqs:GetQueueAttributes', resource: this.#arn('sqs', name) }];
      }
      case 'sqs:GetQueueUrl': {
        const resource = this.#arn('sqs', text(parsed(body), 'QueueName'));
        return [{ action: 'sqs:GetQueueUrl', resource }];
      }
      case 'sqs:SendMessage':
      case 'sqs:SendMessageBatch': {
        const name = text(parsed(body), 'QueueUrl').split('/').at(-1) ?? '';
        const resource = this.#arn('sqs', name);
        return [{ action: 'sqs:SendMessage', resource }, ...this.#encrypted(resource)];
      }
      case 'secretsmanager:GetSecretValue':
      case 'secretsmanager:PutSecretValue':
      case 'secretsmanager:DescribeSecret':
        return this.#ofSecret(operation, text(parsed(body), 'SecretId'));
      default:
        throw new Error(
          `${service}:${operation} ${url}: test/support/iam.ts does not know what it needs`,
        );
    }
  }

  #ofSecret(operation: string, id: string): Permission[] {
    // Secrets Manager adds six characters to a name.
    const resource = id.startsWith('arn:')
      ? id
      : this.#arn('secretsmanager', `secret:${id}-aB3dE6`);
    return [
      { action: `secretsmanager:${operation}`, resource },
      ...(this.#keyOfSecrets === undefined
        ? []
        : [{ action: 'kms:Decrypt', resource: this.#keyOfSecrets }]),
    ];
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
  return [keyAskedFor(request)];
}

function keyAskedFor(request: Json): string {
  // Other shapes of a query are not supported yet.
  if (text(request, 'KeyConditionExpression') !== '#key = :key')
    throw new Error('the key of a query is not understood');
  return text(field(field(request, 'ExpressionAttributeValues'), ':key'), 'S');
}

function writtenBy(write: Json): Json {
  return field(field(write, 'PutRequest'), 'Item') ?? field(field(write, 'DeleteRequest'), 'Key');
}

function partitionKeyOf(item: Json): string {
  return text(field(item, ledgerTable.partitionKey), 'S');
}

function parsed(body: string): Json {
  return JSON.parse(body);
}

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
  const missing: Finding[] = [];
  const unused: Finding[] = [];
  for (const { functionName, granted } of roles) {
    const needed = distinct(asked.get(functionName) ?? []);
    const finding = (permission: Permission) => ({ of: functionName, ...permission });
    missing.push(
      ...needed.filter((one) => !granted.some((grant) => covers(grant, one))).map(finding),
    );
    unused.push(
      ...distinct(granted)
        .filter((grant) => !excepted.includes(grant.action))
        .flatMap((grant) => unusedOf(grant, needed))
        .map(finding),
    );
  }
  return { missing, unused };
}

/**
 * The whole permission, or its unused keys. Several actions share their keys: one action that uses
 * a key is enough.
 */
function unusedOf(grant: Permission, needed: readonly Permission[]): Permission[] {
  const used = needed.filter((one) => covers(grant, one));
  if (used.length === 0) return [grant];
  const { keys, ...rest } = grant;
  const unused = keys?.filter((pattern) => !isAskedFor(pattern, rest, needed)) ?? [];
  return unused.length > 0 ? [{ ...rest, keys: unused }] : [];
}

function isAskedFor(
  pattern: string,
  { resource }: Permission,
  needed: readonly Permission[],
): boolean {
  return needed.some(
    (one) =>
      matches(resource, one.resource) && (one.keys ?? []).some((key) => matches(pattern, key)),
  );
}

function distinct(permissions: readonly Permission[]): Permission[] {
  return [
    ...new Map(
      permissions.map((one) => [`${one.action} ${one.resource} ${one.keys?.join(' ')}`, one]),
    ).values(),
  ];
}
