import { breakParts, intact, mutants } from './mutants.ts';
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

/** A mutant's parts. @throws unless it exists, or none is named */
export function brokenBy(name: string | undefined) {
  const mutant = mutants[name ?? ''];
  if (name !== undefined && mutant === undefined)
    throw new Error(`no such mutant; there are ${Object.keys(mutants).join(', ')}`);
  return mutant === undefined ? intact : breakParts(mutant);
}

/** The plan of a mutant's life with these changes, and its broken parts. */
export function optionsOf({ mutant, plan }: Omit<Order, 'seed' | 'isShrunk'>): LifeOptions {
  return { broken: brokenBy(mutant), plan: { ...mutants[mutant ?? '']?.amid, ...plan } };
}

export async function live({ seed, isShrunk, ...order }: Order): Promise<Lived> {
  const options = optionsOf(order);
  const outcome = await simulate(seed, options);
  const worst = outcome.findings[0];
  if (worst === undefined || !isShrunk) return { seed, ...outcome };
  const { plan, ...shrunk } = await shrink(seed, options, outcome.plan, worst);
  return { seed, ...outcome, shrunk: { option: asOption(seed, plan), ...shrunk } };
}
