import { NotifierError } from '../../lambda/errors.ts';

/** The sandbox cannot listen on the chosen port. */
export class SandboxPortTakenError extends NotifierError {
  readonly code = 'sandbox-port-taken';
  readonly fault = 'ops';
  readonly retryHelps = false;
  readonly whatToDo = 'Choose another port, or 0 for any free one.';

  constructor(port: number, options?: ErrorOptions) {
    super(`Port ${port} is taken.`, options);
  }
}

/** An invalid option, switch, fault or operation on the world. */
export class SandboxRequestError extends NotifierError {
  readonly code = 'sandbox-request-invalid';
  readonly fault = 'ops';
  readonly retryHelps = false;
  readonly whatToDo =
    'Correct the field that the message names; docs/partner.md#control-it lists the accepted ones.';
}

/** No record, educator, organization or assessment has that id. */
export class NotInWorldError extends NotifierError {
  readonly code = 'sandbox-id-unknown';
  readonly fault = 'ops';
  readonly retryHelps = false;
  readonly whatToDo = 'Use an id that the sandbox lists.';

  constructor(what: string, id: number) {
    super(`The sandbox has no ${what} ${id}.`);
  }
}
