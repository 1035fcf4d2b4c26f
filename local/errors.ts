import { NotifierError } from '../lambda/errors.ts';

/** The program cannot run with the given flags or files. */
export class StartError extends NotifierError {
  readonly code = 'start-refused';
  readonly fault = 'ops';
  readonly retryHelps = false;
  readonly whatToDo: string;

  constructor(problem: string, whatToDo: string, options?: ErrorOptions) {
    super(problem, options);
    this.whatToDo = whatToDo;
  }
}

/** Whether it is an error of the operating system with this code, such as `EPIPE`. */
export function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
