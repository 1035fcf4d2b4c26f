import type { SandboxAnswer } from './rules.ts';

/** Earlier answers, as a cache between the server and its clients would repeat them. */
export class AnswerCache {
  readonly #answers = new Map<string, { readonly at: number; readonly answer: SandboxAnswer }>();

  /**
   * @param since older answers are dropped
   * @param make called if there is no answer
   */
  get(url: string, since: number, now: number, make: () => SandboxAnswer): SandboxAnswer {
    for (const [known, { at }] of this.#answers) if (at <= since) this.#answers.delete(known);
    const { answer } = this.#answers.get(url) ?? { answer: make() };
    if (!this.#answers.has(url)) this.#answers.set(url, { at: now, answer });
    return answer;
  }
}
