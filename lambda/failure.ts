import { problemOf } from './describe-error.ts';
import { type Fault, NotifierError } from './errors.ts';

/**
 * The failure of a tick, for Lambda. The runtime logs a thrown error with its text, stack
 * and causes. Those of a foreign error can quote data, so only its name goes on.
 */
export class Failure extends NotifierError {
  readonly code: string;
  readonly fault: Fault;
  readonly retryHelps: boolean;
  readonly whatToDo: string;

  constructor(failure: unknown) {
    const { code, fault, message, retryHelps, whatToDo } = problemOf(failure, 'tick');
    super(message);
    this.code = code;
    this.fault = fault;
    this.retryHelps = retryHelps;
    this.whatToDo = whatToDo;
  }
}
