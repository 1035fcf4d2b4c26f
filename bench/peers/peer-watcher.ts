import { createHash } from 'node:crypto';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { PartnerReady } from '../child.ts';
import { today } from '../settings.ts';
import type { Heard } from '../subscriber.ts';
import { folderOf, type Peer, peerVariables, type VirtualEnvironment } from './environments.ts';
import { type MeasuredProcess, startMeasured } from './measured-process.ts';
import { type Known, learned, type PeerRow } from './told.ts';
import type { Enter, Poll, Watcher } from './watcher.ts';

/** `look-back`: from two weeks before the newest day; `full`: everything in each poll. */
export type Mode = 'look-back' | 'full';

/** One page of 5,000 records holds so many days. A shorter look-back would lose more, with as many requests. */
const lookBackDays = 14;

type Starts = Map<string, Started>;

interface Started {
  readonly folder: string;
  readonly known: Known;
  readonly state: unknown;
}

const catalogOf = (mode: Mode) => ({
  streams: [
    {
      stream: {
        name: 'assessments',
        json_schema: {},
        supported_sync_modes: ['full_refresh', 'incremental'],
        source_defined_primary_key: [['id']],
      },
      sync_mode: mode === 'full' ? 'full_refresh' : 'incremental',
      destination_sync_mode: mode === 'full' ? 'overwrite' : 'append_dedup',
    },
  ],
});

const digestOf = (record: unknown) =>
  createHash('sha256').update(JSON.stringify(record)).digest('base64');
const record = z.looseObject({ id: z.int() });

interface Message {
  readonly row?: PeerRow;
  readonly state?: unknown;
  /** The rows so far are all rows, so a missing row is gone. */
  readonly isAll?: boolean;
}

/** A line of a peer's output: the row of a record, or the point where the next sync goes on. */
const messages: Readonly<Record<Peer, z.ZodType<Message>>> = {
  dlt: z.object({ id: z.int(), digest: z.string() }).transform((row) => ({ row })),
  'airbyte-cdk': z.union([
    z
      .object({ type: z.literal('RECORD'), record: z.object({ data: record }) })
      .transform(({ record: { data } }) => ({ row: { id: data.id, digest: digestOf(data) } })),
    z
      .object({ type: z.literal('STATE'), state: z.unknown() })
      .transform(({ state }) => ({ state: [state] })),
    z.object({ type: z.enum(['LOG', 'TRACE']) }).transform(() => ({})),
  ]),
  singer: z.union([
    z.object({ type: z.literal('RECORD'), record }).transform((message) => ({
      row: { id: message.record.id, digest: digestOf(message.record) },
    })),
    z
      .object({ type: z.literal('STATE'), value: z.unknown() })
      .transform(({ value }) => ({ state: value })),
    z.object({ type: z.literal('ACTIVATE_VERSION') }).transform(() => ({ isAll: true })),
    z.object({ type: z.literal('SCHEMA') }).transform(() => ({})),
  ]),
};

interface Options {
  readonly peer: Peer;
  readonly mode: Mode;
  readonly environment: VirtualEnvironment;
  readonly partner: PartnerReady;
  /** The folder of this world. */
  readonly folder: string;
}

/** A peer in one configuration; `folder` holds its state. */
export function peerContender(
  options: Pick<Options, 'peer' | 'mode' | 'environment' | 'folder'>,
): Enter {
  const starts: Starts = new Map();
  let worlds = 0;
  return async (partner, history) => {
    worlds += 1;
    const folder = join(options.folder, `${options.peer}-${options.mode}-${worlds}`);
    await mkdir(folder);
    return new PeerWatcher({ ...options, partner, folder }, history, starts);
  };
}

class PeerWatcher implements Watcher {
  readonly #options: Options;
  readonly #history: string;
  /** The first sync of a history runs once; then its state is copied. */
  readonly #starts: Starts;
  #known: Known = new Map();
  #state: unknown;
  #heard: Heard[] = [];

  constructor(options: Options, history: string, starts: Starts) {
    this.#options = options;
    this.#history = history;
    this.#starts = starts;
  }

  async start(): Promise<void> {
    const { folder } = this.#options;
    const kept = `${folder}-kept`;
    const started = this.#starts.get(this.#history);
    if (started === undefined) {
      const end = await (await this.poll()).ended;
      if (typeof end === 'string')
        throw new Error(`The first sync of ${this.#options.peer} ${end}.`);
      await cp(folder, kept, { recursive: true });
      const known = new Map(this.#known);
      this.#starts.set(this.#history, { folder: kept, known, state: this.#state });
    } else {
      await cp(started.folder, folder, { recursive: true });
      this.#known = new Map(started.known);
      this.#state = started.state;
    }
    await this.heard();
  }

  async poll(): Promise<Poll> {
    const { environment, folder } = this.#options;
    const command = await this.#command();
    const { python } = environment;
    const child = startMeasured({ python, folder, command, variables: peerVariables });
    return { ended: this.#follow(child), kill: child.kill };
  }

  /**
   * Rows of a killed sync count if the target takes each row separately. dlt prints its whole table, even if it read
   * only a part.
   */
  async #follow({ lines, ended }: MeasuredProcess) {
    const { peer, mode } = this.#options;
    const rows: PeerRow[] = [];
    let state = this.#state;
    let isAll = peer === 'dlt' || (mode === 'full' && peer !== 'singer');
    for await (const line of lines) {
      const message = messageOf(peer, line);
      if (message?.row !== undefined) rows.push(message.row);
      if (message?.state !== undefined) state = message.state;
      if (message?.isAll) isAll = true;
    }
    const end = await ended;
    if ((mode === 'full' || peer === 'dlt') && typeof end === 'string') return end;
    this.#heard.push(...learned(this.#known, rows, isAll));
    this.#state = state;
    return end;
  }

  async #command(): Promise<string[]> {
    const { peer, mode, environment, partner, folder } = this.#options;
    const { url, credentials } = partner;
    const config = {
      ...{ url, ...credentials, lookBackDays, today, mode },
      emit_activate_version_messages: mode === 'full',
    };
    if (peer === 'dlt')
      return [
        environment.python,
        join(folderOf(peer), 'sync.py'),
        JSON.stringify({ ...config, folder }),
      ];
    const file = async (name: string, content: unknown) => {
      const path = join(folder, `${name}.json`);
      await writeFile(path, JSON.stringify(content));
      return path;
    };
    const state =
      mode === 'full' || this.#state === undefined
        ? []
        : ['--state', await file('state', this.#state)];
    const common = ['--config', await file('config', config), ...state];
    if (peer === 'singer') return [environment.python, join(folderOf(peer), 'tap.py'), ...common];
    const manifest = ['--manifest-path', join(folderOf(peer), 'manifest.yaml')];
    const catalog = ['--catalog', await file('catalog', catalogOf(mode))];
    const program = join(environment.bin, 'source-declarative-manifest');
    return [environment.python, program, 'read', ...manifest, ...catalog, ...common];
  }

  async isBehind(): Promise<boolean> {
    return false;
  }

  async heard(): Promise<readonly Heard[]> {
    const heard = this.#heard;
    this.#heard = [];
    return heard;
  }

  async known(ids: readonly number[]): Promise<ReadonlySet<number>> {
    return new Set(ids.filter((id) => this.#known.has(id)));
  }

  async waiting(): Promise<number> {
    return 0;
  }

  async close(): Promise<void> {}
}

/** `undefined` for an incomplete line, which a kill leaves. */
function messageOf(peer: Peer, line: string) {
  let content: unknown;
  try {
    content = JSON.parse(line);
  } catch {
    return undefined;
  }
  return messages[peer].parse(content);
}
