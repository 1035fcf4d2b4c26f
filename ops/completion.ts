import type { Command } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** A command as a shell has to know it. */
interface Words {
  /** `credentials set` */
  readonly path: string;
  readonly summary: string;
  readonly options: readonly string[];
  /** What its argument may be, where that is known. */
  readonly choices: readonly string[];
}

/** A script for a shell that completes the program's commands and options. */
export function completionScript(shell: Shell, program: Command): string {
  const name = program.name();
  const everywhere = optionsOf(program);
  const commands = wordsOf(program, '');
  switch (shell) {
    case 'bash':
      return bash(name, commands, everywhere);
    case 'zsh':
      // zsh completes by bash's scripts, too, once its own completion is there.
      return `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
autoload -Uz bashcompinit && bashcompinit
${bash(name, commands, everywhere)}`;
    case 'fish':
      return fish(name, commands, everywhere);
  }
}

function wordsOf(parent: Command, prefix: string): Words[] {
  return parent.commands.flatMap((command) => {
    const path = `${prefix}${command.name()}`;
    const words = {
      path,
      summary: command.summary() || command.description(),
      options: optionsOf(command),
      choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    };
    return [words, ...wordsOf(command, `${path} `)];
  });
}

const optionsOf = (command: Command) => command.options.flatMap(({ long }) => long ?? []);

function bash(name: string, commands: readonly Words[], everywhere: readonly string[]): string {
  const first = firstWords(commands);
  const cases = first.map((word) => {
    const own = commands.filter(({ path }) => path.split(' ')[0] === word);
    const words = [
      ...own.flatMap(({ options, choices }) => [...choices, ...options]),
      ...secondWords(own),
      ...everywhere,
    ];
    return `    ${word}) words="${[...new Set(words)].join(' ')}" ;;`;
  });
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
    *) words="${[...first, ...everywhere].join(' ')}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F ${identifier} ${name}
`;
}

function fish(name: string, commands: readonly Words[], everywhere: readonly string[]): string {
  const first = firstWords(commands);
  const none = `not __fish_seen_subcommand_from ${first.join(' ')}`;
  const line = (rest: string) => `complete -c ${name} ${rest}`;
  return [
    ...everywhere.map((option) => line(`-l ${option.slice(2)}`)),
    ...commands.flatMap(({ path, summary, options, choices }) => {
      const [word = '', second] = path.split(' ');
      const within = `__fish_seen_subcommand_from ${word}`;
      const condition = second === undefined ? none : within;
      return [
        line(`-f -n '${condition}' -a ${second ?? word} -d '${summary.replaceAll("'", "\\'")}'`),
        ...choices.map((choice) => line(`-f -n '${within}' -a ${choice}`)),
        ...options.map((option) => line(`-n '${within}' -l ${option.slice(2)}`)),
      ];
    }),
    '',
  ].join('\n');
}

const firstWords = (commands: readonly Words[]) => [
  ...new Set(commands.map(({ path }) => path.split(' ')[0] ?? '')),
];

const secondWords = (commands: readonly Words[]) =>
  commands.flatMap(({ path }) => path.split(' ')[1] ?? []);
