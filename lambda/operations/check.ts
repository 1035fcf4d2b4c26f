import { NotifierError } from '../errors.ts';
import type { PulseRead } from '../ports.ts';
import { problemOf } from './answer.ts';
import { dayBounds, scopeOf, singleRecord, tieOrder, timeZone } from './check-partner.ts';
import type { CommandOf } from './command.ts';
import type { ResultOf } from './contract.ts';
import type { Call, OperationParts, Outcome } from './parts.ts';
import { checkNames } from './result.ts';

type Result = ResultOf<'check'>;
type CheckName = (typeof checkNames)[number];
export type Finding = Omit<Result['checks'][number], 'name'>;

/** Beyond this the day of a record may be another than ours for a while. */
const tolerableSkewMs = 60_000;

/** Refused before any question about the scope can be put. */
const tokenCodes = ['credentials-refused', 'unsupported-grant', 'token-refused-twice'];
const scopeCodes = ['no-organizations-assigned', 'no-assessments-assigned'];

/**
 * Tries what a first deployment can get wrong, as far as it can be tried from inside AWS, in order.
 * Reads only. What cannot be tried because of a failure before it is skipped.
 */
export async function check(
  parts: OperationParts,
  _command: CommandOf<'check'>,
  { limit }: Call,
): Promise<Outcome<Result>> {
  const found = new Map<CheckName, Finding>();
  const note = async (name: CheckName, look: () => Promise<Finding> | Finding) => {
    found.set(name, await lookSafely(look));
  };

  await note('ledger', () => ledger(parts));
  await note('topics', () => topics(parts));
  await note('secret', async () => {
    await parts.credentials();
    return ok('The secret holds a client ID and a secret.');
  });
  let pulse: PulseRead | undefined;
  if (found.get('secret')?.outcome === 'ok')
    try {
      pulse = await parts.partner.pulse(limit.deadline);
      found.set('token', ok('The partner issues a token, and its API accepts it.'));
    } catch (error) {
      noteRefusal(found, error);
    }
  if (pulse !== undefined) {
    const shown = pulse;
    await note('scope', () => scope(shown));
    await note('records', () => records(shown));
    await note('clock', () => clocks(parts));
    await note('time-zone', () => timeZone(parts, shown));
    await note('day-bounds', () => dayBounds(parts, limit.deadline));
    await note('single-record', () => singleRecord(parts, shown, limit.deadline));
    await note('tie-order', () => tieOrder(parts, shown, limit.deadline));
  }
  return {
    result: {
      checks: checkNames.map((name) => ({
        name,
        ...(found.get(name) ?? {
          outcome: 'skipped',
          found: 'Not tried, because of what failed before it.',
        }),
      })),
      ...(pulse && { scope: scopeOf(pulse) }),
    },
  };
}

const ok = (found: string): Finding => ({ outcome: 'ok', found });

async function lookSafely(look: () => Promise<Finding> | Finding): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    return failure(error);
  }
}

function failure(error: unknown): Finding {
  const { code, message, whatToDo } = problemOf(error);
  return { outcome: 'failed', found: message, whatToDo, code };
}

function noteRefusal(found: Map<CheckName, Finding>, error: unknown): void {
  const code = error instanceof NotifierError ? error.code : '';
  if (scopeCodes.includes(code)) {
    found.set('token', ok('The partner issues a token, and its API accepts it.'));
    found.set('scope', failure(error));
  } else if (tokenCodes.includes(code)) found.set('token', failure(error));
  else
    found.set('token', {
      ...failure(error),
      found: `The partner gave no usable answer: ${problemOf(error).message}`,
    });
}

async function ledger({ ledger }: OperationParts): Promise<Finding> {
  const state = await ledger.recordedState();
  if (state === undefined)
    return {
      outcome: 'warning',
      found: 'The ledger answers; no tick has ever begun its work.',
      whatToDo: 'If the schedule is enabled, wait for a minute and look again.',
    };
  return ok(
    `The ledger answers; the last completed tick ended at ${state.heartbeat ?? '(none yet)'}.`,
  );
}

async function topics(parts: OperationParts): Promise<Finding> {
  const findings = await parts.topics();
  const missing = findings.filter(({ problem }) => problem !== undefined);
  if (missing.length > 0)
    return {
      outcome: 'failed',
      found: missing.map(({ topic, problem }) => `${topic}: ${problem}`).join('; '),
      whatToDo:
        'Deploy again: a topic, its policy or the role of the operate function was changed by hand.',
    };
  const waiting = findings.filter(({ pending }) => pending > 0);
  if (waiting.length > 0)
    return {
      outcome: 'warning',
      found: waiting
        .map(({ topic, pending }) => `${topic}: ${pending} subscriptions are not confirmed`)
        .join('; '),
      whatToDo:
        'Have each subscriber follow the link in the message that AWS sent; a link is good for two days. After that, subscribe again.',
    };
  const nobody = findings.filter(({ confirmed }) => confirmed === 0);
  if (nobody.length > 0)
    return {
      outcome: 'warning',
      found: `Nobody is subscribed to: ${nobody.map(({ topic }) => topic).join(', ')}.`,
      whatToDo: 'Add subscriptions in notifier.config.ts, and deploy: docs/subscribing.md.',
    };
  return ok(findings.map(({ topic, confirmed }) => `${topic}: ${confirmed} subscribed`).join('; '));
}

function scope(pulse: PulseRead): Finding {
  if (pulse.count === 0)
    return {
      outcome: 'warning',
      found: 'The partner shows no assessments at all.',
      whatToDo:
        'If there should be some, ask the operator which organizations and assessments the integration may read.',
    };
  const { organizations, assessments } = scopeOf(pulse);
  return ok(
    `${pulse.count} assessments; the newest ${pulse.assessments.length} are of ${organizations.length} organizations and ${assessments.length} kinds of assessment.`,
  );
}

function records({ quarantined, assessments }: PulseRead): Finding {
  const [first] = quarantined;
  if (first === undefined) return ok(`The newest ${assessments.length} are as documented.`);
  return {
    outcome: 'warning',
    found: `${quarantined.length} of the newest are malformed, the first (${first.id ?? 'without an id'}): ${first.problems.join('; ')}.`,
    whatToDo: 'Tell the operator the id and the paths. Such records are not announced until then.',
  };
}

function clocks({ partnerAheadMs }: OperationParts): Finding {
  const ahead = partnerAheadMs();
  if (ahead === undefined)
    return { outcome: 'skipped', found: "The partner's answers have no usable Date header." };
  const seconds = Math.round(Math.abs(ahead) / 1_000);
  const said = `The partner's clock is ${seconds} s ${ahead < 0 ? 'behind' : 'ahead of'} ours.`;
  if (Math.abs(ahead) <= tolerableSkewMs) return ok(said);
  return {
    outcome: 'warning',
    found: said,
    whatToDo:
      'Tell the operator. Nothing is lost; what is dated tomorrow counts as of the recent window anyway.',
  };
}
