import { type Aspect, aspects, calmest, type Plan, planOf } from './plan.ts';
import { type LifeOptions, simulate } from './simulate.ts';

/** The most lives of a shrinking. */
const mostLives = 200;

export interface Shrunk {
  readonly plan: Plan;
  readonly findings: readonly string[];
  /** Events of the life, in order. */
  readonly story: readonly string[];
}

/** The same promise is broken, for any record or day. */
function kindOf(finding: string): string {
  return finding.replaceAll(/\d[\d-]*/g, '#');
}

/**
 * The calmest life of this seed that still breaks the promise. One aspect after the other is
 * removed, and stays removed if the finding stays.
 */
export async function shrink(
  seed: number,
  options: Pick<LifeOptions, 'broken'>,
  plan: Plan,
  finding: string,
): Promise<Shrunk> {
  const kind = kindOf(finding);
  let best = plan;
  let lives = 0;
  const isBroken = async (candidate: Plan) => {
    lives += 1;
    const { findings } = await simulate(seed, { ...options, plan: candidate });
    return findings.some((one) => kindOf(one) === kind);
  };
  for (let isShorter = true; isShorter && lives < mostLives; ) {
    isShorter = false;
    for (const aspect of aspects)
      for (const value of calmer(aspect, best)) {
        const candidate = { ...best, [aspect]: value };
        if (lives >= mostLives || !(await isBroken(candidate))) continue;
        best = candidate;
        isShorter = true;
        break;
      }
  }
  const story: string[] = [];
  const { findings } = await simulate(seed, { ...options, plan: best, tell: teller(story) });
  return { plan: best, findings, story };
}

/** Values to try, the calmest first. */
function calmer(aspect: Aspect, plan: Plan): number[] {
  const value = plan[aspect];
  const least: number = calmest[aspect];
  if (aspect === 'firstStory') return value < plan.stories - 1 ? [plan.stories - 1] : [];
  if (value === least) return [];
  const isNumber = ['born', 'ticks', 'happenings', 'stories', 'crowd'].includes(aspect);
  const tries = isNumber ? [least, Math.floor((value + least) / 2), value - 1] : [least];
  return [...new Set(tries)].filter((one) => one !== value);
}

/** Arguments of the command line: the differences from the seed's plan. */
export function asOption(seed: number, plan: Plan): string {
  const own = planOf(seed);
  const changed = aspects.filter((aspect) => plan[aspect] !== own[aspect]);
  return changed.map((aspect) => `${aspect}=${plan[aspect]}`).join();
}

/** One line for events of many records at the same moment. */
function teller(story: string[]): NonNullable<LifeOptions['tell']> {
  let last = '';
  return (line, to) => {
    if (line === last && to !== undefined) story.push(`${story.pop()}, ${to}`);
    else story.push(to === undefined ? line : `${line} ${to}`);
    last = line;
  };
}
