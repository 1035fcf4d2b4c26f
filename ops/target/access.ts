import { InterruptedError, OpsError } from '../errors.ts';
import { AwsFailedError, NotPermittedError, NotSignedInError } from './errors.ts';

/** The services that the command line calls. */
export type AwsService =
  | 'cloudFormation'
  | 'lambda'
  | 'scheduler'
  | 'secretsManager'
  | 'sns'
  | 'sqs'
  | 'sts';

export interface ClientSettings {
  readonly region?: string;
  readonly profile?: string;
  readonly endpoint?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly maxAttempts?: number;
  readonly requestHandler?: ReturnType<typeof timeouts>['requestHandler'];
}

/**
 * The limits for an answer, and for each pause within it. A lost connection gives no sign, and by default the SDK waits
 * for ever: it only warns when a limit is exceeded.
 */
export function timeouts(silenceMs = 10_000) {
  return {
    requestHandler: {
      connectionTimeout: 5_000,
      requestTimeout: silenceMs,
      throwOnRequestTimeout: true,
      socketTimeout: silenceMs,
    },
  };
}

/** Clients of the AWS SDK. Their connections stay open until all are closed here. */
export class Clients implements Disposable {
  readonly #open: { destroy(): void }[] = [];

  open<Client extends { destroy(): void }>(client: Client): Client {
    this.#open.push(client);
    return client;
  }

  [Symbol.dispose](): void {
    for (const client of this.#open) client.destroy();
  }
}

/** Access to AWS, or to the local instance. */
export interface Access {
  readonly isLocal: boolean;
  readonly clients: Clients;
  settings(service: AwsService): ClientSettings;
}

const signIn = 'sign in (aws sso login, or as you usually do), or choose another --profile';
/** Names of errors with which the SDK or a service of AWS rejects the credentials, each with its problem and advice. */
const notSignedIn: readonly (readonly [names: RegExp, problem: string, whatToDo: string])[] = [
  [
    /^(CredentialsProviderError|TokenProviderError)$/,
    'There are no usable AWS credentials.',
    `To have some, ${signIn}. aws sts get-caller-identity shows whether it works.`,
  ],
  [
    /^(ExpiredToken|RequestExpired)/,
    'The AWS credentials have expired.',
    `Get new ones: ${signIn}. Then run it again.`,
  ],
  [
    /^(InvalidClientTokenId|InvalidAccessKeyId|UnrecognizedClient|AuthFailure|SignatureDoesNotMatch|InvalidSignature|IncompleteSignature)/,
    'AWS does not know these credentials.',
    `They were deactivated, are incomplete, or belong to another partition of AWS: ${signIn}.`,
  ],
];
const refusals = /^(AccessDenied|AuthorizationError|Unauthorized|OptInRequired|KMSAccessDenied)/;

/** Names of a connection that ended, or was given up, after it had begun. */
const broken = /^(ECONNRESET|EPIPE|ETIMEDOUT|TimeoutError)$/;

/**
 * Calls AWS, and translates its errors into ours.
 *
 * @param action as IAM calls it
 * @throws NotSignedInError, NotPermittedError, AwsFailedError, or the reason of the signal
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
    throw cause instanceof OpsError ? cause : inOurWords(action, cause);
  }
}

function inOurWords(action: string, cause: unknown): OpsError {
  const reason = reasonOf(cause);
  const isNotSignedIn = notSignedIn.find(([names]) => names.test(reason));
  if (isNotSignedIn) {
    const [, problem, whatToDo] = isNotSignedIn;
    return new NotSignedInError(problem, whatToDo, { cause });
  }
  if (refusals.test(reason) || [401, 403].includes(statusOf(cause)))
    return new NotPermittedError(action, reason, { cause });
  return new AwsFailedError(
    action,
    {
      reason,
      isAnswerLost: broken.test(reason),
      isThisMachine: reason === 'ECONNREFUSED' && addressOf(cause).startsWith('127.'),
    },
    { cause },
  );
}

/** The address whose connection failed. */
const addressOf = (error: unknown): string =>
  error instanceof Error && 'address' in error ? String(error.address) : '';

/** The name of the error at the service or the operating system, never its text. */
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
