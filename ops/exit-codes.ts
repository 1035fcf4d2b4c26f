/** What the process ends with: documented in docs/command-line.md, stable for scripts. */
export const exitCodes = {
  /** Done. */
  fine: 0,
  /** Done, and something is wrong: `check` failed, days are unproven, a baseline that is followed was paused, and where `status` is asked to say so. */
  problem: 1,
  /** The command line itself: unknown command or option, a value that is none, nobody to confirm. */
  usage: 2,
  /** There is no such stack, AWS profile, local instance, integration or assessment. */
  notFound: 3,
  /** AWS or the partner refuses: credentials or permission. Or as things stand, or whoever was asked said no. */
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
    'done, and something is wrong: a check failed, a day is unproven, the followed baseline is paused, a message of listen --count was not delivered; with status --exit-code also whatever needs somebody',
  ],
  [exitCodes.usage, 'the command line is wrong, or nobody is there to confirm'],
  [exitCodes.notFound, 'no such stack, AWS profile, local instance, integration or assessment'],
  [
    exitCodes.refused,
    'refused: by AWS or the partner (credentials, permission), as things stand (paused, another total), or not confirmed',
  ],
  [exitCodes.failed, 'AWS, the partner or the function failed, or the output could not be written'],
  [exitCodes.interrupted, 'interrupted (Ctrl-C)'],
];

/** Problems that are a refusal: of the partner's, of the credentials or of the integration behind them. */
const refusals: ReadonlySet<string> = new Set([
  'credentials-refused',
  'unsupported-grant',
  'token-refused-twice',
  'not-provisioned',
  // Of the function's, as things stand.
  'paused',
  'total-changed',
]);

/** By the code of a problem: of the function's answer, or of the partner client. */
export function exitCodeOf(problem: string): ExitCode {
  if (problem === 'command-invalid') return exitCodes.usage;
  return refusals.has(problem) ? exitCodes.refused : exitCodes.failed;
}
