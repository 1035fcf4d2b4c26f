import { PartnerError } from '../../lambda/partner/errors.ts';
import { type HostOptions, TestedHost } from './host.ts';
import { judgeCheck } from './judge.ts';
import { answerTo, type OpenQuestionAnswer, openQuestions } from './open-questions.ts';
import { Samples } from './samples.ts';
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

export interface ConformanceReport {
  readonly sections: readonly SectionResult[];
  readonly observations: readonly OpenQuestionAnswer[];
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
export async function checkHost(options: HostOptions): Promise<ConformanceReport> {
  const host = await TestedHost.open(options);
  try {
    const samples = new Samples(host);
    await requireList(samples);
    const results: SectionResult[] = [];
    for (const { id, title, checks } of sections) {
      const judged: CheckResult[] = [];
      for (const check of checks) {
        judged.push({ name: check.name, verdict: await judgeCheck(check, samples) });
      }
      results.push({ id, title, verdict: summed(judged), checks: judged });
    }
    const observations: OpenQuestionAnswer[] = [];
    const afresh = new Samples(host);
    for (const question of openQuestions) observations.push(await answerTo(question, afresh));
    const durations = host.durations.toSorted((one, other) => one - other);
    return {
      sections: results,
      observations,
      requests: host.requests,
      medianMs: Math.round(durations[durations.length >> 1] ?? 0),
      slowestMs: Math.round(durations.at(-1) ?? 0),
    };
  } finally {
    await host.close();
  }
}

/**
 * Without a list there is nothing to check: the request is refused, the integration is not provisioned, or there is no
 * API.
 */
async function requireList(samples: Samples): Promise<void> {
  const { refusal, body } = await samples.answer({});
  if (refusal !== undefined) throw refusal;
  if (body === undefined) throw new PartnerError('unexpected-response', 'list', ['not JSON']);
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
