import { type Shown, type Twins, twinsAfter, twinsIn } from '../detection/twins.ts';

/** The ids that the partner has shown twice, after each read of a tick. The state's end keeps them. */
export class SeenTwins {
  readonly #salt: string;
  #now: Twins;

  constructor(salt: string, known: Twins = []) {
    this.#salt = salt;
    this.#now = known;
  }

  get now(): Twins {
    return this.#now;
  }

  /** @param isProven whether the read has shown every row of a day; @returns the ids whose rows say nothing about content */
  of(shown: Shown, isProven: (day: string) => boolean = () => false): ReadonlySet<number> {
    this.#now = twinsAfter(this.#now, shown, isProven, this.#salt);
    return new Set([...this.#now.map(({ id }) => id), ...twinsIn(shown, this.#salt)]);
  }
}
