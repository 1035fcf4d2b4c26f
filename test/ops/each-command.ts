import { commands } from '../../ops/commands/index.ts';

/** Where the first example of a command does not do here: of somebody else, asking, or not changing anything. */
const otherwise: Readonly<Record<string, string>> = {
  // One that is known.
  explain: 'explain 48001',
  prove: 'prove --from 2026-10-01 --to 2026-10-31 --now',
  pause: 'pause --reason maintenance',
  release: 'release --yes',
  discard: 'discard --yes',
  replay: 'replay --all --baseline --dry-run',
  'accept-total': 'accept-total 3 --yes',
  'credentials set': 'credentials set',
};

/** Each command with a command line that works for a Duty, if nothing goes wrong; in the order of the help. */
export const eachCommand = commands.map(({ usage, examples: [[example] = ['']] }) => ({
  name: usage,
  args: otherwise[usage] ?? example.replace(/ --(stack prod|local)\b/, ''),
}));
