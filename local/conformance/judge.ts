import { NotifierError } from '../../lambda/errors.ts';
import type { ConformanceCheck } from './check.ts';
import { UnusablePageError } from './errors.ts';
import { Samples } from './samples.ts';
import { type CheckVerdict, cannotTell, mismatch, unanswered } from './verdict.ts';

/** The number of rounds in a row that must end with the same mismatch, counts included. */
const agreeing = 3;
const mostRounds = 5;

/**
 * A verdict that a changing world cannot have caused. A contradiction between several answers is checked again from the
 * beginning, until it is explained or comes with the same counts each time.
 */
export async function judgeCheck(check: ConformanceCheck, shared: Samples): Promise<CheckVerdict> {
  let samples = shared;
  let last: string | undefined;
  let streak = 0;
  for (let round = 1; round <= mostRounds; round++) {
    const verdict = await attempt(check, samples);
    if (verdict.verdict !== 'fail' || verdict.proven) return verdict;
    streak = verdict.seen === last ? streak + 1 : 1;
    if (streak === agreeing) return verdict;
    last = verdict.seen;
    samples = new Samples(shared.host);
  }
  return cannotTell('the data changed while it was asked');
}

async function attempt(check: ConformanceCheck, samples: Samples): Promise<CheckVerdict> {
  try {
    return await check.run(samples);
  } catch (error) {
    if (error instanceof UnusablePageError) {
      return error.status === 200
        ? cannotTell('an answer of the list could not be read')
        : mismatch('status 200', `status ${error.status}`);
    }
    if (error instanceof NotifierError) return unanswered(error.message);
    throw error;
  }
}
