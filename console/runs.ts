import { InterruptedError } from '../ops/errors.ts';
import type { Door } from './door.ts';
import { pathOf } from './layout.ts';
import type { Changed } from './live.ts';

/** Of those that have ended, the ones that began first are forgotten. */
const runsKept = 50;
/** Characters of what one has told: of more, the newest, which say how it has ended. */
const toldKept = 200_000;
/** After that, nobody is going to answer: it is taken for a no. */
const answeredWithinMs = 600_000;

/** The command line's program, run for somebody at the console, as long as this process remembers it. */
export interface Run {
  readonly id: string;
  readonly integration: string;
  /** Its command line, without where it is given. */
  readonly argv: readonly string[];
  readonly startedAt: string;
  /** What it has told so far. */
  readonly told: string;
  /** What it asks, while it waits for the answer. */
  readonly question?: string | undefined;
  /** Absent: it has not ended. */
  readonly exitCode?: number;
}

/** Its page. What it tells several times a second concerns no other: each asks the deployment when it looks again. */
export const runPath = ({ integration, id }: Pick<Run, 'integration' | 'id'>): string =>
  pathOf(integration, `runs/${id}`);

/** What somebody has given. */
interface Given extends Pick<Run, 'integration' | 'argv'> {
  /** Standard input: it is not kept. */
  readonly input: string;
}

export interface RunsOptions {
  /** Told of the page of a run whenever that has got on, and of all pages once it has ended. */
  readonly changed: Changed;
  /** Aborts as Ctrl-C does: a run that waits for an answer must not keep the process. */
  readonly ending: AbortSignal;
}

type Changing = { -readonly [Name in keyof Run]: Run[Name] } & {
  answer?: ((isAgreed: boolean) => void) | undefined;
  readonly stopping: AbortController;
};

/**
 * Commands that were given at the console. Each is one run of the program, which waits for its answer as it does at
 * a terminal: what is carried out is what was shown.
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
   * Begins one, unless it has begun: a form that is sent twice means one run.
   *
   * @param id of the form
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

  /** @returns whether it waited for one */
  answer(id: string, isAgreed: boolean): boolean {
    const waiting = this.#runs.get(id)?.answer;
    waiting?.(isAgreed);
    return waiting !== undefined;
  }

  /** As Ctrl-C does: between two calls. */
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

const leftOut = '… What came before is left out here: the command line tells all of it.';

/** A line that the next one takes the place of is not kept. */
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
