import { isRefusal } from '../errors.ts';
import type { PulseRead } from '../ports/partner-reader.ts';
import { problemOf } from './answer.ts';
import * as partner from './check-partner.ts';
import { checkNames } from './contract.ts';
import { type CheckName, type Finding, failed, warning } from './finding.ts';
import type { Call, Carrier, OperationParts } from './parts.ts';
import { isBehind } from './status.ts';
import { ifPaused } from './steering.ts';

type Found = Map<CheckName, Finding>;

/**
 * Tries what a first deployment can get wrong, as far as it can be tried from inside AWS, in order.
 * Reads only. What cannot be tried because of a failure before it is skipped.
 */
export const check: Carrier<'check'> = async (parts, _command, { limit: { deadline } }) => {
  const found: Found = new Map();
  const note = async (name: CheckName, look: () => Promise<Finding> | Finding) => {
    const finding = await Promise.resolve().then(look).catch(failure);
    found.set(name, finding);
    return finding.outcome !== 'failed';
  };
  await note('ledger', () => ledger(parts));
  if (found.get('ledger')?.outcome !== 'failed') await note('pause', () => pause(parts));
  await note('topics', () => topics(parts));
  const hasSecret = await note('secret', async () => {
    await parts.credentials();
    return { found: 'The secret holds a client ID and a secret.' };
  });
  const pulse = hasSecret ? await firstAnswer(parts, deadline, found) : undefined;
  if (pulse !== undefined) {
    await note('scope', () => partner.scope(pulse));
    await note('records', () => partner.records(pulse));
    await note('time-zone', () => partner.timeZone(parts, pulse));
    await note('day-bounds', () => partner.dayBounds(parts, deadline));
    await note('single-record', () => partner.singleRecord(parts, pulse, deadline));
  }
  return {
    result: {
      checks: checkNames.map((name) => ({
        name,
        outcome: 'ok',
        ...(found.get(name) ?? {
          outcome: 'skipped',
          found: 'Not tried, because of what failed before it.',
        }),
      })),
      scope: pulse && partner.scopeOf(pulse),
    },
  };
};

function failure(error: unknown): Finding {
  const { code, message, whatToDo } = problemOf(error);
  return { ...failed(message, whatToDo), code };
}

/** The newest page; or what its refusal says about the token and the scope. */
async function firstAnswer(
  { partner }: OperationParts,
  deadline: Call['limit']['deadline'],
  found: Found,
): Promise<PulseRead | undefined> {
  // The partner may have issued a token, and refuse what it is to be used for.
  const isGood = { found: 'The partner issues a token, and its API accepts it.' };
  try {
    const pulse = await partner.pulse(deadline);
    found.set('token', isGood);
    return pulse;
  } catch (error) {
    const finding = failure(error);
    const isScope = isRefusal(error) && finding.code === 'not-provisioned';
    if (isScope) found.set('scope', finding);
    const said = isRefusal(error) ? '' : 'The partner gave no usable answer: ';
    found.set('token', isScope ? isGood : { ...finding, found: `${said}${finding.found}` });
    return undefined;
  }
}

async function ledger(parts: OperationParts): Promise<Finding> {
  const state = await parts.ledger.recordedState();
  if (state === undefined)
    return warning(
      'The ledger answers; no tick has ever begun its work.',
      'If the schedule is enabled, wait for a minute and look again.',
    );
  const found = `The ledger answers; the last completed tick ended at ${state.heartbeat ?? '(none yet)'}.`;
  if (!isBehind(state, parts)) return { found };
  const whatToDo = 'Ticks do not come to their end. What follows may say why; status does.';
  return warning(found, whatToDo);
}

async function pause(parts: OperationParts): Promise<Finding> {
  const { paused } = ifPaused(await parts.ledger.recordedState());
  if (paused === undefined) return { found: 'The integration is not paused.' };
  const { since, by = 'somebody', reason = 'no reason given' } = paused;
  return warning(
    `${by} has paused the integration${since === undefined ? '' : ` at ${since}`}: ${reason}.`,
    'Resume it when that is over: until then ticks do nothing, and nothing is announced.',
  );
}

async function topics(parts: OperationParts): Promise<Finding> {
  const all = await parts.topics();
  const missing = all.filter(({ problem }) => problem !== undefined);
  if (missing.length > 0)
    return failed(
      missing.map(({ topic, problem }) => `${topic}: ${problem}`).join('; '),
      'Deploy again: a topic, its policy or the role of the operate function was changed by hand.',
    );
  const waiting = all.filter(({ pending }) => pending > 0);
  if (waiting.length > 0)
    return warning(
      waiting
        .map(({ topic, pending }) => `${topic}: ${pending} subscriptions are not confirmed`)
        .join('; '),
      'Have each subscriber follow the link in the message that AWS sent; a link is good for two days. After that, subscribe again.',
    );
  const nobody = all.filter(({ confirmed }) => confirmed === 0);
  if (nobody.length > 0)
    return warning(
      `Nobody is subscribed to: ${nobody.map(({ topic }) => topic).join(', ')}.`,
      'Add subscriptions in notifier.config.ts, and deploy: docs/subscribing.md.',
    );
  return {
    found: all.map(({ topic, confirmed }) => `${topic}: ${confirmed} subscribed`).join('; '),
  };
}
