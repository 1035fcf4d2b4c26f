import { setTimeout } from 'node:timers/promises';
import type { Heard } from '../subscriber.ts';
import type { Usage } from './measured-process.ts';
import type { Poll, Watcher } from './watcher.ts';
import type { PeerWorld } from './world.ts';

/** One contender in one case: its requests, its costs, and the news of a consumer. */
export class Trial {
  readonly world: PeerWorld;
  readonly watcher: Watcher;
  readonly usages: Usage[] = [];
  readonly heard: Heard[] = [];
  requests = 0;
  failed = 0;

  constructor(world: PeerWorld, watcher: Watcher) {
    this.world = world;
    this.watcher = watcher;
  }

  /** Runs a poll, so many minutes after the previous one. */
  async poll(afterMinutes: number): Promise<void> {
    await this.world.control('DELETE', '/requests');
    await this.#done(await this.watcher.poll(afterMinutes));
  }

  /** The duration of a poll after its first request, in milliseconds. */
  async lengthOfPoll(afterMinutes: number): Promise<number> {
    await this.world.control('DELETE', '/requests');
    const poll = await this.watcher.poll(afterMinutes);
    await this.#firstRequest(poll);
    const began = performance.now();
    await this.#done(poll);
    return performance.now() - began;
  }

  /** @returns whether the poll was still running when it was killed, so long after its first request */
  async killedPoll(afterMinutes: number, ms: number): Promise<boolean> {
    await this.world.control('DELETE', '/requests');
    const poll = await this.watcher.poll(afterMinutes);
    await this.#firstRequest(poll);
    await setTimeout(ms);
    const wasAtWork = poll.kill();
    await this.#done(poll);
    return wasAtWork;
  }

  async #firstRequest({ ended }: Poll): Promise<void> {
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    while (!isOver && (await this.world.requests()) === 0) await setTimeout(2);
  }

  async #done({ ended }: Poll): Promise<void> {
    const end = await ended;
    if (end === 'failed') this.failed += 1;
    else if (end !== 'killed') this.usages.push(end);
    this.requests += await this.world.requests();
    this.heard.push(...(await this.watcher.heard()));
  }
}
