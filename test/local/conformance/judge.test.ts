import { expect, it } from 'vitest';
import { PartnerError } from '../../../lambda/partner/errors.ts';
import type { HttpAnswer } from '../../../local/conformance/host.ts';
import { judge, remembering } from '../../../local/conformance/judge.ts';
import { look, page } from '../../../local/conformance/question.ts';
import {
  type CheckVerdict,
  cannotTell,
  contradiction,
  mismatch,
  observed,
  pass,
} from '../../../local/conformance/verdict.ts';

type Round = CheckVerdict | HttpAnswer | Error;

const answer = (status: number): HttpAnswer => ({ status, body: {}, refusal: undefined });
const emptyPage: HttpAnswer = {
  ...answer(200),
  body: { data: [], meta: { count: 0, offset: 0, page: 50 } },
};

/** The result of a check with these verdicts or answers in turn, the last of which stays. */
async function judged(...turns: Round[]): Promise<{ kind: string; rounds: number }> {
  let rounds = 0;
  let turn: Round = pass;
  const send = async (): Promise<HttpAnswer> => {
    turn = turns[Math.min(rounds, turns.length - 1)] ?? pass;
    rounds++;
    if (turn instanceof Error) throw turn;
    return 'status' in turn ? turn : emptyPage;
  };
  const check = page({}, () => ('verdict' in turn ? turn : pass));
  const { verdict: kind } = await judge(check, send, remembering(send));
  return { kind, rounds };
}

const off = (seen: string) => mismatch('count 5', seen);
const moving = cannotTell('moving');

it.each<[string, readonly Round[], CheckVerdict['verdict'], number]>([
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
  ['of an unexpected status is checked again', [answer(403)], 'fail', 3],
  ['of an unreadable page is none', [answer(200)], 'cannot tell', 1],
  ['without an answer is none', [new PartnerError('unavailable', 'list')], 'cannot tell', 1],
])('a contradiction %s', async (_, turns, kind, rounds) => {
  expect(await judged(...turns)).toEqual({ kind, rounds });
});

it('a host that refuses one order is judged by its other pages', async () => {
  const send = async ({ path }: { path: string }) =>
    path.includes('DESC') ? answer(400) : emptyPage;
  const check = look(({ pages }) => observed(`${pages.length} pages`));
  expect(await judge(check, send, remembering(send))).toEqual(observed('2 pages'));
});

it('a mistake of the suite is not hidden', async () => {
  await expect(judged(new RangeError('a mistake'))).rejects.toThrow(RangeError);
});
