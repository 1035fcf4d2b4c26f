import { type Fault, NotifierError } from './errors.ts';

/**
 * What Lambda is shown of a failed tick or task. The runtime logs what a handler throws with its message,
 * stack and causes; those of a foreign error can quote data, so only its name goes on.
 */
export class Failure extends NotifierError {
  readonly code: string;
  readonly fault: Fault;
  readonly retryHelps: boolean;
  readonly whatToDo: string;

  constructor(what: 'tick' | 'task', failure: unknown) {
    const known = failure instanceof NotifierError ? failure : undefined;
    const name = failure instanceof Error ? failure.name : typeof failure;
    // Of a task, Step Functions show nothing else; of a tick, the log has code and advice beside it.
    const ofTask = known && `${known.code}: ${known.message} ${known.whatToDo}`;
    super((what === 'task' ? ofTask : known?.message) ?? `The ${what} failed: ${name}.`);
    this.code = known?.code ?? 'unexpected';
    this.fault = known?.fault ?? 'ops';
    this.retryHelps = known?.retryHelps ?? true;
    this.whatToDo =
      known?.whatToDo ??
      `See "${what} failed" in the log; if it happens again, it is a defect: report it.`;
  }
}
