import { Temporal } from 'temporal-polyfill';
import type { NotifierError } from '../lambda/errors.ts';
import type { CommandName } from '../lambda/operations/command.ts';
import type { ResultOf } from '../lambda/operations/contract.ts';
import { NotConfirmedError, StoppedShortError, UsageError } from './errors.ts';
import type { Stopped } from './following.ts';
import { Progress } from './progress.ts';
import { failureLines } from './render/failure.ts';
import type { View } from './render/layout.ts';
import { shellQuoted } from './render/text.ts';
import { Operator, type SettingsOf } from './target/operator.ts';
import {
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

/** One command of somebody on duty: for whom, and how the answer is told. */
export class Session {
  readonly terminal: Terminal;
  readonly stop: AbortSignal;
  readonly json: boolean;
  readonly #options: SessionOptions;
  #target: Promise<Target> | undefined;

  constructor(terminal: Terminal, options: SessionOptions, stop: AbortSignal) {
    this.terminal = terminal;
    this.#options = options;
    this.json = options.json;
    this.stop = stop;
  }

  target(): Promise<Target> {
    this.#target ??= findTarget(this.#options, this.stop);
    return this.#target;
  }

  /** For the one integration that the command is about. */
  async operator(): Promise<Operator> {
    const target = await this.target();
    const { integration } = this.#options;
    return new Operator(target.access, selectIntegration(target, integration), this.stop);
  }

  /** For each that the command is about: all of them, unless one was named. */
  async operators(): Promise<readonly Operator[]> {
    const target = await this.target();
    return selectIntegrations(target, this.#options.integration).map(
      (integration) => new Operator(target.access, integration, this.stop),
    );
  }

  /** Who gives the command, for the record. */
  async by(): Promise<string> {
    return (await this.target()).caller();
  }

  /** One question to the function, with a sign of life when it takes long. */
  async ask<Name extends CommandName>(
    operator: Operator,
    name: Name,
    settings: SettingsOf<Name>,
  ): Promise<ResultOf<Name>> {
    using _ = this.progress(name);
    return await operator.ask(name, settings);
  }

  progress(label: string): Progress {
    return new Progress(this.terminal, label);
  }

  get view(): View {
    return {
      now: Temporal.Now.instant(),
      zone: Temporal.Now.timeZoneId(),
      paint: (tone, text) => this.terminal.paint(tone, text),
    };
  }

  /** The answer: for machines as it came, for people as lines. */
  answer(result: unknown, lines: (view: View) => readonly string[]): void {
    this.terminal.print(this.json ? [jsonLine({ ok: true, result })] : lines(this.view));
  }

  /**
   * The answer of what may take several calls.
   *
   * @throws StoppedShortError when it has not come to its end
   */
  conclude(result: unknown, lines: (view: View) => readonly string[], stopped?: Stopped): void {
    if (stopped === undefined) {
      this.answer(result, lines);
      return;
    }
    this.note(lines);
    throw new StoppedShortError(stopped.cause, this.commandLine(stopped.next), result);
  }

  failure(error: NotifierError & { readonly result?: unknown }): void {
    const { code, message, retryHelps, whatToDo, result } = error;
    const problem = { code, message, retryHelps, whatToDo };
    if (this.json)
      this.terminal.print([
        jsonLine({ ok: false, problem, ...(result !== undefined && { result }) }),
      ]);
    else this.terminal.note(failureLines(this.#errorView, error));
  }

  /** How to go on, as one types it. */
  commandLine(next: { readonly command: string }): string {
    const { stack, local, region, profile, integration } = this.#options;
    const options = Object.entries({ stack, region, profile, integration }).flatMap(
      ([name, value]) => (value === undefined ? [] : [`--${name} ${shellQuoted(value)}`]),
    );
    const target = [...(local ? ['--local'] : []), ...options].join(' ');
    return `${programName()} ${next.command} ${target} --next ${shellQuoted(JSON.stringify(next))}`;
  }

  /** Beside the answer; machines need no such thing. */
  note(lines: (view: View) => readonly string[]): void {
    if (!this.json) this.terminal.note(lines(this.#errorView));
  }

  /**
   * Goes on only if somebody agrees.
   *
   * @throws UsageError when nobody is there to be asked, NotConfirmedError
   */
  async confirm(question: string, isAgreed: boolean): Promise<void> {
    if (isAgreed) return;
    if (!this.terminal.isAttended)
      throw new UsageError(
        'Nobody is there to confirm.',
        'Give --yes, or run it on a terminal. Nothing was changed.',
      );
    const answer = await this.terminal.ask(`${question} [y/N] `, this.stop);
    if (!/^y(es)?$/i.test(answer.trim())) throw new NotConfirmedError();
  }

  get #errorView(): View {
    return { ...this.view, paint: (tone, text) => this.terminal.paint(tone, text, 'errors') };
  }
}

/** As this process was started. */
function programName(): string {
  return process.env.npm_lifecycle_event === 'ops'
    ? 'npm run ops --'
    : 'npx certification-notifier';
}

/** JSON on one line, in which nothing steers a terminal: the escapes say the same. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007F-\u009F\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
