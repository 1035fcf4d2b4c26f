import { Readable, Writable } from 'node:stream';
import type { CommandName, ResultOf } from '../lambda/commands/contract.ts';
import type { CommandPlace } from '../lambda/condition-table.ts';
import { NotFoundError } from '../ops/errors.ts';
import { type OpsHost, placeOf } from '../ops/host.ts';
import { Clients } from '../ops/target/access.ts';
import { NotSignedInError } from '../ops/target/errors.ts';
import type { OperateClient, SettingsOf } from '../ops/target/operate-client.ts';
import type { Target, TargetOptions } from '../ops/target/target.ts';
import { calendarZone } from '../ops/terminal.ts';
import type { Carrying, Door, LocalDoor } from './door.ts';

/** The pause between two looks at a deployment, while a page is open. */
const lookedAtEveryMs = 10_000;

interface Found {
  readonly clients: Clients;
  readonly target: Target;
  readonly operateClients: ReadonlyMap<string, OperateClient>;
}

/**
 * A deployment, or the instance of `npm start`, through the client of the command line. The client is loaded on first
 * use, so that the address of the console does not wait for it.
 */
export class DeploymentDoor implements Door, Disposable {
  readonly title: string;
  readonly zone: string;
  readonly local?: LocalDoor;
  readonly #options: TargetOptions;
  readonly #host: OpsHost;
  #found: Promise<Found> | undefined;

  constructor(
    options: TargetOptions & { readonly title: string },
    host: OpsHost,
    local?: LocalDoor,
  ) {
    this.title = options.title;
    this.zone = calendarZone(host.timeZone);
    this.#options = options;
    this.#host = host;
    if (local) this.local = local;
  }

  get clock() {
    return this.#host.clock;
  }

  place(integration?: string): CommandPlace {
    return placeOf(this.#options, this.#host, integration);
  }

  /** The deployment, as options of the command line. */
  #where(): readonly string[] {
    const { stack, local, region, profile } = this.#options;
    if (local) return ['--local'];
    const options = Object.entries({ stack, region, profile });
    return options.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  }

  async integrations(): Promise<readonly string[]> {
    const { operateClients } = await this.#find();
    return [...operateClients.keys()];
  }

  async ask<Name extends CommandName>(
    integration: string,
    name: Name,
    settings: SettingsOf<Name>,
  ): Promise<ResultOf<Name>> {
    const client = await this.#client(integration);
    return this.#answerOf(client.ask(name, settings));
  }

  async status(integration: string, settings: SettingsOf<'status'> = { partner: false }) {
    const { advisedStatus } = await import('../ops/advised-status.ts');
    const client = await this.#client(integration);
    const { access } = (await this.#find()).target;
    using clients = new Clients();
    const looking = { access: { ...access, clients }, stop: this.#host.stopping.signal };
    const place = this.place(integration);
    return await this.#answerOf(advisedStatus(client, settings, { ...looking, place }));
  }

  /** Runs the program of the command line, with streams in memory. */
  async carryOut(
    argv: readonly string[],
    { input, tell, confirm, stopping }: Carrying,
  ): Promise<number> {
    const { run } = await import('../ops/run.ts');
    const output = new Writable({
      write: (chunk, _encoding, done) => {
        tell(String(chunk));
        done();
      },
    });
    return run([...this.#where(), ...argv], {
      ...this.#host,
      stopping,
      // Standard error counts as a terminal, so progress is shown; standard input does not, so no question is put
      // there.
      streams: {
        input: Readable.from([input]),
        output,
        errors: Object.assign(output, { isTTY: true }),
      },
      // Colours, whether or not the terminal of this process has any.
      environment: { ...this.#host.environment, FORCE_COLOR: '1', NO_COLOR: undefined },
      confirm,
    });
  }

  follow(changed: () => void, signal: AbortSignal): void {
    void this.#watch(changed, signal);
  }

  async #watch(changed: () => void, signal: AbortSignal): Promise<void> {
    let before = '';
    while (!signal.aborted) {
      const now = await this.#glance();
      if (before !== '' && now !== before) changed();
      before = now;
      await this.clock.sleep(lookedAtEveryMs, signal).catch(() => {});
    }
  }

  /** The values that change with each tick. A failure to ask the deployment is a value, too. */
  async #glance(): Promise<string> {
    try {
      const all = await this.integrations();
      const looks = all.map(async (name) => {
        const { lastTick, reasons, waiting } = await this.ask(name, 'status', { partner: false });
        return { lastTick, reasons, waiting };
      });
      return JSON.stringify(await Promise.all(looks));
    } catch (error) {
      return `failed: ${error instanceof Error ? error.name : 'unknown'}`;
    }
  }

  /** Forgets the deployment if a call says that it is gone or refuses the sign-in: the next call looks for it again. */
  async #answerOf<Result>(call: Promise<Result>): Promise<Result> {
    try {
      return await call;
    } catch (error) {
      if (error instanceof NotFoundError || error instanceof NotSignedInError) this.#forget();
      throw error;
    }
  }

  async #client(integration: string): Promise<OperateClient> {
    const { operateClients } = await this.#find();
    const client = operateClients.get(integration);
    if (client !== undefined) return client;
    throw new NotFoundError(
      `The deployment ${this.title} watches no integration ${integration}.`,
      `It watches ${[...operateClients.keys()].join(', ')}.`,
    );
  }

  /**
   * The deployment, found once. A failed search is repeated by the next call. So is the search after `#forget`: the
   * deployment may be a new one, or the user may have signed in again.
   */
  #find(): Promise<Found> {
    this.#found ??= this.#look().catch((error) => {
      this.#found = undefined;
      throw error;
    });
    return this.#found;
  }

  async #look(): Promise<Found> {
    const [{ findTarget }, { OperateClient }] = await Promise.all([
      import('../ops/target/target.ts'),
      import('../ops/target/operate-client.ts'),
    ]);
    const clients = new Clients();
    const target = await findTarget(this.#options, this.#host, clients).catch((error) => {
      clients[Symbol.dispose]();
      throw error;
    });
    const { signal: stop } = this.#host.stopping;
    const operateClients = target.integrations.map((one): [string, OperateClient] => [
      one.name,
      new OperateClient(target.access, one, { stop, clock: this.clock, onNotStarted: () => {} }),
    ]);
    return { clients, target, operateClients: new Map(operateClients) };
  }

  #forget(): void {
    const found = this.#found;
    this.#found = undefined;
    // A failed search has reported its error, and has no clients.
    found?.then(({ clients }) => clients[Symbol.dispose]()).catch(() => {});
  }

  [Symbol.dispose](): void {
    this.#forget();
  }
}
