import { InvalidArgumentError } from 'commander';
import { mutants } from './mutants.ts';

export const whole = (text: string) => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('a whole number');
  return Number(text);
};

export const mutantNamed = (name: string) => {
  if (name in mutants) return name;
  throw new InvalidArgumentError(`one of ${Object.keys(mutants).join(', ')}`);
};
