/** The partner client by itself: see docs/partner.md. */
export type { Clock } from '../clock.ts';
export { NotifierError } from '../errors.ts';
export type { Assessment, ResultPart } from '../events/assessment.ts';
export { WrittenNumber } from '../json-text.ts';
export {
  type AssessmentFilter,
  type ListQuery,
  MAX_PAGE_SIZE,
  type Page,
  type Quarantined,
  SORT_KEYS,
} from './api.ts';
export {
  type CallOptions,
  createPartnerClient,
  type PartnerClient,
  type PartnerClientLimits,
  type PartnerClientOptions,
} from './client.ts';
export { PartnerError, type PartnerErrorCode, type RequestKind } from './errors.ts';
export type { CredentialSource, Credentials, TokenRequestForm } from './token.ts';
export type { RequestDispatcher } from './transport.ts';
