import { isRefusal } from '../errors.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import type { State } from '../ports/state.ts';
import { problemOf } from './answer.ts';
import { ledger, pause, topics } from './check-deployment.ts';
import {
  clocks,
  dayBounds,
  records,
  scope,
  scopeOf,
  singleRecord,
  tieOrder,
  timeZone,
} from './check-partner.ts';
import { checkNames } from './contract.ts';
import { type CheckName, type Finding, failed, ok, skipped } from './finding.ts';
import type { Call, Carrier, OperationParts } from './parts.ts';

/** The partner has issued a token, and refuses what it is to be used for. */
const tokenIsGood = ok('The partner issues a token, and its API accepts it.');

/**
 * Tries what a first deployment can get wrong, as far as it can be tried from inside AWS, in order.
 * Reads only. What cannot be tried because of a failure before it is skipped.
 */
export const check: Carrier<'check'> = async (parts, _command, { limit }) => {
  const found = new Map<CheckName, Finding>();
  const note = async (name: CheckName, look: () => Promise<Finding> | Finding) => {
    const finding = await lookSafely(look);
    found.set(name, finding);
    return finding.outcome !== 'failed';
  };

  let state: State | undefined;
  const hasState = await note('ledger', async () => {
    state = await parts.ledger.recordedState();
    return ledger(state, parts);
  });
  if (hasState) await note('pause', () => pause(state));
  await note('topics', () => topics(parts));
  const hasSecret = await note('secret', async () => {
    await parts.credentials();
    return ok('The secret holds a client ID and a secret.');
  });
  const pulse = hasSecret ? await firstAnswer(parts, limit, found) : undefined;
  if (pulse !== undefined) {
    await note('scope', () => scope(pulse));
    await note('records', () => records(pulse));
    await note('clock', () => clocks(parts));
    await note('time-zone', () => timeZone(parts, pulse));
    await note('day-bounds', () => dayBounds(parts, limit.deadline));
    await note('single-record', () => singleRecord(parts, pulse, limit.deadline));
    await note('tie-order', () => tieOrder(parts, pulse, limit.deadline));
  }
  const notTried = skipped('Not tried, because of what failed before it.');
  return {
    result: {
      checks: checkNames.map((name) => ({ name, ...(found.get(name) ?? notTried) })),
      ...(pulse && { scope: scopeOf(pulse) }),
    },
  };
};

async function lookSafely(look: () => Promise<Finding> | Finding): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    return failure(error);
  }
}

function failure(error: unknown): Finding {
  const { code, message, whatToDo } = problemOf(error);
  return failed(message, whatToDo, code);
}

/** The newest page; or what its refusal says about the token and the scope. */
async function firstAnswer(
  { partner }: OperationParts,
  { deadline }: Call['limit'],
  found: Map<CheckName, Finding>,
): Promise<PulseRead | undefined> {
  try {
    const pulse = await partner.pulse(deadline);
    found.set('token', tokenIsGood);
    return pulse;
  } catch (error) {
    const { found: message, ...finding } = failure(error);
    const isRefused = isRefusal(error);
    const isScope = isRefused && finding.code === 'not-provisioned';
    if (isScope) found.set('scope', { found: message, ...finding });
    const said = isRefused ? message : `The partner gave no usable answer: ${message}`;
    found.set('token', isScope ? tokenIsGood : { found: said, ...finding });
    return undefined;
  }
}
