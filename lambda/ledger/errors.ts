import { errorOf } from '../errors.ts';

/** DynamoDB could not be asked or did not answer, after the SDK's own retries. */
export class LedgerUnavailableError extends errorOf('ledger-unavailable', 'aws', 'retry-helps') {
  readonly whatToDo =
    "Nothing, if the next tick succeeds. Otherwise check the table, its throttling and the function's role.";

  constructor(operation: string, options: ErrorOptions) {
    const { name = 'Error' } = options.cause instanceof Error ? options.cause : {};
    // Such as ThrottlingException, or TimeoutError.
    const reason = name === 'Error' ? '' : ` (${name})`;
    super(`The ledger did not carry out ${operation}${reason}.`, options);
  }
}

/** Another one has the lease, or it has ended: nothing more is written under it. */
export class LeaseLostError extends errorOf('lease-lost', 'ops', 'retry-helps') {
  readonly whatToDo = 'Nothing: the next tick goes on.';

  constructor(options?: ErrorOptions) {
    super('The lease of the integration was lost before a write.', options);
  }
}

/** DynamoDB refuses a write as it is, mostly because its item would exceed 400 KB. */
export class LedgerRefusedError extends errorOf('ledger-refused', 'record') {
  readonly whatToDo =
    'Release or discard held events of this certification, so that its item becomes smaller.';

  constructor(operation: string, options: ErrorOptions) {
    super(`The ledger refused ${operation}.`, options);
  }
}

/** An item of the ledger does not have the shape that this version writes. */
export class LedgerCorruptError extends errorOf('ledger-corrupt', 'record') {
  readonly whatToDo =
    'Check whether something else, or a newer version, has written the table. Restore the item from a point in time.';

  constructor(item: string, problems: readonly string[]) {
    super(`The ledger item ${item} is not as written: ${problems.join('; ')}.`);
  }
}
