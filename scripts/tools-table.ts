import { commands } from '../ops/commands/index.ts';
import { toolsOf } from '../ops/mcp/tools.ts';

const coded = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

/** The present tools of `mcp`. */
export function toolsTable(): string {
  const looking = new Map(
    toolsOf(commands, { changes: false, integration: false }).map(({ name, input }) => [
      name,
      Object.keys(input.shape),
    ]),
  );
  const rows = toolsOf(commands, { changes: true, integration: false }).map(
    ({ name, input, command }) => {
      const always = looking.get(name);
      const more = Object.keys(input.shape).filter(
        (field) => field !== 'confirm' && !always?.includes(field),
      );
      return `| \`${name}\` | ${command.summary} | ${always ? coded(always) : 'not offered'} | ${coded(more)} |`;
    },
  );
  return [
    '| tool | purpose | takes | with `--allow-changes` also |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}
