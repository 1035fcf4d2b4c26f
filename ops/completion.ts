import type { Command } from 'commander';

export const shells = ['bash', 'zsh'] as const;
export type Shell = (typeof shells)[number];

const inConfig = (setting: string) =>
  `sed -n "s/.*[{, ]${setting}: *['\\"]\\([A-Za-z][A-Za-z0-9-]*\\)['\\"].*/\\1/p" notifier*config.ts 2>/dev/null`;
const profiles =
  "sed -n 's/^\\[\\(profile \\)\\{0,1\\}\\([^] ]*\\)\\]$/\\2/p' ~/.aws/config ~/.aws/credentials 2>/dev/null";

/**
 * Shell commands that print values for options. They read local files and send no request. Stacks and integrations come
 * from the configurations in the current folder.
 */
const printing: Readonly<Record<string, string>> = {
  '--stack': `{ echo "$NOTIFIER_STACK"; ${inConfig('stackName')}; }`,
  '--integration': inConfig('name'),
  '--profile': profiles,
};

/** A script for a shell that completes the program's commands and options. */
export function completionScript(shell: Shell, program: Command): string {
  const script = bash(program);
  if (shell === 'bash') return script;
  // zsh runs bash's completion scripts, once its own completion is loaded.
  return `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
autoload -Uz bashcompinit && bashcompinit
${script}`;
}

/** The options of a command, and the words that may stand behind it. */
const optionsOf = ({ options }: Command) => options.flatMap(({ long }) => long ?? []);
const wordsOf = (command: Command): string[] => [
  ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  ...optionsOf(command),
  ...command.commands.flatMap((one) => [one.name(), ...wordsOf(one)]),
];

/** The options of a command and of all below it, each with words for its value. */
const valuesOf = ({ options, commands }: Command): [option: string, words: string][] => [
  ...options.map(({ long = null, argChoices = [] }): [string, string] => {
    const print = printing[long ?? ''];
    return [long ?? '', print ? `$(${print} | ${harmless})` : argChoices.join(' ')];
  }),
  ...commands.flatMap(valuesOf),
];

function bash(program: Command): string {
  const name = program.name();
  const everywhere = optionsOf(program);
  const first = program.commands.map((command) => command.name());
  const line = (word: string, words: Iterable<string>) =>
    `    ${word}) words="${[...new Set(words)].join(' ')}" ;;`;
  const cases = program.commands.map((command) =>
    line(command.name(), [...wordsOf(command), ...everywhere]),
  );
  const values = valuesOf(program)
    .filter(([, words]) => words !== '')
    .map(([option, words]) => line(option, [words]));
  const identifier = `_${name.replaceAll('-', '_')}`;
  return `${identifier}() {
  local current=\${COMP_WORDS[COMP_CWORD]} command='' word words
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case $word in
      ${first.join('|')}) command=$word; break ;;
    esac
  done
  case $command in
${cases.join('\n')}
${line('*', [...first, ...everywhere])}
  esac
  case \${COMP_WORDS[COMP_CWORD - 1]} in
${[...new Set(values)].join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F ${identifier} ${name}
`;
}

/**
 * Drops all words that are not harmless: bash evaluates the words that it offers, such as `$(...)` in the name of a
 * profile.
 */
const harmless = "grep -x '[A-Za-z0-9_.@:+/-]*'";
