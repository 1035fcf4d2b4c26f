/** Judges of a packed package: commands, with their arguments around the tarball. */
const judges = [
  { name: 'publint', before: ['run'], after: ['--strict'] },
  {
    name: 'attw',
    before: [],
    // Only with `import`: the construct.
    after: ['--profile', 'node16', '--no-definitely-typed', '--exclude-entrypoints', 'cdk'],
  },
] as const;

/**
 * Asks each judge, so that one run tells all.
 *
 * @param approves runs a command, which tells its reasons by itself
 * @returns the judges that refuse the tarball
 */
export function refusalsOf(
  tarball: string,
  approves: (command: string, ...given: readonly string[]) => boolean,
): string[] {
  return judges.flatMap(({ name, before, after }) =>
    approves(name, ...before, tarball, ...after) ? [] : name,
  );
}
