import type { LocalDoor } from '../console/index.ts';

/** What the console shows of this instance beside the deployment. All of it is in memory only. */
export class Seen implements LocalDoor {
  #steps: string[] = [];
  #changed: () => void = () => {};

  /** What is being done before everything is ready. */
  get progress(): readonly string[] {
    return this.#steps;
  }

  /** @param changed told whenever there is something else to be seen */
  tell(changed: () => void): void {
    this.#changed = changed;
  }

  begin(step: string): void {
    this.#steps = [...this.#steps, step];
    this.changed();
  }

  ready(): void {
    this.#steps = [];
    this.changed();
  }

  /** Whoever looks on must not end what is looked at. */
  changed(): void {
    try {
      this.#changed();
    } catch {
      // An open page that cannot be told is behind by one look.
    }
  }
}
