import { once } from 'node:events';
import * as z from 'zod';
import { commands } from '../commands/index.ts';
import { InterruptedError } from '../errors.ts';
import { programName, version } from '../program.ts';
import { type Caller, callTool, type ToolAnswer } from './call.ts';
import { fitting } from './fitting.ts';
import {
  type CallToolResult,
  McpServer,
  type ServerContext,
  StdioServerTransport,
  serveStdio,
} from './library.ts';
import { type Tool, toolsOf } from './tools.ts';

const instructions = (allowsChanges: boolean) =>
  [
    'certification-notifier watches a partner for new, changed and withdrawn certifications and announces each to subscribers.',
    'To see whether anything is wrong: status, then check. To see why a certification was not announced: explain with its id. To see whether days are complete: prove.',
    "Days are in the partner's time zone. Answers give advice as commands for people, and hold no personal data.",
    allowsChanges
      ? 'A tool that changes something first answers with a preview: have the person agree to it before you confirm.'
      : 'You can only look. For a change, give the person the command that the answer names.',
  ].join('\n');

/** Serves the protocol on standard input and output, until the input ends or a signal stops the program. */
export async function serveMcp(caller: Caller): Promise<void> {
  const { streams, stopping } = caller.host;
  const { input, output } = streams;
  const calls = new Calls(caller);
  const served = serveStdio(() => calls.server(), {
    transport: new StdioServerTransport(input, output),
  });
  await Promise.race([once(input, 'end'), once(input, 'close'), aborted(stopping.signal)]);
  await calls.end();
  await served.close();
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** The calls of one connection, one after the other: the function of an integration answers one at a time. */
class Calls {
  readonly #caller: Caller;
  readonly #ending = new AbortController();
  #last: Promise<unknown> = Promise.resolve();

  constructor(caller: Caller) {
    this.#caller = caller;
    const { signal } = caller.host.stopping;
    signal.addEventListener('abort', () => this.#ending.abort(signal.reason), { once: true });
  }

  server(): McpServer {
    const { options, allowsChanges } = this.#caller;
    const server = new McpServer(
      { name: programName, title: 'Certification notifier', version: version() },
      { instructions: instructions(allowsChanges) },
    );
    const allowed = { changes: allowsChanges, integration: options.integration === undefined };
    for (const tool of toolsOf(commands, allowed)) {
      const { name, description, annotations } = tool;
      const inputSchema = described(tool);
      server.registerTool(name, { description, inputSchema, annotations }, (given, context) =>
        this.#inTurn(context, (stopping) =>
          callTool(tool, given, this.#caller, { stopping, tell: progressOf(context) }),
        ),
      );
    }
    return server;
  }

  /** Stops the running command between two calls of the function, and waits for its end. */
  async end(): Promise<void> {
    this.#ending.abort(new InterruptedError());
    await this.#last;
  }

  #inTurn(
    { mcpReq: { signal } }: ServerContext,
    call: (stopping: AbortController) => Promise<ToolAnswer>,
  ): Promise<CallToolResult> {
    const turn = this.#last.then(async () => {
      const stopping = new AbortController();
      const either = AbortSignal.any([signal, this.#ending.signal]);
      const stop = () => stopping.abort(new InterruptedError());
      if (either.aborted) stop();
      either.addEventListener('abort', stop, { once: true });
      return resultOf(await call(stopping));
    });
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/** The SDK asks the schema itself for its JSON Schema, and it cannot tell of the parts that are of `zod/mini`. */
function described({ input }: Pick<Tool, 'input'>) {
  const toJson = (io: 'input' | 'output') => () => z.toJSONSchema(input, { io });
  const jsonSchema = { input: toJson('input'), output: toJson('output') };
  return { '~standard': { ...input['~standard'], jsonSchema } };
}

/** Sends the progress, if the assistant has asked for it. */
function progressOf({ mcpReq }: ServerContext): ((line: string) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  let last = '';
  return (message) => {
    // The same line comes several times a second; only another line is progress.
    if (message === last) return;
    last = message;
    progress += 1;
    const params = { progressToken, progress, message };
    void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}

function resultOf(told: ToolAnswer): CallToolResult {
  const { text, structured, isError } = fitting(told);
  return {
    content: [{ type: 'text', text }],
    structuredContent: structured,
    ...(isError && { isError }),
  };
}
