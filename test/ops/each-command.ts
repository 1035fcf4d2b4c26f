import { commands } from '../../ops/commands/index.ts';

/** Examples in place of a command's first one, which would need another id, ask, or change nothing. */
const otherwise: Readonly<Record<string, string>> = {
  // This id is known.
  explain: 'explain 48001',
  prove: 'prove --from 2026-10-01 --to 2026-10-31 --now',
  pause: 'pause --reason maintenance',
  release: 'release --yes',
  discard: 'discard --yes',
  replay: 'replay --all --baseline --dry-run',
  'accept-total': 'accept-total 3 --yes',
  'credentials set': 'credentials set',
};

/** Each command with a command line that succeeds for a Duty, in the order of the help. */
export const eachCommand = commands.map(({ usage, examples: [[example] = ['']] }) => ({
  name: usage,
  args: otherwise[usage] ?? example.replace(/ --(stack prod|local)\b/, ''),
}));
