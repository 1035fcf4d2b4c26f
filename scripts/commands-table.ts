import { contract } from '../lambda/commands/contract.ts';

/** Settings that the caller need not give, or that `next` gives. */
const ownAffairs: ReadonlySet<string> = new Set(['command', 'by', 'operation', 'after', 'since']);

function row([name, { command, does }]: [string, (typeof contract)[keyof typeof contract]]) {
  const settings = Object.keys(command.shape).filter((setting) => !ownAffairs.has(setting));
  return `| \`${name}\` | ${settings.map((setting) => `\`${setting}\``).join(', ')} | ${does} |`;
}

/** The present commands of the operate function. */
export function commandsTable(): string {
  const rows = Object.entries(contract).map(row);
  return ['| command | settings | purpose |', '|---|---|---|', ...rows].join('\n');
}
