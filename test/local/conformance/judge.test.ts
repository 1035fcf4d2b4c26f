import { expect, it } from 'vitest';
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
const moving = cannotTell('moving');

it.each<[string, readonly (CheckVerdict | Error)[], CheckVerdict['verdict'], number]>([
  ['the same three times in a row stands', [off('4')], 'fail', 3],
  ['the same three times in a row, at last, stands', [off('3'), off('4')], 'fail', 4],
  ['explained by another check does not stand', [off('4'), pass], 'pass', 2],
  ['explained by a moving host does not stand', [off('4'), off('4'), moving], 'cannot tell', 3],
  [
    'of another kind each time does not stand',
    ['4', '6', '4', '6', '4'].map(off),
    'cannot tell',
    5,
  ],
  ['of a single answer is proof at once', [contradiction('sorted', 'not')], 'fail', 1],
  ['of an unexpected status is checked again', [new UnusablePageError(403)], 'fail', 3],
  ['of an unreadable page is none', [new UnusablePageError(200, ['meta'])], 'cannot tell', 1],
  ['without an answer is none', [new PartnerError('unavailable', 'list')], 'cannot tell', 1],
])('a contradiction %s', async (_, verdicts, kind, rounds) => {
  expect(await judged(...verdicts)).toEqual({ kind, rounds });
});

it('a mistake of the suite is not hidden', async () => {
  await expect(judged(new RangeError('a mistake'))).rejects.toThrow(RangeError);
});
