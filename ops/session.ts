import type { Clock } from '../lambda/clock.ts';
import type { CommandName, ResultOf } from '../lambda/commands/contract.ts';
import { type CommandPlace, commandLine } from '../lambda/condition-table.ts';
import { NotConfirmedError, RetoldError, UsageError } from './errors.ts';
import type { Followed } from './following.ts';
import { type OpsHost, placeOf } from './host.ts';
import { answeredWithinMs, Progress } from './progress.ts';
import type { View } from './render/layout.ts';
import { jsonLine, marked, shellQuoted } from './render/text.ts';
import type { Clients } from './target/access.ts';
import { OperateClient } from './target/operate-client.ts';
import {
  type DeployedIntegration,
  findTarget,
  selectIntegration,
  selectIntegrations,
  type Target,
  type TargetOptions,
} from './target/target.ts';
import type { Terminal } from './terminal.ts';

export interface SessionOptions extends TargetOptions {
  readonly integration?: string | undefined;
  readonly json: boolean;
}

interface SessionParts {
  readonly host: OpsHost;
  readonly terminal: Terminal;
  readonly clients: Clients;
}

/** One command: its deployment, and the output of its answer. */
export class Session {
  readonly terminal: Terminal;
  readonly stop: AbortSignal;
  readonly clock: Clock;
  readonly json: boolean;
  readonly #options: SessionOptions;
  readonly #host: OpsHost;
  readonly #clients: Clients;
  #target: Promise<Target> | undefined;

  constructor(options: SessionOptions, { host, terminal, clients }: SessionParts) {
    this.terminal = terminal;
    this.stop = host.stopping.signal;
    this.clock = host.clock;
    this.json = options.json;
    this.#options = options;
    this.#host = host;
    this.#clients = clients;
  }

  /** The options and the host, for the console and the MCP server: they give commands of their own. */
  get origin(): { readonly options: Omit<SessionOptions, 'json'>; readonly host: OpsHost } {
    const { json: _, ...options } = this.#options;
    return { options, host: this.#host };
  }

  target(): Promise<Target> {
    this.#target ??= this.#findTarget();
    return this.#target;
  }

  async #findTarget(): Promise<Target> {
    using _ = this.progress('the stack');
    return await findTarget(this.#options, this.#host, this.#clients);
  }

  /** For the one integration that was selected. */
  async operateClient(): Promise<OperateClient> {
    const target = await this.target();
    const { integration } = this.#options;
    return this.#clientOf(target, selectIntegration(target, integration));
  }

  /**
   * For the integration that was named, or for all.
   *
   * @param isPatient whether to wait for a function that AWS does not start at once
   */
  async operateClients({ isPatient = true } = {}): Promise<readonly OperateClient[]> {
    const target = await this.target();
    return selectIntegrations(target, this.#options.integration).map((integration) =>
      this.#clientOf(target, integration, isPatient),
    );
  }

  #clientOf({ access }: Target, integration: DeployedIntegration, isPatient = true): OperateClient {
    return new OperateClient(access, integration, {
      stop: this.stop,
      clock: this.clock,
      beforeChange: this.#host.beforeChange,
      ...(isPatient && {
        onNotStarted: ({ message }) =>
          this.note(() => [`${message} The command is given again for up to a minute.`]),
      }),
    });
  }

  /** The caller, for the record of the command. */
  async by(): Promise<string> {
    return (await this.target()).caller();
  }

  /** Asks the function once, and shows the progress if that takes long. */
  async ask<Name extends CommandName>(
    client: OperateClient,
    name: Name,
    settings: Readonly<Record<string, unknown>>,
  ): Promise<ResultOf<Name>> {
    using _ = this.progress(name, answeredWithinMs);
    const { result, failure } = await client.attempt(name, settings);
    if (failure !== undefined) throw failure;
    return result;
  }

  /** @param withinMs how long a call takes at most, if the wait is for calls */
  progress(label: string, withinMs?: number): Progress {
    return new Progress(this, label, withinMs);
  }

  /** Prints the answer: as JSON for machines, or as lines for people. */
  answer(result: unknown, lines: (view: View) => readonly string[]): void {
    this.terminal.print(this.json ? [jsonLine({ ok: true, result })] : lines(this.terminal.view()));
  }

  /**
   * Prints the answer of a command that may take several calls.
   *
   * @throws RetoldError if the command has stopped early
   */
  conclude<Result>(
    { result, stopped }: Followed<Result>,
    lines: (view: View, result: Result) => readonly string[],
  ): void {
    if (stopped === undefined) {
      this.answer(result, (view) => lines(view, result));
      return;
    }
    if (result !== undefined) this.note((view) => lines(view, result));
    const { cause, next } = stopped;
    throw new RetoldError(
      cause.message,
      { ...cause, result, next, goOn: this.commandLine(next) },
      cause,
    );
  }

  /** The command line that resumes the work. */
  commandLine(next: { readonly command: string }): string {
    return `${this.toType(next.command)} --next ${shellQuoted(JSON.stringify(next))}`;
  }

  /** The command line of another command for the same target. */
  toType(command: string): string {
    return commandLine({ ops: command }, this.place());
  }

  /** The place of later commands: the same program, deployment, account and region. */
  place(integration = this.#options.integration): CommandPlace {
    return placeOf(this.#options, this.#host, integration);
  }

  /** @param isMarked whether to begin with a byte order mark. Default: if standard output is a file */
  csv(lines: readonly string[], isMarked = this.terminal.writesFile): readonly string[] {
    return isMarked ? marked(lines) : lines;
  }

  /** Prints lines beside the answer; not with --json. */
  note(lines: (view: View) => readonly string[]): void {
    if (!this.json) this.terminal.note(lines(this.terminal.view('errors')));
  }

  /**
   * Returns only if the user agrees.
   *
   * @throws UsageError if nobody can be asked, NotConfirmedError
   */
  async confirm(question: string, isAgreed: boolean): Promise<void> {
    if (isAgreed) return;
    const confirm = this.#host.confirm ?? ((asked: string) => this.#askedOnTerminal(asked));
    if (!(await confirm(question))) throw new NotConfirmedError();
  }

  async #askedOnTerminal(question: string): Promise<boolean> {
    if (!this.terminal.isAttended)
      throw new UsageError(
        'Nobody is there to confirm.',
        'Give --yes, or run it on a terminal. Nothing was changed.',
      );
    const answer = await this.terminal.ask(`${question} [y/N] `, this.stop);
    return /^y(es)?$/i.test(answer.trim());
  }
}
