import { Readable, Writable } from 'node:stream';
import * as z from 'zod';
import { definitions } from '../../lambda/commands/contract.ts';
import { NotConfirmedError } from '../errors.ts';
import { failureIn, failureOf } from '../failing.ts';
import type { OpsHost } from '../host.ts';
import type { OpsCommand } from '../ops-command.ts';
import { failureLines } from '../render/failure.ts';
import { Clients } from '../target/access.ts';
import { selectIntegration, type TargetOptions } from '../target/target.ts';
import { ChangesNotAllowedError, RestLeftError } from './errors.ts';
import { ToolSession, ToolTerminal } from './tool-session.ts';
import type { Tool } from './tools.ts';

/** The deployment that the tools work on, and their rights. */
export interface Caller {
  readonly host: OpsHost;
  readonly options: TargetOptions & { readonly integration?: string | undefined };
  readonly allowsChanges: boolean;
}

/** The answer to an assistant: the text for people, and the JSON for machines. */
export interface ToolAnswer {
  readonly text: string;
  readonly structured: Record<string, unknown>;
  readonly isError?: true;
}

interface Call {
  readonly stopping: AbortController;
  /** Reports the progress; absent: the assistant has not asked for it. */
  readonly tell?: ((line: string) => void) | undefined;
}

const givenSchema = z.looseObject({
  integration: z.string().optional(),
  confirm: z.boolean().default(false),
});

const confirmation =
  'Nothing was changed. Show this to the person whom you assist; once they agree, call the tool again with `confirm: true`.';

/** Carries out a command as the command line does. Without `confirm`, it stops before the first change. */
export async function callTool(
  { command }: Tool,
  input: unknown,
  { host, options, allowsChanges }: Caller,
  { stopping, tell }: Call,
): Promise<ToolAnswer> {
  const { integration = options.integration, confirm, ...given } = givenSchema.parse(input);
  let question: string | undefined;
  const silent: OpsHost = {
    ...host,
    stopping,
    streams: nobody(),
    environment: { ...host.environment, FORCE_COLOR: undefined },
    confirm: async (asked) => {
      question = asked;
      return false;
    },
    beforeChange: ({ command: name, ...settings }) => {
      if (!allowsChanges) throw new ChangesNotAllowedError(name);
      if (confirm) return;
      question ??= asking(name, settings);
      throw new NotConfirmedError();
    },
  };
  const terminal = new ToolTerminal(silent, tell);
  using clients = new Clients();
  const session = new ToolSession(
    { ...options, integration, json: false },
    { host: silent, terminal, clients },
  );
  try {
    await command.run(session, settingsOf(command, given, confirm));
    const result = session.answered?.result;
    if (isPreviewed(command, given, confirm)) return preview(session, integration, { result });
    return answer({ ok: true, result }, told(session));
  } catch (thrown) {
    if (question !== undefined) return preview(session, integration, { question });
    const error = failureIn(thrown);
    const { message, whatToDo, result, next } = error;
    // The work until now, with the input of the call that goes on.
    if (error.cause instanceof RestLeftError)
      return answer({ ok: true, result, next }, [...told(session), '', `${message} ${whatToDo}`]);
    const lines = [...told(session), ...failureLines(terminal.view('errors'), error)];
    return { ...answer(failureOf(error), lines), isError: true };
  }
}

/** The preview of a command that has a dry run is that dry run. */
function settingsOf(
  command: OpsCommand,
  given: Readonly<Record<string, unknown>>,
  confirm: boolean,
) {
  return {
    ...given,
    ...('yes' in command.input.shape && isChanging(command, given) && { yes: confirm }),
    ...(isPreviewed(command, given, confirm) && { dryRun: true }),
  };
}

function isChanging({ changes }: OpsCommand, given: Readonly<Record<string, unknown>>): boolean {
  if (changes === undefined || given.dryRun === true) return false;
  return changes === 'always' || changes.some((setting) => given[setting] === true);
}

const isPreviewed = (
  command: OpsCommand,
  given: Readonly<Record<string, unknown>>,
  confirm: boolean,
) => 'dryRun' in command.input.shape && isChanging(command, given) && !confirm;

function asking(
  name: keyof typeof definitions,
  { by: _, ...settings }: Readonly<Record<string, unknown>>,
) {
  return `${name}: ${definitions[name].does} With ${JSON.stringify(settings)}.`;
}

const answer = (structured: ToolAnswer['structured'], lines: readonly string[]): ToolAnswer => ({
  text: lines.join('\n'),
  structured,
});

/** The effects, and where they would be. */
async function preview(
  session: ToolSession,
  asked: string | undefined,
  shown: { readonly question: string } | { readonly result: unknown },
): Promise<ToolAnswer> {
  const target = await session.target();
  const { name: deployment } = target;
  const { name: integration } = selectIntegration(target, asked);
  const structured = { ok: true, confirmed: false, deployment, integration, ...shown };
  return answer(structured, [
    `For ${integration} of the deployment ${deployment}:`,
    ...told(session),
    ...('question' in shown ? [shown.question] : []),
    ...['', confirmation],
  ]);
}

const told = ({ notes, answered }: ToolSession) => [...notes, ...(answered?.lines ?? [])];

/** Standard output speaks the protocol, so a command must not write to it. */
const nobody = () => ({
  input: Readable.from([]),
  output: new Writable({ write: (_chunk, _encoding, done) => done() }),
  errors: new Writable({ write: (_chunk, _encoding, done) => done() }),
});
