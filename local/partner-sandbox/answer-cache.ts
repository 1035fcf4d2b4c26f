import type { Answer } from './rules.ts';

/** Answers of a while ago, as a cache between the server and its clients would give them again. */
export class AnswerCache {
  readonly #answers = new Map<string, { readonly at: number; readonly answer: Answer }>();

  /**
   * @param since answers made before are old
   * @param make called unless there is an answer that is not
   */
  get(url: string, since: number, now: number, make: () => Answer): Answer {
    for (const [known, { at }] of this.#answers) if (at <= since) this.#answers.delete(known);
    const { answer } = this.#answers.get(url) ?? { answer: make() };
    if (!this.#answers.has(url)) this.#answers.set(url, { at: now, answer });
    return answer;
  }
}
