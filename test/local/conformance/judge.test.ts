import { describe, expect, it } from 'vitest';
import { PartnerError } from '../../../lambda/partner/errors.ts';
import { UnusablePageError } from '../../../local/conformance/errors.ts';
import { TestedHost } from '../../../local/conformance/host.ts';
import { judgeCheck } from '../../../local/conformance/judge.ts';
import { Samples } from '../../../local/conformance/samples.ts';
import {
  type CheckVerdict,
  cannotTell,
  contradiction,
  mismatch,
  pass,
} from '../../../local/conformance/verdict.ts';
import { startPartnerSandbox } from '../../../local/partner-sandbox/index.ts';

/** The result of a check with these verdicts in turn, the last of which stays. */
async function judged(
  ...verdicts: (CheckVerdict | Error)[]
): Promise<{ kind: string; rounds: number }> {
  const sandbox = await startPartnerSandbox({ records: 0 });
  const { url: baseUrl, credentials } = sandbox;
  const host = await TestedHost.open({ baseUrl, credentials, forms: ['form'] });
  let rounds = 0;
  const run = async () => {
    const verdict = verdicts[Math.min(rounds, verdicts.length - 1)] ?? pass;
    rounds++;
    if (verdict instanceof Error) throw verdict;
    return verdict;
  };
  const { verdict: kind } = await judgeCheck({ name: 'a check', run }, new Samples(host));
  await host.close();
  await sandbox.close();
  return { kind, rounds };
}

const off = (seen: string) => mismatch('count 5', seen);

describe('a verdict over several answers', () => {
  it('is checked again and stands if it is the same three times in a row', async () => {
    expect(await judged(off('4'))).toEqual({ kind: 'fail', rounds: 3 });
    expect(await judged(off('3'), off('4'))).toEqual({ kind: 'fail', rounds: 4 });
  });

  it('does not stand if another check explains it', async () => {
    expect(await judged(off('4'), pass)).toEqual({ kind: 'pass', rounds: 2 });
    expect(await judged(off('4'), off('4'), cannotTell('moving'))).toEqual({
      kind: 'cannot tell',
      rounds: 3,
    });
  });

  it('does not stand if it differs each time', async () => {
    const moving = ['4', '6', '4', '6', '4'].map(off);
    expect(await judged(...moving)).toEqual({ kind: 'cannot tell', rounds: 5 });
  });
});

it('a single answer that contradicts the document is proof at once', async () => {
  expect(await judged(contradiction('sorted', 'not'))).toEqual({ kind: 'fail', rounds: 1 });
});

it('an unexpected status is a mismatch, and an unreadable page gives no verdict', async () => {
  expect(await judged(new UnusablePageError(403))).toEqual({ kind: 'fail', rounds: 3 });
  expect(await judged(new UnusablePageError(200, ['meta: missing']))).toEqual({
    kind: 'cannot tell',
    rounds: 1,
  });
});

it('a missing answer gives no verdict, and a mistake of the suite is not hidden', async () => {
  expect(await judged(new PartnerError('unavailable', 'list'))).toEqual({
    kind: 'cannot tell',
    rounds: 1,
  });
  await expect(judged(new RangeError('a mistake'))).rejects.toThrow(RangeError);
});
