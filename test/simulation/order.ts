import { breakParts, mutants } from './mutants.ts';
import type { Plan } from './plan.ts';
import { asOption, shrink } from './shrink.ts';
import { type LifeOptions, type Outcome, simulate } from './simulate.ts';

/** The life that a worker has to live. */
export interface Order {
  readonly seed: number;
  readonly plan: Partial<Plan>;
  readonly mutant?: string | undefined;
  /** Whether a life that breaks a promise is shrunk. */
  readonly isShrunk: boolean;
}

export interface Lived extends Outcome {
  readonly seed: number;
  /** The calmest life that breaks the same promise, with the command that repeats it and its events. */
  readonly shrunk?: {
    readonly option: string;
    readonly findings: readonly string[];
    readonly story: readonly string[];
  };
}

/** The plan of a mutant's life, and its broken parts. */
export function optionsOf(name: string | undefined): LifeOptions {
  if (name === undefined) return {};
  const mutant = mutants[name];
  if (mutant === undefined)
    throw new Error(`no such mutant; there are ${Object.keys(mutants).join(', ')}`);
  return { ...mutant.amid, broken: breakParts(mutant) };
}

export async function live({ seed, plan, mutant, isShrunk }: Order): Promise<Lived> {
  const options = optionsOf(mutant);
  const outcome = await simulate(seed, { ...options, plan });
  const worst = outcome.findings[0];
  if (worst === undefined || !isShrunk) return { seed, ...outcome };
  const shrunk = await shrink(seed, options, outcome.plan, worst);
  const { findings, story } = shrunk;
  return { seed, ...outcome, shrunk: { option: asOption(seed, shrunk.plan), findings, story } };
}
