import { describe, expect, it } from 'vitest';
import { mostAttempts, verdictOf } from '../../../ops/listening/verdict.ts';

const first = (status: number | string) => verdictOf({ status, tookMs: 1 }, 1);

describe('an answer, as SNS takes it', () => {
  it.each([200, 204, 299])('%i is delivered', (status) => {
    expect(first(status)).toEqual({ outcome: 'delivered' });
  });

  it.each([400, 403, 404, 422, 499])('%i is final', (status) => {
    expect(first(status)).toEqual({ outcome: 'refused' });
  });

  it.each([301, 429, 500, 503, 599, 'ECONNREFUSED', 'too-late'])('%s is tried again', (status) => {
    expect(first(status)).toEqual({ outcome: 'again', inSeconds: 1 });
  });

  it('not without end', () => {
    const last = { status: 500, tookMs: 1 };
    expect(verdictOf(last, mostAttempts - 1)).toMatchObject({ outcome: 'again' });
    expect(verdictOf(last, mostAttempts)).toEqual({ outcome: 'given-up' });
  });
});
