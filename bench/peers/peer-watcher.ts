import { createHash } from 'node:crypto';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { PartnerReady } from '../child.ts';
import { today } from '../settings.ts';
import type { Heard } from '../subscriber.ts';
import { folderOf, type Peer, peerVariables, type VirtualEnvironment } from './environments.ts';
import { type Ended, type MeasuredProcess, startMeasured } from './measured-process.ts';
import { type Known, learned, type PeerRow } from './told.ts';
import type { Enter } from './watcher.ts';

/** `look-back`: from two weeks before the newest day; `full`: everything in each poll. */
export const modes = ['look-back', 'full'] as const;
export type Mode = (typeof modes)[number];

/** One page of 5,000 records holds so many days. A shorter look-back would lose more, with as many requests. */
const lookBackDays = 14;

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

/** A peer in one configuration; `parent` gets a folder for each world, with the peer's state. */
export function peerContender(
  peer: Peer,
  mode: Mode,
  environment: VirtualEnvironment,
  parent: string,
): Enter {
  /** The first sync of a history runs once; then its state is copied. */
  const starts = new Map<string, { folder: string; known: Known; state: unknown }>();
  let worlds = 0;
  return async (partner, history) => {
    worlds += 1;
    const folder = join(parent, `${peer}-${mode}-${worlds}`);
    await mkdir(folder);
    let known: Known = new Map();
    let state: unknown;
    let heard: Heard[] = [];

    const poll = async () => {
      const command = await commandOf(peer, mode, environment, partner, folder, state);
      const { python } = environment;
      const child = startMeasured({ python, folder, command, variables: peerVariables });
      return { ended: follow(child), kill: child.kill };
    };
    /**
     * Rows of a killed sync count if the target takes each row separately. dlt prints its whole table, even if it read
     * only a part.
     */
    const follow = async ({ lines, ended }: MeasuredProcess): Promise<Ended> => {
      const messages: Message[] = [];
      for await (const line of lines) messages.push(messageOf(peer, line));
      const end = await ended;
      if ((mode === 'full' || peer === 'dlt') && typeof end === 'string') return end;
      const isWhole = peer === 'dlt' || (mode === 'full' && peer !== 'singer');
      const isAll = isWhole || messages.some((message) => message.isAll);
      heard.push(
        ...learned(
          known,
          messages.flatMap(({ row }) => row ?? []),
          isAll,
        ),
      );
      state = messages.findLast((message) => message.state !== undefined)?.state ?? state;
      return end;
    };
    return {
      async start() {
        const started = starts.get(history);
        if (started === undefined) {
          const end = await (await poll()).ended;
          if (typeof end === 'string') throw new Error(`The first sync of ${peer} ${end}.`);
          const kept = `${folder}-kept`;
          await cp(folder, kept, { recursive: true });
          starts.set(history, { folder: kept, known: new Map(known), state });
        } else {
          await cp(started.folder, folder, { recursive: true });
          known = new Map(started.known);
          state = started.state;
        }
        heard = [];
      },
      poll,
      isBehind: async () => false,
      heard: async () => heard.splice(0),
      known: async (ids) => new Set(ids.filter((id) => known.has(id))),
      waiting: async () => 0,
      close: async () => {},
    };
  };
}

async function commandOf(
  peer: Peer,
  mode: Mode,
  environment: VirtualEnvironment,
  { url, credentials }: PartnerReady,
  folder: string,
  state: unknown,
): Promise<string[]> {
  const { python, bin } = environment;
  const config = {
    ...{ url, ...credentials, lookBackDays, today, mode },
    emit_activate_version_messages: mode === 'full',
  };
  const program = (name: string) => join(folderOf(peer), name);
  if (peer === 'dlt') return [python, program('sync.py'), JSON.stringify({ ...config, folder })];
  const file = async (name: string, content: unknown) => {
    const path = join(folder, `${name}.json`);
    await writeFile(path, JSON.stringify(content));
    return [`--${name}`, path];
  };
  const kept = mode === 'full' || state === undefined ? [] : await file('state', state);
  const common = [...(await file('config', config)), ...kept];
  if (peer === 'singer') return [python, program('tap.py'), ...common];
  const manifest = ['--manifest-path', program('manifest.yaml')];
  const catalog = await file('catalog', catalogOf(mode));
  const reader = join(bin, 'source-declarative-manifest');
  return [python, reader, 'read', ...manifest, ...catalog, ...common];
}

/** An incomplete line, which a kill leaves, says nothing. */
function messageOf(peer: Peer, line: string): Message {
  let content: unknown;
  try {
    content = JSON.parse(line);
  } catch {
    return {};
  }
  return messages[peer].parse(content);
}
