import { type Fault, NotifierError } from './errors.ts';

/**
 * What Lambda is shown of a failed tick. The runtime logs what a handler throws with its message,
 * stack and causes; those of a foreign error can quote data, so only its name goes on.
 */
export class TickFailure extends NotifierError {
  readonly code: string;
  readonly fault: Fault;
  readonly retryHelps: boolean;
  readonly whatToDo: string;

  constructor(failure: unknown) {
    if (failure instanceof NotifierError) {
      super(failure.message);
      this.code = failure.code;
      this.fault = failure.fault;
      this.retryHelps = failure.retryHelps;
      this.whatToDo = failure.whatToDo;
    } else {
      super(`The tick failed: ${failure instanceof Error ? failure.name : typeof failure}.`);
      this.code = 'unexpected';
      this.fault = 'ops';
      this.retryHelps = true;
      this.whatToDo =
        'See "tick failed" in the log; if it happens again, it is a defect: report it.';
    }
  }
}
