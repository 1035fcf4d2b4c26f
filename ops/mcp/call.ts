import { Readable, Writable } from 'node:stream';
import * as z from 'zod';
import { definitions } from '../../lambda/operations/contract.ts';
import { NotConfirmedError } from '../errors.ts';
import { failureIn, failureOf } from '../failing.ts';
import type { Host } from '../host.ts';
import type { OpsCommand } from '../ops-command.ts';
import { failureLines } from '../render/failure.ts';
import { Clients } from '../target/access.ts';
import type { TargetOptions } from '../target/target.ts';
import { ChangesNotAllowedError } from './errors.ts';
import { ToolSession, ToolTerminal } from './tool-session.ts';
import { defaultsOf, type Tool } from './tools.ts';

/** For whom tools are called, and what they may do. */
export interface Caller {
  readonly host: Host;
  readonly options: TargetOptions & { readonly integration?: string | undefined };
  readonly allowsChanges: boolean;
}

/** What an assistant is told: as people are, and as machines are. */
export interface Told {
  readonly text: string;
  readonly structured: Record<string, unknown>;
  readonly isError?: true;
}

/** One call of a tool. */
interface Call {
  readonly stopping: AbortController;
  /** How far it is; absent: nobody wants to know. */
  readonly tell?: ((line: string) => void) | undefined;
}

const givenSchema = z.looseObject({
  integration: z.string().optional(),
  confirm: z.boolean().default(false),
});

const confirmation =
  'Nothing was changed. Show this to the person whom you assist; once they agree, give it again with `confirm: true`.';

/** Carries out a command as the command line does, up to its first change where nobody has agreed to that. */
export async function callTool(
  { command }: Tool,
  input: unknown,
  { host, options, allowsChanges }: Caller,
  { stopping, tell }: Call,
): Promise<Told> {
  const { integration = options.integration, confirm, ...given } = givenSchema.parse(input);
  let question: string | undefined;
  const silent: Host = {
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
    return answered(session, isPreviewed(command, given, confirm));
  } catch (thrown) {
    if (question !== undefined) return asked(session, question);
    const error = failureIn(thrown);
    const lines = [...told(session), ...failureLines(terminal.view('errors'), error)];
    return { text: lines.join('\n'), structured: failureOf(error), isError: true };
  }
}

/** A command that can only count is previewed by that. */
function settingsOf(
  command: OpsCommand,
  given: Readonly<Record<string, unknown>>,
  confirm: boolean,
) {
  const { shape } = command.settings;
  return {
    ...defaultsOf(command),
    ...given,
    ...('yes' in shape && isChanging(command, given) && { yes: confirm }),
    ...(isPreviewed(command, given, confirm) && { dryRun: true }),
  };
}

function isChanging({ changes }: OpsCommand, given: Readonly<Record<string, unknown>>): boolean {
  if (changes === undefined || given.dryRun === true) return false;
  return changes.with?.some((option) => given[option] === true) ?? true;
}

const isPreviewed = (
  command: OpsCommand,
  given: Readonly<Record<string, unknown>>,
  confirm: boolean,
) => 'dryRun' in command.settings.shape && isChanging(command, given) && !confirm;

function asking(
  name: keyof typeof definitions,
  { by: _, ...settings }: Readonly<Record<string, unknown>>,
) {
  return `${name}: ${definitions[name].does} With ${JSON.stringify(settings)}.`;
}

function answered(session: ToolSession, isPreview: boolean): Told {
  const { result } = session.answered ?? {};
  if (!isPreview) return { text: told(session).join('\n'), structured: { ok: true, result } };
  return {
    text: [...told(session), '', confirmation].join('\n'),
    structured: { ok: true, confirmed: false, result },
  };
}

function asked(session: ToolSession, question: string): Told {
  return {
    text: [...told(session), question, '', confirmation].join('\n'),
    structured: { ok: true, confirmed: false, question },
  };
}

const told = ({ notes, answered }: ToolSession) => [...notes, ...(answered?.lines ?? [])];

/** Standard output speaks the protocol; what a command tells is no part of it. */
const nobody = () => ({
  input: Readable.from([]),
  output: new Writable({ write: (_chunk, _encoding, done) => done() }),
  errors: new Writable({ write: (_chunk, _encoding, done) => done() }),
});
