import { noticed } from '../../lambda/condition-table.ts';
import { NotifierError } from '../../lambda/errors.ts';

/** None of the token requests was granted: wrong credentials, as far as the host says. */
export class CredentialsFileRefusedError extends NotifierError {
  readonly code = 'credentials-refused';
  readonly fault = 'ops';
  readonly retryHelps = false;
  readonly whatToDo = noticed['credentials-refused'].toDo;

  constructor() {
    super('The token endpoint refused the client ID or the secret.');
  }
}

/** The run has made as many requests as it may. */
export class RequestsSpentError extends NotifierError {
  readonly code = 'requests-spent';
  readonly fault = 'ops';
  readonly retryHelps = true;
  readonly whatToDo = 'Run it at a quieter time: a host whose data moves is asked more often.';

  constructor(most: number) {
    super(`The ${most} requests of a run are used up.`);
  }
}

/** The list answered something that no page can be read from. */
export class UnusablePageError extends NotifierError {
  readonly code = 'unusable-page';
  readonly fault = 'partner';
  readonly retryHelps = false;
  readonly whatToDo = 'Show the partner the check that failed.';
  /** 200 when the body is at fault. */
  readonly status: number;

  /** @param problems paths and the problem of each; never a value */
  constructor(status: number, problems: readonly string[] = []) {
    super(
      `The list answered with status ${status}${problems.map((text) => `; ${text}`).join('')}.`,
    );
    this.status = status;
  }
}
