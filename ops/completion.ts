import type { Command } from 'commander';

export const shells = ['bash', 'zsh'] as const;
export type Shell = (typeof shells)[number];

interface OptionWords {
  readonly long: string;
  readonly values: readonly string[];
}

interface Words {
  /** `credentials set` */
  readonly path: string;
  readonly options: readonly OptionWords[];
  /** The known values of its argument. */
  readonly choices: readonly string[];
}

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
  const script = bash(program.name(), wordsOf(program, ''), optionsOf(program));
  if (shell === 'bash') return script;
  // zsh runs bash's completion scripts, once its own completion is loaded.
  return `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
autoload -Uz bashcompinit && bashcompinit
${script}`;
}

function wordsOf(parent: Command, prefix: string): Words[] {
  return parent.commands.flatMap((command) => {
    const path = `${prefix}${command.name()}`;
    const words = {
      path,
      options: optionsOf(command),
      choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    };
    return [words, ...wordsOf(command, `${path} `)];
  });
}

const optionsOf = (command: Command): OptionWords[] =>
  command.options.flatMap(({ long, argChoices = [] }) =>
    long ? [{ long, values: argChoices }] : [],
  );

function bash(
  name: string,
  commands: readonly Words[],
  everywhere: readonly OptionWords[],
): string {
  const first = firstWords(commands);
  const cases = first.map((word) => {
    const own = commands.filter(({ path }) => path.split(' ')[0] === word);
    const words = [
      ...own.flatMap(({ options, choices }) => [...choices, ...options.map(({ long }) => long)]),
      ...secondWords(own),
      ...everywhere.map(({ long }) => long),
    ];
    return `    ${word}) words="${[...new Set(words)].join(' ')}" ;;`;
  });
  const values = [...everywhere, ...commands.flatMap(({ options }) => options)]
    .map(({ long, values }) => [
      long,
      printing[long] ? `$(${printing[long]} | ${harmless})` : values.join(' '),
    ])
    .filter(([, words]) => words !== '')
    .map(([long, words]) => `    ${long}) words="${words}" ;;`);
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
    *) words="${[...first, ...everywhere.map(({ long }) => long)].join(' ')}" ;;
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

const firstWords = (commands: readonly Words[]) => [
  ...new Set(commands.map(({ path }) => path.split(' ')[0] ?? '')),
];

const secondWords = (commands: readonly Words[]) =>
  commands.flatMap(({ path }) => path.split(' ')[1] ?? []);
