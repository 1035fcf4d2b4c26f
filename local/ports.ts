import { createServer } from 'node:net';
import { close, listenOnLoopback } from './aws/loopback-server.ts';
import { isSystemError, StartError } from './errors.ts';

/** The ports that people and consumers write down. 0: any free port. */
export interface Ports {
  readonly console: number;
  /** The sandbox of the first integration. */
  readonly partner: number;
  /** SNS and SQS. */
  readonly messaging: number;
  readonly dynamodb: number;
  readonly lambda: number;
}

export const firstPort = 4380;
/** The distance between two blocks of ports that are tried. */
const blockSize = 10;
/** The number of blocks that are tried before any free port is taken. */
const triedBlocks = 5;

const anyFree: Ports = { console: 0, partner: 0, messaging: 0, dynamodb: 0, lambda: 0 };

const blockFrom = (first: number): Ports => ({
  console: first,
  partner: first + 1,
  messaging: first + 2,
  dynamodb: first + 3,
  lambda: first + 4,
});

/**
 * The ports of an instance: the usual ones, or the same plus ten, twenty … if one of them is taken.
 *
 * @param asked the first of them; 0: any free ones; absent: the usual ones
 * @throws StartError when one of the chosen ports is taken
 */
export async function portsFor(asked?: number): Promise<Ports> {
  if (asked === 0) return anyFree;
  const usual = Array.from({ length: triedBlocks }, (_, tried) => firstPort + tried * blockSize);
  for (const first of asked === undefined ? usual : [asked]) {
    const block = blockFrom(first);
    const taken = await firstTaken(block);
    if (taken === undefined) return block;
    if (asked !== undefined)
      throw new StartError(
        `Port ${taken} is taken.`,
        `--port ${asked} needs ${asked} to ${block.lambda}. Choose another one, or 0 for any that are free.`,
      );
  }
  return anyFree;
}

async function firstTaken(block: Ports): Promise<number | undefined> {
  for (const port of Object.values(block)) if (await isTaken(port)) return port;
  return undefined;
}

async function isTaken(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await listenOnLoopback(server, port);
    await close(server);
    return false;
  } catch (error) {
    if (isSystemError(error, 'EADDRINUSE')) return true;
    throw error;
  }
}
