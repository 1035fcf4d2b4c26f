import { expect, it } from 'vitest';
import { mostAttempts, verdictOf } from '../../../ops/listening/verdict.ts';

const delivered = { outcome: 'delivered' };
const refused = { outcome: 'refused' };
const again = { outcome: 'again', inSeconds: 1 };
it.each([
  ...[200, 204, 299].map((status) => [status, 1, delivered] as const),
  ...[400, 403, 404, 422, 499].map((status) => [status, 1, refused] as const),
  ...[301, 429, 500, 503, 599, 'ECONNREFUSED', 'too-late'].map(
    (status) => [status, 1, again] as const,
  ),
  [500, mostAttempts - 1, { outcome: 'again', inSeconds: 40 }] as const,
  [500, mostAttempts, { outcome: 'given-up' }] as const,
])('the answer %s to attempt %i is %j, as SNS takes it', (status, attempt, verdict) => {
  expect(verdictOf({ status, tookMs: 1 }, attempt)).toEqual(verdict);
});
