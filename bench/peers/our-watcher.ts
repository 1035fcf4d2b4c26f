import { fileURLToPath } from 'node:url';
import { ManualClock } from '../../test/scaffold/clock.ts';
import { heapOptions } from '../as-deployed.ts';
import { settle } from '../cases.ts';
import type { AwsReady, PartnerReady } from '../child.ts';
import { Meter } from '../meter.ts';
import { now } from '../settings.ts';
import { Subscriber } from '../subscriber.ts';
import { createTicker, type Ticker } from '../ticker.ts';
import { startMeasured } from './measured-process.ts';
import type { Enter, Poll, Watcher } from './watcher.ts';

interface Options {
  readonly aws: AwsReady;
  /** The bundle of tick-process.ts, made like the function's. */
  readonly bundle: string;
  readonly python: string;
  readonly folder: string;
}

/** Our tick, in a new process for each poll, with embedded DynamoDB and SNS over HTTP. */
export function ourContender(options: Options): Enter {
  let worlds = 0;
  return async (partner) => {
    worlds += 1;
    const world = `peers-${worlds}`;
    const meter = new Meter(options.aws);
    const subscriber = (what: string) =>
      Subscriber.to(`${world}-${what}`, meter.sns, options.aws.messaging);
    return new OurWatcher(
      options,
      partner,
      world,
      meter,
      await subscriber('events'),
      await subscriber('people'),
    );
  };
}

class OurWatcher implements Watcher {
  readonly #options: Options;
  readonly #partner: PartnerReady;
  readonly #world: string;
  readonly #meter: Meter;
  readonly #subscriber: Subscriber;
  readonly #people: Subscriber;
  readonly #topics: {
    readonly events: string;
    readonly alerts: string;
    readonly operations: string;
  };
  readonly #clock = new ManualClock(now);
  /** For steps that are not measured, and for reading the ledger. */
  readonly #ticker: Ticker;

  constructor(
    options: Options,
    partner: PartnerReady,
    world: string,
    meter: Meter,
    subscriber: Subscriber,
    people: Subscriber,
  ) {
    this.#options = options;
    this.#partner = partner;
    this.#world = world;
    this.#meter = meter;
    this.#subscriber = subscriber;
    this.#people = people;
    this.#topics = { events: subscriber.topic, alerts: people.topic, operations: people.topic };
    const { dynamodb, sns } = meter;
    const { table } = options.aws;
    const topics = this.#topics;
    this.#ticker = createTicker({
      partner,
      world,
      clock: this.#clock,
      dynamodb,
      sns,
      table,
      topics,
    });
  }

  async start(): Promise<void> {
    const ticker = this.#ticker;
    const run = async () => void (await ticker.tick());
    await settle({ run, ticker, clock: this.#clock });
    await this.heard();
  }

  async poll(afterMinutes: number): Promise<Poll> {
    this.#clock.advance({ minutes: afterMinutes });
    const { aws, bundle, python, folder } = this.#options;
    const input = {
      ...{ partner: this.#partner, aws, world: this.#world, topics: this.#topics },
      now: this.#clock.now().toString(),
    };
    const command = [
      process.execPath,
      ...heapOptions,
      fileURLToPath(bundle),
      JSON.stringify(input),
    ];
    const { lines, ended, kill } = startMeasured({ python, folder, command, variables: {} });
    return { ended: this.#follow(lines, ended), kill };
  }

  async #follow<Usage>(lines: AsyncIterable<string>, ended: Promise<Usage>): Promise<Usage> {
    for await (const warning of lines) console.error(`warning in ${this.#world}: ${warning}`);
    return ended;
  }

  async isBehind(): Promise<boolean> {
    return (await this.#ticker.ledger.state()).baseline.status !== 'completed';
  }

  heard() {
    return this.#subscriber.heard();
  }

  async known(ids: readonly number[]): Promise<ReadonlySet<number>> {
    return new Set((await this.#ticker.ledger.known(ids)).keys());
  }

  async waiting(): Promise<number> {
    const { ledger } = this.#ticker;
    const { missing } = await ledger.state();
    const withdrawals = missing?.tooManySince === undefined ? 0 : missing.total;
    return withdrawals + (await ledger.countWaitingForOps('held'));
  }

  async close(): Promise<void> {
    await this.#ticker.close();
    this.#subscriber.close();
    this.#people.close();
    this.#meter.close();
  }
}
