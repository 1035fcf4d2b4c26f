import type * as z from 'zod/mini';
import * as commands from './command.ts';
import * as results from './result.ts';

export {
  certificateYears,
  fitsOneCertificate,
  idsAtOnce,
  mostOpenHours,
  yearsAtOnce,
} from './command.ts';

/**
 * Every command that the operate function carries out: what it is sent, what it answers, and whether
 * it changes anything, which is then recorded. What both sides of an invocation import.
 */
export const contract = {
  status: { command: commands.statusCommand, result: results.statusResult, changes: false },
  explain: { command: commands.explainCommand, result: results.explainResult, changes: false },
  prove: { command: commands.proveCommand, result: results.proveResult, changes: true },
  tick: { command: commands.tickCommand, result: results.tickResult, changes: true },
  pause: { command: commands.pauseCommand, result: results.pauseResult, changes: true },
  resume: { command: commands.resumeCommand, result: results.pauseResult, changes: true },
  holds: { command: commands.holdsCommand, result: results.holdsResult, changes: false },
  release: { command: commands.releaseCommand, result: results.releaseResult, changes: true },
  discard: { command: commands.discardCommand, result: results.discardResult, changes: true },
  baseline: { command: commands.baselineCommand, result: results.baselineResult, changes: false },
  'restart-baseline': {
    command: commands.restartBaselineCommand,
    result: results.restartBaselineResult,
    changes: true,
  },
  'accept-total': {
    command: commands.acceptTotalCommand,
    result: results.acceptTotalResult,
    changes: true,
  },
  check: { command: commands.checkCommand, result: results.checkResult, changes: false },
  'credentials-stored': {
    command: commands.credentialsStoredCommand,
    result: results.credentialsStoredResult,
    changes: true,
  },
  'test-event': {
    command: commands.testEventCommand,
    result: results.testEventResult,
    changes: true,
  },
  replay: { command: commands.replayCommand, result: results.replayResult, changes: true },
} as const satisfies Record<
  commands.CommandName,
  { command: z.ZodMiniType; result: z.ZodMiniType; changes: boolean }
>;

/** Whether it changes anything, and is recorded: a proof or a replay may only look. */
export function isChanging(command: commands.Command): boolean {
  if (command.command === 'prove') return command.now;
  if (command.command === 'replay') return !command.dryRun;
  return contract[command.command].changes;
}

export type ResultOf<Name extends commands.CommandName> = z.output<
  (typeof contract)[Name]['result']
>;
