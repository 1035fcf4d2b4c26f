/**
 * What a refusal by SNS means for what was refused:
 *
 * - `invalid`: SNS will never take it as it is;
 * - `too-long`: the request was too large, its entries need not be;
 * - `throttled`: too fast;
 * - `configuration`: somebody has to mend a permission, a key or the topic first;
 * - `passing`: anything else: asking again may help.
 */
export type RefusalKind = 'invalid' | 'too-long' | 'throttled' | 'configuration' | 'passing';

/** Error codes of Publish and PublishBatch and AWS's common errors (SNS API reference). */
const kinds: Readonly<Record<string, RefusalKind>> = {
  InvalidParameter: 'invalid',
  InvalidParameterValue: 'invalid',
  ParameterValueInvalid: 'invalid',
  Validation: 'invalid',
  ValidationError: 'invalid',
  BatchRequestTooLong: 'too-long',
  Throttled: 'throttled',
  Throttling: 'throttled',
  KMSThrottling: 'throttled',
  RequestLimitExceeded: 'throttled',
  TooManyRequests: 'throttled',
  AccessDenied: 'configuration',
  AuthorizationError: 'configuration',
  EndpointDisabled: 'configuration',
  ExpiredToken: 'configuration',
  IncompleteSignature: 'configuration',
  InvalidClientTokenId: 'configuration',
  InvalidSecurity: 'configuration',
  KMSAccessDenied: 'configuration',
  KMSDisabled: 'configuration',
  KMSInvalidState: 'configuration',
  KMSNotFound: 'configuration',
  KMSOptInRequired: 'configuration',
  MissingAuthenticationToken: 'configuration',
  NotAuthorized: 'configuration',
  NotFound: 'configuration',
  OptInRequired: 'configuration',
  PlatformApplicationDisabled: 'configuration',
  ResourceNotFound: 'configuration',
  SignatureDoesNotMatch: 'configuration',
  UnrecognizedClient: 'configuration',
  // Of SendMessageBatch alone (SQS API reference).
  InvalidMessageContents: 'invalid',
  KmsAccessDenied: 'configuration',
  KmsDisabled: 'configuration',
  KmsInvalidKeyUsage: 'configuration',
  KmsInvalidState: 'configuration',
  KmsNotFound: 'configuration',
  KmsOptInRequired: 'configuration',
  KmsThrottled: 'throttled',
  QueueDoesNotExist: 'configuration',
  RequestThrottled: 'throttled',
};

/** @param code of a failed entry, or the name that the SDK gives a failed request's error */
export function refusalKind(code: string): RefusalKind {
  return kinds[code.replace(/Exception$/, '')] ?? 'passing';
}

/** The SDK's own name of the failure; its message could quote the request. */
export function codeOf(error: unknown): string {
  return error instanceof Error ? error.name : 'Unknown';
}
