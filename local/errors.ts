import { errorOf } from '../lambda/errors.ts';

/** The program cannot run with the given flags or files. */
export class StartError extends errorOf('start-refused', 'ops') {
  readonly whatToDo: string;

  constructor(problem: string, whatToDo: string, options?: ErrorOptions) {
    super(problem, options);
    this.whatToDo = whatToDo;
  }
}

/** Whether it is an error of the operating system with one of these codes, such as `EPIPE`. */
export function isSystemError(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
