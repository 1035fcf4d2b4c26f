import { randomBytes, randomUUID } from 'node:crypto';
import { secretSuffix } from './identities.ts';
import type { GeneratedSecret } from './interpret.ts';

/** Secrets Manager's errors, by its own exception names. */
export class SecretsManagerFault extends Error {
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.name = new.target.name;
    this.type = type;
  }
}

export interface SecretVersion {
  readonly id: string;
  readonly value: string;
  readonly createdAtMs: number;
}

interface Secret {
  readonly name: string;
  readonly arn: string;
  readonly versions: Map<string, SecretVersion>;
  /** AWSCURRENT, AWSPREVIOUS → version id. */
  readonly stages: Map<string, string>;
}

/** Secrets with versions and staging labels, in memory. They are found by name, ARN or partial ARN. */
export class SecretStore {
  readonly #secrets: Secret[] = [];
  readonly #arnPrefix: string;

  constructor(region: string, accountId: string) {
    this.#arnPrefix = `arn:aws:secretsmanager:${region}:${accountId}:secret:`;
  }

  /** @throws SecretsManagerFault when the name is taken */
  create(name: string): Secret {
    if (this.#secrets.some((secret) => secret.name === name)) {
      throw new SecretsManagerFault(
        'ResourceExistsException',
        `The operation failed because the secret ${name} already exists.`,
      );
    }
    const arn = `${this.#arnPrefix}${name}-${secretSuffix(name)}`;
    const secret = { name, arn, versions: new Map(), stages: new Map() };
    this.#secrets.push(secret);
    return secret;
  }

  has(idOrArn: string): boolean {
    return this.#secrets.some((secret) => isCalled(secret, idOrArn));
  }

  /** @throws SecretsManagerFault */
  find(idOrArn: string): Secret {
    const secret = this.#secrets.find((one) => isCalled(one, idOrArn));
    if (secret) return secret;
    throw new SecretsManagerFault(
      'ResourceNotFoundException',
      "Secrets Manager can't find the specified secret.",
    );
  }

  /**
   * Makes `value` the current version and the present one the previous version. The same id and value again change
   * nothing.
   */
  put(idOrArn: string, value: string, versionId: string = randomUUID()): SecretVersion {
    const { versions, stages } = this.find(idOrArn);
    const existing = versions.get(versionId);
    if (existing?.value === value) return existing;
    if (existing) {
      throw new SecretsManagerFault(
        'ResourceExistsException',
        'A version with this id exists and holds another value.',
      );
    }
    const version = { id: versionId, value, createdAtMs: Date.now() };
    versions.set(versionId, version);
    const current = stages.get('AWSCURRENT');
    if (current !== undefined) stages.set('AWSPREVIOUS', current);
    stages.set('AWSCURRENT', versionId);
    return version;
  }

  /** @throws SecretsManagerFault when there is no such secret, version or label */
  get(idOrArn: string, { versionId = '', stage = 'AWSCURRENT' } = {}): SecretVersion {
    const { versions, stages } = this.find(idOrArn);
    const version = versions.get(versionId || (stages.get(stage) ?? ''));
    if (version) return version;
    throw new SecretsManagerFault(
      'ResourceNotFoundException',
      `Secrets Manager can't find the specified secret value for ${
        versionId ? `VersionId: ${versionId}` : `staging label: ${stage}`
      }`,
    );
  }

  /** The labels on a version. */
  stagesOf(idOrArn: string, versionId: string): string[] {
    return [...this.find(idOrArn).stages]
      .filter(([, id]) => id === versionId)
      .map(([stage]) => stage);
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
