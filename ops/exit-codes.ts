/** The exit codes of the process: stable for scripts, and documented in docs/command-line.md. */
export const exitCodes = {
  /** Done. */
  fine: 0,
  /** Done, but something is wrong. `exitCodeMeanings` lists the cases. */
  problem: 1,
  /** The command line is wrong: an unknown command or option, an invalid value, or nobody to confirm. */
  usage: 2,
  /** There is no such stack, AWS profile, local instance, integration or assessment. */
  notFound: 3,
  /**
   * AWS or the partner refuses the credentials or the permission, the present state forbids the command, or the user
   * said no.
   */
  refused: 4,
  /** AWS, the partner or the function failed; or the answer could not be written. */
  failed: 5,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const exitCodeMeanings: readonly (readonly [code: ExitCode, meaning: string])[] = [
  [exitCodes.fine, 'done'],
  [
    exitCodes.problem,
    'done, but something is wrong: a check failed, a day is unproven, the followed baseline is paused, an event of listen --count was not delivered; with status --exit-code also an integration that needs attention',
  ],
  [exitCodes.usage, 'the command line is wrong, or nobody is there to confirm'],
  [exitCodes.notFound, 'no such stack, AWS profile, local instance, integration or assessment'],
  [
    exitCodes.refused,
    'refused by AWS or the partner (credentials, permission) or by the present state (paused, another total), or not confirmed',
  ],
  [exitCodes.failed, 'AWS, the partner or the function failed, or the output could not be written'],
  [exitCodes.interrupted, 'interrupted (Ctrl-C)'],
];

/** Codes of problems that are refusals. First the partner's, of the credentials or of their integration. */
const refusals: ReadonlySet<string> = new Set([
  'credentials-refused',
  'unsupported-grant',
  'token-refused-twice',
  'not-provisioned',
  // Refusals of the function, by its present state.
  'paused',
  'total-changed',
]);

/** @param problem its code, from the function's answer or from the partner client */
export function exitCodeOf(problem: string): ExitCode {
  if (problem === 'command-invalid') return exitCodes.usage;
  return refusals.has(problem) ? exitCodes.refused : exitCodes.failed;
}
