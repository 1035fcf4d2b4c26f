import { PartnerError } from '../../lambda/partner/errors.ts';
import { type HostOptions, type HttpAnswer, type TestedHost, withHost } from './host.ts';
import { judge, remembering } from './judge.ts';
import { openQuestions } from './open-questions.ts';
import { list } from './requests.ts';
import { sections } from './sections/index.ts';
import type { CheckVerdict } from './verdict.ts';

export interface CheckResult {
  readonly name: string;
  readonly verdict: CheckVerdict;
}

export interface SectionResult {
  readonly id: string;
  readonly title: string;
  /** `fail` if any check fails; `pass` only if every check passes. */
  readonly verdict: CheckVerdict['verdict'];
  readonly checks: readonly CheckResult[];
}

export interface Observation {
  readonly question: string;
  readonly matters: string;
  readonly answer: string;
}

export interface ConformanceReport {
  readonly sections: readonly SectionResult[];
  readonly observations: readonly Observation[];
  /** Requests made, retries included; below 200. */
  readonly requests: number;
  /** For one request. */
  readonly medianMs: number;
  readonly slowestMs: number;
}

/**
 * Checks a host against docs/partner.md by reading only.
 *
 * @throws {NotifierError} if that is not possible: no token, no provisioning, no list
 */
export const checkHost = (options: HostOptions): Promise<ConformanceReport> =>
  withHost(options, async (host) => {
    const answer = remembering(host.send);
    requireList(await answer({ request: list({}) }));
    const all = sections(host.grants, options.credentials);
    const results = await Array.fromAsync(all, async ({ id, title, checks }) => {
      const judged = await Array.fromAsync(Object.entries(checks), async ([name, check]) => ({
        name,
        verdict: await judge(check, host.send, answer),
      }));
      return { id, title, verdict: summed(judged), checks: judged };
    });
    const observations = await observationsOf(host);
    const durations = host.log.map(({ ms }) => ms).sort((one, other) => one - other);
    return {
      sections: results,
      observations,
      requests: durations.length,
      medianMs: Math.round(durations[durations.length >> 1] ?? 0),
      slowestMs: Math.round(durations.at(-1) ?? 0),
    };
  });

/** Without a list there is nothing to check. */
function requireList({ refusal, body }: HttpAnswer): void {
  if (refusal !== undefined) throw refusal;
  if (body === undefined) throw new PartnerError('unexpected-response', 'list', ['not JSON']);
}

function observationsOf(host: TestedHost): Promise<Observation[]> {
  const answer = remembering(host.send);
  const questions = Object.entries(openQuestions(host));
  return Array.fromAsync(questions, async ([question, { matters, ask }]) => {
    const verdict = await judge(ask, host.send, answer);
    const seen = verdict.verdict === 'cannot tell' ? `cannot tell: ${verdict.why}` : verdict.seen;
    return { question, matters, answer: seen ?? '' };
  });
}

function summed(checks: readonly CheckResult[]): CheckVerdict['verdict'] {
  const has = (wanted: CheckVerdict['verdict']) =>
    checks.some(({ verdict }) => verdict.verdict === wanted);
  return has('fail') ? 'fail' : has('cannot tell') ? 'cannot tell' : 'pass';
}

/** 0: nothing contradicts the document; 1: an answer does; 2: a part was not carried out. */
export function exitCode({ sections }: ConformanceReport): 0 | 1 | 2 {
  const verdicts = sections.flatMap(({ checks }) => checks.map(({ verdict }) => verdict));
  if (verdicts.some(({ verdict }) => verdict === 'fail')) return 1;
  const missing = verdicts.some((each) => each.verdict === 'cannot tell' && each.unanswered);
  return missing ? 2 : 0;
}
