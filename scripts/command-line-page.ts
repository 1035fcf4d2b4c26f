import type { Command } from 'commander';
import { commands } from '../ops/commands/index.ts';
import { exitCodeMeanings } from '../ops/exit-codes.ts';
import { buildProgram } from '../ops/program.ts';

const path = 'docs/command-line.md';

const intro = `# The command line

Made by \`npm run generate\` from the command line's own help; not to be edited.

\`npx certification-notifier <command>\` tells how the notifier is doing, and steers it. In a checkout,
\`npm run ops -- <command>\` does the same (\`npm run --silent ops -- <command> --json\` for a program).
The package needs Node ≥ 22.19, and says so on an older one. A checkout brings its own Node.

\`--stack NAME\` means a deployment in AWS, found with the usual credentials, profile and region;
\`NOTIFIER_STACK\` saves typing it. \`--local\` means what \`npm start\` runs on this machine. Where a
deployment watches several integrations, \`--integration NAME\` says which; \`status\` and \`check\` take
all of them.

- People get tables, dates in their own time zone, and colours on a terminal (\`NO_COLOR\` switches them
  off). On a terminal, what takes longer than two seconds shows a bar and how long it will take: by the
  pace so far, or at most.
- \`--json\` gives programs one line on standard output: \`{"ok": true, "result": …}\`, or
  \`{"ok": false, "problem": {"code", "fault", "message", "retryHelps", "whatToDo"}}\` with the \`result\` of what was
  done before, and \`next\` for \`--next\` where it can go on. A command line that is wrong is such a problem,
  too (\`usage\`). [lambda/operations/commands](../lambda/operations/commands) has the shape of each
  result; \`status\` and \`check\` give a list, one for each integration; \`holds\`, \`release\` and \`discard\`
  that match nothing say how many wait \`altogether\`.
- Nothing shows personal data. What each command does inside AWS is in [commands.md](commands.md).
- Each command that changes something is recorded, with who gave it (the ARN of the caller; locally the
  user of the machine), when, and what came of it: \`status --history\`. Given twice, it does the thing once; but each
  \`test-event\` is an event of its own.
- \`release\`, \`discard\`, \`accept-total\` and \`baseline --restart\` ask first; \`--yes\` answers for a
  script, and without it and without a terminal nothing is done.
- What is too much for one call of the function goes on by itself until it is done. After Ctrl-C or a
  failure half-way, the command line that goes on from there is printed.
- What AWS does not start, because the account runs too much at once, has done nothing: it is given
  again for up to a minute, which is told after two seconds. \`watch\` looks again anyway.
- Ctrl-C ends the command line at once, not a call that has reached AWS: that goes on to its end, within a
  minute. What is printed says which it was: that nothing was changed, or that a call goes on and where
  it shows what comes of it. Before a question is answered, and while something is only counted, nothing
  is changed. Through npm or npx the exit code after it is 130, also where the program's own is 0 (\`watch\`):
  npm ends by the signal itself.

## What it takes

| command | permissions |
|---|---|
| all | \`cloudformation:DescribeStacks\` on the stack, \`lambda:InvokeFunction\` on the operate functions |
| those that change something | also \`sts:GetCallerIdentity\`, which nobody has to allow |
`;

/** docs/command-line.md, from the help of the program. */
export function commandLinePage(): ReadonlyMap<string, string> {
  const program = buildProgram(async () => {});
  const codes = exitCodeMeanings.map(([code, meaning]) => `| ${code} | ${meaning} |`);
  const sections = [
    intro + permissions(),
    `## Exit codes\n\n| code | meaning |\n|---|---|\n${codes.join('\n')}\n`,
    `## For every command\n\n${block(helpOf(program).split('\nExit codes:')[0] ?? '')}`,
    ...leaves(program).map(([name, command]) => `## ${name}\n\n${block(helpOf(command))}`),
  ];
  return new Map([[path, sections.join('\n')]]);
}

/** What commands take beside that, as they say themselves. */
function permissions(): string {
  const needing = Map.groupBy(
    commands.filter((command) => command.permissions !== undefined),
    (command) => command.permissions,
  );
  return [...needing]
    .map(
      ([needed, of]) =>
        `| ${of.map(({ usage }) => `\`${usage}\``).join(', ')} | also ${needed} |\n`,
    )
    .join('');
}

function leaves(parent: Command, prefix = ''): [name: string, command: Command][] {
  return parent.commands.flatMap((command) => {
    const name = `${prefix}${command.name()}`;
    return command.commands.length > 0 ? leaves(command, `${name} `) : [[name, command]];
  });
}

/** Without the options that every command has. */
function helpOf(command: Command): string {
  let help = '';
  command.configureHelp({ showGlobalOptions: false, helpWidth: 100 });
  command.configureOutput({ writeOut: (text) => (help += text), getOutHasColors: () => false });
  command.outputHelp();
  return help;
}

const block = (text: string) => `\`\`\`\n${text.trim()}\n\`\`\`\n`;
