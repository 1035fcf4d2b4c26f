import type { Temporal } from 'temporal-polyfill';
import type { LastEvent, LatestPage, OpsLedger } from '../../lambda/commands/ops-ledger.ts';
import type { CommandOutcome, CommandRecord } from '../../lambda/decisions/command-record.ts';
import type { Pause, State } from '../../lambda/decisions/state.ts';
import type { Life, Waits } from '../../lambda/ports/ledger.ts';
import { type Item, lifeOf, type MemoryLedger } from './memory-ledger.ts';

const commandsKept = 100;

type Asked = Parameters<OpsLedger['latest']>;

/** The ops' queries over a ledger in memory. */
export class MemoryOpsLedger implements OpsLedger {
  readonly #ledger: MemoryLedger;
  #commands: CommandRecord[] = [];
  /** Certifications of one page of `latest`. */
  readonly #listedTogether: number;

  constructor(ledger: MemoryLedger, listedTogether = 100) {
    this.#ledger = ledger;
    this.#listedTogether = listedTogether;
  }

  async pause(pause: Pause, call: string): Promise<boolean> {
    return this.#ledger.steer(isOpenTo(call, false), { paused: true, pause, steeredBy: call });
  }

  async resume(call: string): Promise<boolean> {
    const changes = { paused: false, pause: undefined, steeredBy: call };
    return this.#ledger.steer(isOpenTo(call, true), changes);
  }

  async waiting(): Promise<Readonly<Record<Waits, number>>> {
    const at = (place: Waits) => this.#ledger.filed(place).length;
    const [pending, digest] = [at('pending'), at('digest')];
    return { pending, digest, held: at('held'), undeliverable: at('undeliverable') };
  }

  async story(id: number): Promise<Life | undefined> {
    const item = this.#ledger.items.get(id);
    return item && lifeOf(item);
  }

  async *latest(...[from, , isWanted]: Asked): AsyncGenerator<LatestPage> {
    yield* this.#latest(from, isWanted, (a, b) => b.at - a.at || b.id - a.id);
  }

  async *latestSince(...[from, , isWanted]: Asked): AsyncGenerator<LatestPage> {
    yield* this.#latest(from, isWanted, (a, b) => a.at - b.at || a.id - b.id);
  }

  /** Each page shows the ledger at the time of its request. */
  async *#latest(
    from: Temporal.Instant,
    isWanted: (last: LastEvent) => boolean,
    inOrder: (a: LastEvent, b: LastEvent) => number,
  ): AsyncGenerator<LatestPage> {
    let end: LastEvent | undefined;
    for (;;) {
      const rest = [...this.#ledger.items.values()]
        .flatMap(lastEventOf)
        .filter((last) => last.at >= from.epochMilliseconds && (!end || inOrder(end, last) < 0))
        .sort(inOrder);
      const page = rest.slice(0, this.#listedTogether);
      end = page.at(-1);
      if (end === undefined) return;
      const items = page.filter(isWanted).map(({ id }) => this.#ledger.items.get(id));
      const lives = items.flatMap((item) => (item === undefined ? [] : lifeOf(item)));
      yield { lives, unreadable: [], reached: end.at };
    }
  }

  async record(command: CommandRecord): Promise<void> {
    const others = this.#commands.filter(({ operation }) => operation !== command.operation);
    this.#commands = [...others, command]
      .sort((a, b) => (a.operation < b.operation ? 1 : -1))
      .slice(0, commandsKept);
  }

  async conclude(operation: string, outcome: CommandOutcome): Promise<void> {
    this.#commands = this.#commands.map((command) =>
      command.operation === operation ? { ...command, outcome } : command,
    );
  }

  async recorded(): Promise<readonly CommandRecord[]> {
    return this.#commands;
  }
}

function lastEventOf({ certification, history }: Item): LastEvent[] {
  const last = history.at(-1);
  if (last === undefined || last.kind === 'baseline') return [];
  const { id, revision } = certification;
  return [{ id, revision, at: Date.parse(last.at) }];
}

/** A repeated write of one call finds its own earlier write. */
const isOpenTo = (call: string, paused: boolean) => (state: State) =>
  state.paused === paused || state.steeredBy === call;
