import type { Life } from './life.ts';

/** A part of a life, which may look at all others. */
export class Part {
  protected readonly life: Life;

  constructor(life: Life) {
    this.life = life;
  }
}
