import { createServer, type IncomingMessage, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import * as z from 'zod';
import { type SecretStore, SecretsManagerFault } from './secret-store.ts';

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
const newSecret = z.looseObject({
  Name: z.string().min(1),
  SecretString: z.string().optional(),
  ClientRequestToken: z.string().optional(),
});

/**
 * A stand-in for AWS Secrets Manager (AWS JSON 1.1): GetSecretValue, PutSecretValue, CreateSecret.
 * Errors carry the names the service uses, so that the SDK throws its own exception classes.
 * Signatures are not checked; values are text only.
 */
export function secretsManager(secrets: SecretStore): Server {
  const operations: Record<string, (input: unknown) => object> = {
    GetSecretValue: (input) => {
      const { SecretId, VersionId, VersionStage } = secretValue.parse(input);
      const secret = secrets.find(SecretId);
      const version = secrets.get(SecretId, {
        ...(VersionId !== undefined && { versionId: VersionId }),
        ...(VersionStage !== undefined && { stage: VersionStage }),
      });
      return {
        ARN: secret.arn,
        Name: secret.name,
        VersionId: version.id,
        SecretString: version.value,
        VersionStages: secrets.stagesOf(SecretId, version.id),
        CreatedDate: version.createdAtMs / 1000,
      };
    },
    PutSecretValue: (input) => {
      const { SecretId, SecretString, ClientRequestToken } = newValue.parse(input);
      const version = secrets.put(SecretId, SecretString, ClientRequestToken);
      const { arn, name } = secrets.find(SecretId);
      return {
        ARN: arn,
        Name: name,
        VersionId: version.id,
        VersionStages: secrets.stagesOf(SecretId, version.id),
      };
    },
    CreateSecret: (input) => {
      const { Name, SecretString, ClientRequestToken } = newSecret.parse(input);
      const { arn, name } = secrets.create(Name);
      if (SecretString === undefined) return { ARN: arn, Name: name };
      const version = secrets.put(name, SecretString, ClientRequestToken);
      return { ARN: arn, Name: name, VersionId: version.id };
    },
  };

  return createServer(async (request, response) => {
    const answer = await handle(request, operations);
    response
      .writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.1' })
      .end(JSON.stringify(answer.body));
  });
}

async function handle(
  request: IncomingMessage,
  operations: Readonly<Record<string, (input: unknown) => object>>,
): Promise<{ status: number; body: object }> {
  const fault = (type: string, message: string) => ({
    status: 400,
    body: { __type: type, Message: message },
  });
  const [service, name = ''] = String(request.headers['x-amz-target']).split('.');
  const operation = operations[name];
  if (request.method !== 'POST' || service !== 'secretsmanager' || !operation) {
    return fault('UnknownOperationException', 'The embedded Secrets Manager cannot do this.');
  }
  try {
    return { status: 200, body: operation(await json(request)) };
  } catch (error) {
    if (error instanceof SecretsManagerFault) return fault(error.type, error.message);
    if (error instanceof z.ZodError) return fault('ValidationException', z.prettifyError(error));
    if (error instanceof SyntaxError) return fault('SerializationException', 'No JSON object.');
    return { status: 500, body: { __type: 'InternalServiceError' } };
  }
}
