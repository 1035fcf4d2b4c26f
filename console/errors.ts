import { OpsError } from '../ops/errors.ts';
import { exitCodes } from '../ops/exit-codes.ts';

/** Another program listens on the console's port. */
export class PortTakenError extends OpsError {
  readonly code = 'port-taken';
  readonly retryHelps = false;
  readonly exitCode = exitCodes.usage;
  readonly whatToDo = 'Give another --port, or 0 for any that is free.';

  constructor(port: number, options?: ErrorOptions) {
    super(`The port ${port} is taken.`, options);
  }
}
