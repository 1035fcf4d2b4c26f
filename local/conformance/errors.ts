import { noticed } from '../../lambda/condition-table.ts';
import { errorOf } from '../../lambda/errors.ts';

/** No token request was granted: according to the host, the credentials are wrong. */
export class CredentialsFileRefusedError extends errorOf('credentials-refused', 'ops') {
  readonly whatToDo = noticed['credentials-refused'].toDo;

  constructor() {
    super('The token endpoint refused the client ID or the secret.');
  }
}

/** The run has used up its requests. */
export class RequestsSpentError extends errorOf('requests-spent', 'ops', 'retry-helps') {
  readonly whatToDo = 'Run it at a quieter time: a host whose data moves is asked more often.';

  constructor(most: number) {
    super(`The ${most} requests of a run are used up.`);
  }
}
