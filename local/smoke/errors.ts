import { OpsError } from '../../ops/errors.ts';
import { exitCodes } from '../../ops/exit-codes.ts';

/** The deployment's partner is no sandbox with a timetable. */
export class NoDemoError extends OpsError {
  readonly code = 'no-demo';
  readonly retryHelps = false;
  readonly exitCode = exitCodes.notFound;
  readonly whatToDo =
    'Deploy one with npx cdk deploy -c demo=true, or start one here with npm start -- --demo.';

  /** @param found the partner's answer, in a few words */
  constructor(baseUrl: string, found: string, options?: ErrorOptions) {
    super(`The partner ${baseUrl} is not that of a demo (${found}).`, options);
  }
}

/** The baseline takes longer than one of the demo's size should. */
export class BaselineLateError extends OpsError {
  readonly code = 'baseline-late';
  readonly retryHelps = true;
  readonly exitCode = exitCodes.failed;
  readonly whatToDo = 'Look at npm run ops -- status, and run it again.';

  constructor(minutes: number) {
    super(`The baseline was not completed within ${minutes} minutes.`);
  }
}
