import { OpsError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';

/** An assistant asks for a change, and may only look. */
export class ChangesNotAllowedError extends OpsError {
  readonly code = 'changes-not-allowed';
  readonly retryHelps = false;
  readonly exitCode = exitCodes.refused;
  readonly whatToDo =
    'Nothing was changed. Give the command on the command line, or have this server started with --allow-changes.';

  constructor(command: string) {
    super(`${command} changes something, and this server only looks.`);
  }
}
