import {
  type Returned,
  type Shown,
  type Twins,
  twinsAfter,
  twinsIn,
  withReturned,
} from '../decisions/twins.ts';

/** The ids that the partner has shown twice, after each read of a tick. The state's end keeps them. */
export class SeenTwins {
  readonly #salt: string;
  #now: Twins;
  #ended: ReadonlySet<number> = new Set();

  constructor(salt: string, known: Twins = []) {
    this.#salt = salt;
    this.#now = known;
  }

  get now(): Twins {
    return this.#now;
  }

  /**
   * @param isProven whether the read has shown every row of a day
   * @returns the ids whose rows say nothing about content
   */
  of(shown: Shown, isProven: (day: string) => boolean = () => false): ReadonlySet<number> {
    const before = this.#now;
    this.#now = twinsAfter(before, shown, isProven, this.#salt);
    const left = new Set(this.#now.map(({ id }) => id));
    this.#ended = new Set(before.map(({ id }) => id).filter((id) => !left.has(id)));
    return new Set([...left, ...twinsIn(shown, this.#salt)]);
  }

  /** Whether the last read has shown that an id is there once. */
  hasEnded(id: number): boolean {
    return this.#ended.has(id);
  }

  add(returned: readonly Returned[]): void {
    this.#now = withReturned(this.#now, returned);
  }
}
