/** The exports for subscribers: see docs/subscribing.md. */
export type { Clock } from '../lambda/clock.ts';
export { NotifierError } from '../lambda/errors.ts';
export type { CertificationEvent } from '../lambda/events/event.ts';
export * from './errors.ts';
export {
  type Handling,
  type HandlingOptions,
  inOrder,
  type OnlyOnceOptions,
  onlyOnce,
} from './handling.ts';
export { memoryStore } from './memory-store.ts';
export { parseEvent, type ReceivedEvent, type UnknownEvent } from './parse-event.ts';
export type { Claim, HandledStore } from './store.ts';
export {
  type SnsVerification,
  type VerifiedSnsMessage,
  verifySnsMessage,
} from './verify-sns-message.ts';
export { type Reception, type WebhookOptions, webhook } from './webhook.ts';
