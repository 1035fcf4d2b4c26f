import { randomBytes, randomUUID } from 'node:crypto';
import { secretSuffix } from './identities.ts';
import type { GeneratedSecret } from './interpret.ts';

/** An error of a service, by the name that AWS gives it. */
export class ServiceFault extends Error {
  readonly type: string;
  readonly status: number;

  constructor(type: string, message: string, status = 400) {
    super(message);
    this.type = type;
    this.status = status;
  }
}

interface SecretVersion {
  readonly id: string;
  readonly value: string;
  readonly createdAtMs: number;
}

interface Secret {
  readonly name: string;
  readonly arn: string;
  /** The newest one first. */
  readonly versions: SecretVersion[];
}

/** The labels of the newest version and of the one before. */
const stages = ['AWSCURRENT', 'AWSPREVIOUS'];

/** Secrets with versions and staging labels, in memory. They are found by name, ARN or partial ARN. */
export class SecretStore {
  readonly #secrets: Secret[] = [];
  readonly #arnPrefix: string;

  constructor(region: string, accountId: string) {
    this.#arnPrefix = `arn:aws:secretsmanager:${region}:${accountId}:secret:`;
  }

  /** @throws ServiceFault when the name is taken */
  create(name: string): Secret {
    if (this.has(name))
      throw new ServiceFault(
        'ResourceExistsException',
        `The operation failed because the secret ${name} already exists.`,
      );
    const arn = `${this.#arnPrefix}${name}-${secretSuffix(name)}`;
    const secret = { name, arn, versions: [] };
    this.#secrets.push(secret);
    return secret;
  }

  has(idOrArn: string): boolean {
    return this.#secrets.some((secret) => isCalled(secret, idOrArn));
  }

  /**
   * Makes `value` the current version and the present one the previous version. The same id and value again change
   * nothing.
   *
   * @throws ServiceFault
   */
  put(idOrArn: string, value: string, id: string = randomUUID()): SecretVersion {
    const { versions } = this.#find(idOrArn);
    const existing = versions.find((one) => one.id === id);
    if (existing?.value === value) return existing;
    if (existing)
      throw new ServiceFault(
        'ResourceExistsException',
        'A version with this id exists and holds another value.',
      );
    const version = { id, value, createdAtMs: Date.now() };
    versions.unshift(version);
    return version;
  }

  /** The version, beside the fields that each answer has. @throws ServiceFault when there is no such secret, version or label */
  get(idOrArn: string, versionId?: string, stage = 'AWSCURRENT') {
    const { name, arn, versions } = this.#find(idOrArn);
    const at = versionId ? versions.findIndex(({ id }) => id === versionId) : stages.indexOf(stage);
    const version = versions[at];
    if (version) {
      const VersionStages = stages.slice(at, at + 1);
      return { ARN: arn, Name: name, VersionId: version.id, VersionStages, version };
    }
    const asked = versionId ? `VersionId: ${versionId}` : `staging label: ${stage}`;
    throw new ServiceFault(
      'ResourceNotFoundException',
      `Secrets Manager can't find the specified secret value for ${asked}`,
    );
  }

  #find(idOrArn: string): Secret {
    const secret = this.#secrets.find((one) => isCalled(one, idOrArn));
    if (secret) return secret;
    throw new ServiceFault(
      'ResourceNotFoundException',
      "Secrets Manager can't find the specified secret.",
    );
  }
}

const isCalled = ({ name, arn }: Secret, idOrArn: string) =>
  [name, arn, arn.slice(0, -'-000000'.length)].includes(idOrArn);

/** CloudFormation's value for a new secret: random, alone or inside a template. */
export function initialValue(value: string | GeneratedSecret): string {
  if (typeof value === 'string') return value;
  const random = randomBytes(24).toString('base64url');
  if (value.template === undefined || value.key === undefined) return random;
  return JSON.stringify({ ...JSON.parse(value.template), [value.key]: random });
}
