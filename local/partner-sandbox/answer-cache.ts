/** Earlier answers, as a cache between the server and its clients would repeat them. */
export class AnswerCache<Query, Answer> {
  readonly #answers = new Map<Query, { readonly at: number; readonly answer: Answer }>();

  /**
   * @param since older answers are dropped
   * @param make called if there is no answer
   */
  get(query: Query, since: number, now: number, make: () => Answer): Answer {
    for (const [known, { at }] of this.#answers) if (at <= since) this.#answers.delete(known);
    const { answer } = this.#answers.get(query) ?? { answer: make() };
    if (!this.#answers.has(query)) this.#answers.set(query, { at: now, answer });
    return answer;
  }
}
