import { opsError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';

/** An assistant asks for a change, and may only look. */
export class ChangesNotAllowedError extends opsError('changes-not-allowed', exitCodes.refused) {
  readonly whatToDo =
    'Nothing was changed. Give the command on the command line, or have this server started with --allow-changes.';

  constructor(command: string) {
    super(`${command} changes something, and this server only looks.`);
  }
}

/** There is more work than an assistant waits for. */
export class RestLeftError extends opsError('rest-left', exitCodes.fine, 'retry-helps') {
  readonly whatToDo =
    'Call the tool again with the `next` of this answer (and `confirm: true`, if it was confirmed), until an answer has none. A tool without `next` needs a smaller question.';

  constructor() {
    super('This is a part: the rest is left for another call.');
  }
}
