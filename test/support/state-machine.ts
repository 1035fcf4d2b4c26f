import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions';
import type { LocalFunction } from '../../local/aws/index.ts';
import type { Json } from '../../local/aws/template.ts';

/** The request that a task state sends to Lambda, as the definition says. */
interface Invoke {
  readonly FunctionName: string;
  readonly Payload: { readonly [name: string]: Json };
}

export interface Execution {
  /** Running executions, including this one. */
  readonly running?: number;
  /** The function that carries out a payload: one of as many as are needed at once. */
  function(payload: Invoke['Payload']): Promise<Pick<LocalFunction, 'invoke'>>;
  /** Called when the function is free again. */
  done?(local: Pick<LocalFunction, 'invoke'>): void;
  /** The names of the states, as they are entered. */
  readonly entered?: string[];
}

const isInvoke = (input: unknown): input is Invoke =>
  typeof input === 'object' && input !== null && 'Payload' in input;

/**
 * Executes a synthesized definition with the functions of the embedded AWS, as Step Functions
 * would. It leaves out the pauses before retries and runs a Distributed Map as an inline one.
 *
 * @throws the error that the execution ends with; `cause` is that of the failed state
 */
export async function execute(definition: object, execution: Execution): Promise<unknown> {
  const invoke = async (input: unknown) => {
    if (!isInvoke(input)) throw new Error('the state does not invoke a function');
    const local = await execution.function(input.Payload);
    try {
      const result = await local.invoke(input.Payload);
      if (result.outcome === 'returned') return { Payload: result.payload };
      throw Object.assign(new Error(result.errorMessage), { name: result.errorType });
    } finally {
      execution.done?.(local);
    }
  };
  // The library's types know fewer fields than the library and AWS support.
  const machine = new StateMachine(definition as StateMachineDefinition, {
    validationOptions: { checkPaths: true, checkArn: true },
  });
  const { running = 1 } = execution;
  const Executions = () => ({ Executions: Array.from({ length: running }, () => ({})) });
  const Id = 'arn:aws:states:us-east-1:000000000000:stateMachine:one';
  const overrides = {
    taskResourceLocalHandlers: { Plan: invoke, Read: invoke, Complete: invoke, Executions },
    retryIntervalOverrides: { Plan: 0, Read: 0, Complete: 0 },
  };
  const run = machine.run({}, { context: { StateMachine: { Id } }, overrides });
  const result = run.result.catch((error: unknown) => error);
  for await (const event of run.eventLogs)
    if (event.type === 'StateEntered') execution.entered?.push(event.state.name);
  const ended = await result;
  if (ended instanceof Error) throw ended;
  return ended;
}
