import { NotifierError } from '../../lambda/errors.ts';
import type { HttpAnswer, Send } from './host.ts';
import type { Next, Question } from './question.ts';
import { type CheckVerdict, cannotTell, pass, unanswered } from './verdict.ts';

type Answering = (question: Question) => Promise<HttpAnswer>;

/** The number of rounds in a row that must end with the same mismatch, counts included. */
const agreeing = 3;
const mostRounds = 5;

/** Sends each request once, unless the question is to be asked afresh, or there was no answer. */
export function remembering(send: Send): Answering {
  const answers = new Map<string, HttpAnswer>();
  return async ({ request, isAfresh }) => {
    if (isAfresh) return await send(request);
    const key = JSON.stringify(request);
    const answer = answers.get(key) ?? (await send(request));
    answers.set(key, answer);
    return answer;
  };
}

/**
 * A verdict that a changing world cannot have caused. A mismatch between several answers is asked again from the
 * beginning, until it is explained or comes with the same counts each time.
 *
 * @param shared answers that other checks have got
 */
export async function judge(check: Next, send: Send, shared: Answering): Promise<CheckVerdict> {
  let last: string | undefined;
  let streak = 0;
  for (let round = 1; round <= mostRounds; round++) {
    const verdict = await attempt(check, round === 1 ? shared : remembering(send));
    if (verdict.verdict !== 'fail' || verdict.proven) return verdict;
    streak = verdict.seen === last ? streak + 1 : 1;
    if (streak === agreeing) return verdict;
    last = verdict.seen;
  }
  return cannotTell('the data changed while it was asked');
}

async function attempt(check: Next, answer: Answering): Promise<CheckVerdict> {
  try {
    return await follow(check, answer);
  } catch (error) {
    if (error instanceof NotifierError) return unanswered(error.message);
    throw error;
  }
}

async function follow(next: Next, answer: Answering): Promise<CheckVerdict> {
  if ('verdict' in next) return next;
  if ('judge' in next) return await follow(next.judge(await answer(next)), answer);
  let first: CheckVerdict = pass;
  for (const each of next) {
    const verdict = await follow(each, answer);
    if (verdict.verdict === 'fail') return verdict;
    if (first.verdict === 'pass') first = verdict;
  }
  return first;
}
