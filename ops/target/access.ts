import { AwsFailedError, InterruptedError, NotPermittedError, OpsError } from '../errors.ts';

/** The services that the command line calls. */
export type Service =
  | 'cloudFormation'
  | 'lambda'
  | 'scheduler'
  | 'secretsManager'
  | 'sns'
  | 'sqs'
  | 'sts';

/** What a client of AWS's SDK is made with. */
export interface ClientSettings {
  readonly region?: string;
  readonly profile?: string;
  readonly endpoint?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly maxAttempts?: number;
}

/** How AWS, or what stands for it on this machine, is reached. */
export interface Access {
  readonly isLocal: boolean;
  client(service: Service): ClientSettings;
}

/** Names under which AWS's services and the SDK's own search for credentials refuse somebody. */
const refusals =
  /^(AccessDenied|AuthorizationError|Unauthorized|ExpiredToken|InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|InvalidSignature|OptInRequired|KMSAccessDenied|CredentialsProviderError|TokenProviderError)/;

/**
 * One call of AWS, with what goes wrong put in our words.
 *
 * @param action as IAM calls it
 * @throws NotPermittedError, AwsFailedError, or the reason of the signal
 */
export async function calling<T>(
  action: string,
  call: () => Promise<T>,
  stop?: AbortSignal,
): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (stop?.aborted) throw stop.reason ?? new InterruptedError();
    if (cause instanceof OpsError) throw cause;
    const reason = reasonOf(cause);
    if (refusals.test(reason) || [401, 403].includes(statusOf(cause)))
      throw new NotPermittedError(action, reason, { cause });
    throw new AwsFailedError(action, reason, { cause });
  }
}

/** The service's own name for it, or the operating system's: never the text. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name;
}

function statusOf(error: unknown): number {
  if (!(error instanceof Error && '$metadata' in error)) return 0;
  const metadata: unknown = error.$metadata;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata))
    return 0;
  return Number(metadata.httpStatusCode);
}
