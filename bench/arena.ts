import { ManualClock } from '../test/scaffold/clock.ts';
import { type AwsReady, type Child, type PartnerReady, partnerReady, startChild } from './child.ts';
import { type Consumption, Meter } from './meter.ts';
import { controlSandbox, requestsTo } from './sandbox-control.ts';
import { now } from './settings.ts';
import { type Heard, Subscriber } from './subscriber.ts';
import { createTicker, type Ticker } from './ticker.ts';
import { carefulPoller, startPollers, usualPoller } from './usual-pollers.ts';

export const contenders = ['ours', 'usual poller', 'careful poller'] as const;
export type Contender = (typeof contenders)[number];

/** The costs and the results of one contender's run. */
export interface Measured extends Consumption {
  /** Requests to the API by the sandbox's log, without those for tokens. */
  readonly requests: number;
  readonly ms: number;
  /** Events that its subscriber received. */
  readonly heard: readonly Heard[];
}

export interface WorldWanted {
  readonly records: number;
  readonly until: string;
  readonly further?: { readonly records: number; readonly last: string };
  readonly unstableTies?: boolean;
}

/** One world and its three contenders. Each contender has its own topic, subscriber and tables. */
export class Arena {
  readonly name: string;
  readonly clock = new ManualClock(now);
  readonly partner: PartnerReady;
  readonly ticker: Ticker;
  readonly #child: Child<PartnerReady>;
  readonly #meters: Readonly<Record<Contender, Meter>>;
  readonly #subscribers: Readonly<Record<Contender, Subscriber>>;

  private constructor(
    name: string,
    child: Child<PartnerReady>,
    aws: AwsReady,
    meters: Readonly<Record<Contender, Meter>>,
    subscribers: Readonly<Record<Contender, Subscriber>>,
    quiet: Subscriber,
  ) {
    this.name = name;
    this.partner = child.ready;
    this.#child = child;
    this.#meters = meters;
    this.#subscribers = subscribers;
    const { dynamodb, sns } = meters.ours;
    const topics = { events: subscribers.ours.topic, alerts: quiet.topic, operations: quiet.topic };
    this.topics = topics;
    this.ticker = createTicker({
      partner: child.ready,
      world: name,
      clock: this.clock,
      dynamodb,
      sns,
      table: aws.table,
      topics,
    });
  }

  readonly topics: {
    readonly events: string;
    readonly alerts: string;
    readonly operations: string;
  };

  static async open(name: string, wanted: WorldWanted, aws: AwsReady): Promise<Arena> {
    const child = await startChild('partner-process.ts', wanted, partnerReady);
    const meters = {
      ours: new Meter(aws),
      'usual poller': new Meter(aws),
      'careful poller': new Meter(aws),
    };
    const subscriber = (what: string) =>
      Subscriber.to(`${name}-${what}`, meters.ours.sns, aws.messaging);
    return new Arena(
      name,
      child,
      aws,
      meters,
      {
        ours: await subscriber('ours'),
        'usual poller': await subscriber('usual'),
        'careful poller': await subscriber('careful'),
      },
      await subscriber('people'),
    );
  }

  /** One run of one contender, and everything that it consumed. */
  async measure(contender: Contender, run = () => this.run(contender)): Promise<Measured> {
    this.#meters[contender].take();
    await this.control('DELETE', '/requests');
    const began = performance.now();
    await run();
    const ms = performance.now() - began;
    const requests = await this.requests();
    const consumption = this.#meters[contender].take();
    return { ...consumption, requests, ms, heard: await this.#subscribers[contender].heard() };
  }

  async run(contender: Contender): Promise<void> {
    if (contender === 'ours') await this.ticker.tick();
    else if (contender === 'usual poller') await usualPoller(this.#pollerParts(contender));
    else await carefulPoller(this.#pollerParts(contender));
  }

  /** The first run of the two other contenders, which announces nothing. */
  startPollers(): Promise<void> {
    return startPollers(this.#pollerParts('careful poller'));
  }

  /** Requests to the API since the log was emptied. */
  requests(): Promise<number> {
    return requestsTo(this.partner);
  }

  control(method: string, path: string, body?: object): Promise<unknown> {
    return controlSandbox(this.partner, method, path, body);
  }

  async close(): Promise<void> {
    await this.ticker.close();
    await this.#child.stop();
    for (const meter of Object.values(this.#meters)) meter.close();
    for (const subscriber of Object.values(this.#subscribers)) subscriber.close();
  }

  #pollerParts(contender: 'usual poller' | 'careful poller') {
    const { dynamodb, sns } = this.#meters[contender];
    return {
      client: this.ticker.client,
      dynamodb,
      sns,
      topic: this.#subscribers[contender].topic,
      world: this.name,
      clock: this.clock,
    };
  }
}
