import { describe, expect, it } from 'vitest';
import { AccessDeniedError } from '../../lambda/access-denied.ts';
import { LeaseLostError, LedgerUnavailableError } from '../../lambda/ledger/errors.ts';
import { writeEach } from '../../lambda/write-each.ts';

const unavailable = new LedgerUnavailableError('UpdateItem', {});
const denied = new AccessDeniedError({ action: 'a:B', resource: 'c' }, '(d)', {});

/** Writes items that fail as given. @returns the result, and the items that were tried */
async function written(failures: readonly (Error | undefined)[]) {
  const tried: number[] = [];
  const write = async (item: number) => {
    tried.push(item);
    await null;
    if (failures[item]) throw failures[item];
  };
  const error: unknown = await writeEach(failures.keys(), write).catch((thrown: unknown) => thrown);
  return { tried: tried.length, error };
}

describe('several writes', () => {
  const many = (failure: (item: number) => Error | undefined) =>
    Array.from({ length: 40 }, (_, item) => failure(item));

  it('are all tried, and fail with the one that failed', async () => {
    const failures = many((item) => (item === 3 ? unavailable : undefined));
    expect(await written(failures)).toEqual({ tried: 40, error: unavailable });
    expect(await written([undefined])).toEqual({ tried: 1, error: undefined });
  });

  it('to a throttled ledger fail as throttled, and not as a defect', async () => {
    const errors = many(() => unavailable);
    expect((await written(errors)).error).toMatchObject({
      ...{ code: 'commits-failed', fault: 'aws', retryHelps: true, cause: { errors } },
      message: `40 changes could not be written, the first because: ${unavailable.message}`,
    });
  });

  const defect = {
    ...{ fault: 'ops', retryHelps: false },
    message: '2 changes could not be written, the first because: The tick failed: TypeError.',
  };
  it.each([
    ['are for good if one is denied', [unavailable, denied], { fault: 'aws', retryHelps: false }],
    ['fail as lost with their lease', [denied, new LeaseLostError()], { code: 'lease-lost' }],
    ['report a defect of one of them', [new TypeError('Canary'), denied], defect],
  ])('%s', async (_, errors, expected) => {
    const { error } = await written(errors);
    expect(error).toMatchObject(expected);
  });
});
