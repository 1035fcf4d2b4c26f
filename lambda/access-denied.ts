import * as z from 'zod/mini';
import { adviceOnDenied, adviceOnUnusable } from './condition-table.ts';
import { errorOf } from './errors.ts';

/** What was asked of AWS, as IAM names it. */
export interface Asked {
  readonly action: string;
  readonly resource: string;
}

/** AWS does not let the role of this function do it. */
export class AccessDeniedError extends errorOf('access-denied', 'aws') {
  readonly whatToDo: string;

  /** @param saying AWS's name for it, the request, and which kind of policy has led to it */
  constructor({ action, resource }: Asked, saying: string, options: ErrorOptions) {
    super(`AWS denies ${action} on ${resource} ${saying}.`, options);
    this.whatToDo = adviceOnDenied(`${action} on ${resource}`);
  }
}

/** What is asked for is not there, or switched off: somebody has changed it by hand. */
export class ResourceUnusableError extends errorOf('resource-unusable', 'aws') {
  readonly whatToDo = adviceOnUnusable;

  constructor({ action, resource }: Asked, saying: string, options: ErrorOptions) {
    super(`AWS cannot do ${action} on ${resource} ${saying}.`, options);
  }
}

/** No retry helps, and people can. */
export type Denial = AccessDeniedError | ResourceUnusableError;

/**
 * By its name in DynamoDB, Secrets Manager, SNS, SQS and KMS; the text of its message decides nothing. Of a secret that
 * is to be deleted, Secrets Manager says `InvalidRequestException`; of one whose key cannot be used, `DecryptionFailure`.
 */
const denied = z.object({
  name: z
    .string()
    .check(
      z.regex(
        /^(AccessDenied|AuthorizationError|K(MS|ms)\.?AccessDenied|(Resource)?NotFound|QueueDoesNotExist|InvalidRequest|DecryptionFailure|K(MS|ms)\.?(Disabled|NotFound|InvalidState))(Exception)?$/,
      ),
    ),
  message: z.catch(z.string(), ''),
  $metadata: z.catch(z.object({ requestId: z.string() }), { requestId: 'unknown' }),
});

/** Of the message, names of actions, resources and kinds of policies, and nothing else; each may be missing. */
const named = {
  action: /\bperform: ([\w-]+:\w+)/,
  resource: /\bon resource: ([\w+=,.@:/*-]*[\w*])/,
  reason:
    /\b(no [\w -]{1,40} (?:policy|boundary) allows|an explicit deny in an? [\w -]{1,40} (?:policy|boundary))\b/,
};

/**
 * What AWS has denied or does not find, to be shown: where it does not say what that was, it is what was asked of it.
 * @returns undefined: something else has failed
 */
export function denialOf(error: unknown, asked: Asked): Denial | undefined {
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
