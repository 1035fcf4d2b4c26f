import { fork } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod';

/** A program of this folder in its own process, which has reported that it is ready. */
export interface Child<Ready> {
  readonly ready: Ready;
  stop(): Promise<void>;
}

/** @param input becomes the program's only argument, as JSON */
export async function startChild<Ready>(
  program: string,
  input: unknown,
  ready: z.ZodType<Ready>,
  nodeOptions: readonly string[] = [],
): Promise<Child<Ready>> {
  const child = fork(new URL(program, import.meta.url), [JSON.stringify(input)], {
    execArgv: ['--no-warnings', ...nodeOptions],
  });
  const ended = once(child, 'exit');
  const end = () => child.kill();
  process.once('exit', end);
  const [first]: unknown[] = await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => {
      throw new Error(`${program} ended with ${String(code)} before it was ready`);
    }),
  ]);
  return {
    ready: ready.parse(first),
    async stop() {
      process.off('exit', end);
      child.kill();
      await ended;
    },
  };
}

/** The input from the parent. */
export function input<Input>(schema: z.ZodType<Input>): Input {
  return schema.parse(JSON.parse(process.argv[2] ?? '{}'));
}

/** Sends a message to the parent, once. */
export function report(message: object): void {
  process.send?.(message);
}

/** For programs that serve: a parent that was killed cannot stop them. */
export function endWithParent(): void {
  process.once('disconnect', () => process.exit());
}

export const partnerReady = z.object({
  url: z.string(),
  credentials: z.object({ clientId: z.string(), clientSecret: z.string() }),
});
export type PartnerReady = z.output<typeof partnerReady>;

export const awsReady = z.object({
  dynamodb: z.string(),
  messaging: z.string(),
  table: z.string(),
});
export type AwsReady = z.output<typeof awsReady>;

/** A world and the place of its ledger, for programs that run ticks in it. */
export const tickerInput = z.object({
  partner: partnerReady,
  aws: awsReady,
  world: z.string(),
  topics: z.object({ events: z.string(), alerts: z.string(), operations: z.string() }),
  now: z.string(),
  /** Minutes between two ticks, as they are scheduled. */
  every: z.int().default(1),
});
