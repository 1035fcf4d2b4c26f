import { NotifierError } from '../../lambda/errors.ts';
import type { HttpAnswer, Send } from './host.ts';
import type { Next, Question } from './question.ts';
import { type CheckVerdict, cannotTell, pass } from './verdict.ts';

type Answering = (question: Omit<Question, 'judge'>) => Promise<HttpAnswer>;

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
 * @param answer may share answers with other checks
 * @param before the mismatches of the rounds before
 */
export async function judge(
  check: Next,
  send: Send,
  answer: Answering,
  before: readonly string[] = [],
): Promise<CheckVerdict> {
  const verdict = await attempt(check, answer);
  if (verdict.verdict !== 'fail' || verdict.proven) return verdict;
  const seen = [...before, verdict.seen];
  const isSteady = seen.slice(-agreeing).every((each) => each === verdict.seen);
  if (isSteady && seen.length >= agreeing) return verdict;
  if (seen.length === mostRounds) return cannotTell('the data changed while it was asked');
  return await judge(check, send, remembering(send), seen);
}

async function attempt(check: Next, answer: Answering): Promise<CheckVerdict> {
  try {
    return await follow(check, answer);
  } catch (error) {
    // The host gave no usable answer, so the check was not carried out.
    if (!(error instanceof NotifierError)) throw error;
    return { verdict: 'cannot tell', why: error.message, unanswered: true };
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
