/**
 * The meaning of a refusal by SNS or SQS:
 *
 * - `invalid`: it will never be accepted as it is; of a request with several entries, each may be
 * accepted by itself;
 * - `throttled`: too fast;
 * - `configuration`: ops must mend a permission, a key or the topic first;
 * - `passing`: anything else; another attempt may help.
 */
export type RefusalKind = 'invalid' | 'throttled' | 'configuration' | 'passing';

/** By families of error codes: of Publish, PublishBatch and SendMessageBatch, and those common to AWS. */
const kinds: readonly (readonly [codes: RegExp, kind: RefusalKind])[] = [
  [/Throttl|TooManyRequests|RequestLimitExceeded/, 'throttled'],
  [/^(InvalidParameter|ParameterValueInvalid|Validation|InvalidMessageContents)/, 'invalid'],
  [/^BatchRequestTooLong/, 'invalid'],
  [/^KMS|^Kms|Denied|Authoriz|OptIn|NotFound|DoesNotExist|Disabled/, 'configuration'],
  [/Token|Signature|InvalidSecurity|UnrecognizedClient/, 'configuration'],
];

/** @param code of a failed entry, or the name that the SDK gives a failed request's error */
export function refusalKind(code: string): RefusalKind {
  return kinds.find(([codes]) => codes.test(code))?.[1] ?? 'passing';
}

/** The SDK's own name of the failure; its message could quote the request. */
export function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : 'Unknown';
}
