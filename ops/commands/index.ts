import type { OpsCommand } from '../ops-command.ts';
import { replay } from './replay.ts';
import { testEvent } from './test-event.ts';
import { tick } from './tick.ts';

/** In the order of the help. */
export const commands: readonly OpsCommand[] = [tick, replay, testEvent];
