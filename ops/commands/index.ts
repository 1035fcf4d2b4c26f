import type { OpsCommand } from '../ops-command.ts';
import { acceptTotal } from './accept-total.ts';
import { baseline } from './baseline.ts';
import { check } from './check.ts';
import { console } from './console.ts';
import { credentialsSet } from './credentials-set.ts';
import { discard, release } from './deciding.ts';
import { events } from './events.ts';
import { explain } from './explain.ts';
import { holds } from './holds.ts';
import { listen } from './listen.ts';
import { mcp } from './mcp.ts';
import { pause, resume } from './pause.ts';
import { prove } from './prove.ts';
import { replay } from './replay.ts';
import { status } from './status.ts';
import { testEvent } from './test-event.ts';
import { tick } from './tick.ts';
import { watch } from './watch.ts';

/** In the order of the help. */
export const commands: readonly OpsCommand[] = [
  status,
  check,
  watch,
  console,
  mcp,
  explain,
  events,
  prove,
  tick,
  pause,
  resume,
  holds,
  release,
  discard,
  replay,
  testEvent,
  listen,
  baseline,
  acceptTotal,
  credentialsSet,
];
