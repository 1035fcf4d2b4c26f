import * as z from 'zod';
import { run } from '../../ops/run.ts';
import { type Ended, RunningProgram, type RunOptions } from '../support/running.ts';

/** The command line in this process. */
export class Running extends RunningProgram {
  constructor(args: string, options?: RunOptions) {
    super(run, args.split(' ').filter(Boolean), options);
  }
}

type Variables = Readonly<Record<string, string>>;
type Given = Readonly<{ input?: string; env?: Variables }>;

const answerSchema = z.looseObject({
  ok: z.boolean(),
  result: z.unknown().optional(),
  next: z.unknown().optional(),
  problem: z.looseObject({ code: z.string() }).optional(),
});

/** A person on call, with the program in this process. */
export abstract class ProgramRunner {
  /** The name of the deployed stack. */
  abstract get stack(): string;
  /** The parts that the program takes from outside. @param env variables of the environment beside its own */
  abstract outside(env: Variables): RunOptions;

  /** Runs the program for the deployed stack. */
  run(args: string, given?: Given): Promise<Ended> {
    return this.runAnywhere(`${args} --stack ${this.stack}`, given);
  }

  runAnywhere(args: string, { input = '', env = {} }: Given = {}): Promise<Ended> {
    const program = new Running(args, this.outside(env));
    program.input.end(input);
    return program.ended;
  }

  /** Starts the program, for actions before its end. Its standard input stays open. */
  start(args: string, options: RunOptions = {}): Running {
    return new Running(`${args} --stack ${this.stack}`, { ...this.outside({}), ...options });
  }

  /** Runs the program for its JSON. */
  async json(args: string) {
    const { stdout, exitCode } = await this.run(`${args} --json`);
    return { exitCode, ...answerSchema.parse(JSON.parse(stdout)) };
  }
}
