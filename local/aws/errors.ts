import { errorOf } from '../../lambda/errors.ts';

/** A part of the template that matters for a local run, but that `local/aws` cannot interpret. */
export class TemplateNotUnderstoodError extends errorOf('template-not-understood', 'ops') {
  readonly whatToDo =
    'Teach local/aws/ to interpret it or, if it has no local meaning, add it to the list of those.';

  /** @param at logical id and path inside the template */
  constructor(at: string, problem: string, options?: ErrorOptions) {
    super(`${at}: ${problem}`, options);
  }
}

/** An assembly directory without a stack, or with several where one was expected. */
export class AssemblyError extends errorOf('assembly-unusable', 'ops') {
  readonly whatToDo = 'Synthesize one stack into the directory (`npm run synth`) and name it.';
}
