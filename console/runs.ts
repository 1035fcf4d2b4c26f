import { InterruptedError } from '../ops/errors.ts';
import type { Door } from './door.ts';
import { pathOf } from './layout.ts';
import type { Changed } from './live.ts';

/** Ended runs that are remembered; the oldest are forgotten first. */
const runsKept = 50;
/** Characters of output that are remembered. Beyond them the newest stay, which show how the run ended. */
const toldKept = 200_000;
/** A question without an answer after this time counts as denied. */
const answeredWithinMs = 600_000;

/** One run of the command line's program, as long as this process remembers it. */
export interface Run {
  readonly id: string;
  readonly integration: string;
  /** Its command line, without the deployment and the integration. */
  readonly argv: readonly string[];
  readonly startedAt: string;
  /** Its output so far. */
  readonly told: string;
  /** Its question, while it waits for the answer. */
  readonly question?: string | undefined;
  /** Absent: it is still running. */
  readonly exitCode?: number;
}

/**
 * The page of a run. Its progress, several times a second, concerns no other page: each of those would ask the
 * deployment.
 */
export const runPath = ({ integration, id }: Pick<Run, 'integration' | 'id'>): string =>
  pathOf(integration, `runs/${id}`);

/** A command as the user has given it. */
interface Given extends Pick<Run, 'integration' | 'argv'> {
  /** Standard input; a run does not store it. */
  readonly input: string;
}

export interface RunsOptions {
  /** Called with the page of a run when that has progressed, and without a page when it has ended. */
  readonly changed: Changed;
  /** Aborts as Ctrl-C does. A run that waits for an answer must not keep the process alive. */
  readonly ending: AbortSignal;
}

type Changing = { -readonly [Name in keyof Run]: Run[Name] } & {
  answer?: ((isAgreed: boolean) => void) | undefined;
  readonly stopping: AbortController;
};

/**
 * Commands that were given at the console. Each is one run of the program, which waits for an answer as it does at a
 * terminal. So the command that is carried out is the one that was shown.
 */
export class Runs {
  readonly #door: Door;
  readonly #changed: Changed;
  readonly #runs = new Map<string, Changing>();

  constructor(door: Door, { changed, ending }: RunsOptions) {
    this.#door = door;
    this.#changed = changed;
    const end = () => {
      for (const id of this.#runs.keys()) this.stop(id);
    };
    ending.addEventListener('abort', end, { once: true });
  }

  get(id: string): Run | undefined {
    return this.#runs.get(id);
  }

  /**
   * Begins a run, unless it has begun: a form that is sent twice means one run.
   *
   * @param id the form's id
   */
  start(id: string, { integration, argv, input }: Given): Run {
    const begun = this.#runs.get(id);
    if (begun !== undefined) return begun;
    const run: Changing = {
      id,
      integration,
      argv,
      startedAt: this.#door.clock.now().toString(),
      told: '',
      stopping: new AbortController(),
    };
    this.#runs.set(id, run);
    for (const [id, { exitCode }] of this.#runs)
      if (this.#runs.size > runsKept && exitCode !== undefined) this.#runs.delete(id);
    void this.#carryOut(run, input);
    return run;
  }

  /** @returns whether the run waited for an answer */
  answer(id: string, isAgreed: boolean): boolean {
    const waiting = this.#runs.get(id)?.answer;
    waiting?.(isAgreed);
    return waiting !== undefined;
  }

  /** Stops the run between two calls, as Ctrl-C does. */
  stop(id: string): void {
    const run = this.#runs.get(id);
    run?.answer?.(false);
    run?.stopping.abort(new InterruptedError());
  }

  async #carryOut(run: Changing, input: string): Promise<void> {
    const { argv, integration, stopping } = run;
    run.exitCode = await this.#door.carryOut(['--integration', integration, ...argv], {
      input,
      stopping,
      tell: (text) => {
        run.told = told(run.told, text);
        this.#changed(runPath(run));
      },
      confirm: (question) => this.#asked(run, question),
    });
    this.#changed();
  }

  async #asked(run: Changing, question: string): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<boolean>((resolve) => {
        run.question = question;
        run.answer = resolve;
        timer = setTimeout(() => resolve(false), answeredWithinMs);
        this.#changed(runPath(run));
      });
    } finally {
      clearTimeout(timer);
      run.question = undefined;
      run.answer = undefined;
    }
  }
}

const leftOut = '… Earlier output is left out here; the command line prints all of it.';

/** Appends output. A transient line is replaced by the next one. */
function told(before: string, text: string): string {
  const [first = '', ...later] = text.split('\r\u001B[2K');
  const all = later.reduce(
    (told, line) => told.slice(0, told.lastIndexOf('\n') + 1) + line,
    before + first,
  );
  if (all.length <= toldKept) return all;
  const kept = all.slice(-toldKept);
  return `${leftOut}\n${kept.slice(kept.indexOf('\n') + 1)}`;
}
