import * as z from 'zod/mini';
import { adviceOnDenied, adviceOnUnusable } from './condition-table.ts';
import { errorOf } from './errors.ts';

/** A request to AWS, as IAM names it. */
export interface AwsRequest {
  readonly action: string;
  readonly resource: string;
}

/** AWS denies the role of this function an action. */
export class AccessDeniedError extends errorOf('access-denied', 'aws') {
  readonly whatToDo: string;

  /** @param saying AWS's code, the request, and the kind of policy that has led to it */
  constructor({ action, resource }: AwsRequest, saying: string, options: ErrorOptions) {
    super(`AWS denies ${action} on ${resource} ${saying}.`, options);
    this.whatToDo = adviceOnDenied(`${action} on ${resource}`);
  }
}

/** The resource is missing or switched off: somebody has changed it by hand. */
export class ResourceUnusableError extends errorOf('resource-unusable', 'aws') {
  readonly whatToDo = adviceOnUnusable;

  constructor({ action, resource }: AwsRequest, saying: string, options: ErrorOptions) {
    super(`AWS cannot do ${action} on ${resource} ${saying}.`, options);
  }
}

/** No retry helps; people can mend it. */
export type Denial = AccessDeniedError | ResourceUnusableError;

/**
 * Denials, by their names in DynamoDB, Secrets Manager, SNS, SQS and KMS; the text decides nothing.
 * For a secret whose key cannot be used, Secrets Manager says `DecryptionFailure`.
 */
const denied = z.object({
  name: z
    .string()
    .check(
      z.regex(
        /^(AccessDenied|AuthorizationError|K(MS|ms)\.?AccessDenied|(Resource)?NotFound|QueueDoesNotExist|DecryptionFailure|K(MS|ms)\.?(Disabled|NotFound|InvalidState))(Exception)?$/,
      ),
    ),
  message: z.catch(z.string(), ''),
  $metadata: z.catch(z.object({ requestId: z.string() }), { requestId: 'unknown' }),
});

/**
 * The only parts of the text that are shown: names of actions, resources and kinds of policies.
 * Each may be missing.
 */
const named = {
  action: /\bperform: ([\w-]+:\w+)/,
  resource: /\bon resource: ([\w+=,.@:/*-]*[\w*])/,
  reason:
    /\b(no [\w -]{1,40} (?:policy|boundary) allows|an explicit deny in an? [\w -]{1,40} (?:policy|boundary))\b/,
};

/**
 * A denial by AWS, to be shown. Where AWS does not name the action or the resource, they are those
 * of the request.
 *
 * @returns undefined if something else has failed
 */
export function denialOf(error: unknown, asked: AwsRequest): Denial | undefined {
  const { data } = denied.safeParse(error);
  if (data === undefined) return undefined;
  const { name: code, message, $metadata } = data;
  const found = (pattern: RegExp) => pattern.exec(message)?.[1];
  const reason = found(named.reason)?.replace(/ allows$/, '$& it');
  const saying = `(${code}, request ${$metadata.requestId})${reason ? `: ${reason}` : ''}`;
  if (!/Denied|Authorization/.test(code))
    return new ResourceUnusableError(asked, saying, { cause: error });
  const publishes = /^s[nq]s:/.test(asked.action) ? 'kms:GenerateDataKey and ' : '';
  const key = { action: `${publishes}kms:Decrypt`, resource: `the key of ${asked.resource}` };
  const action = found(named.action);
  // A key's denial may name the action, the key, both or neither.
  const isOfKey = !asked.action.startsWith('kms:') && /kms/i.test(action ?? code + message);
  const what = isOfKey ? key : asked;
  const told = { action: action ?? what.action, resource: found(named.resource) ?? what.resource };
  return new AccessDeniedError(told, saying, { cause: error });
}
