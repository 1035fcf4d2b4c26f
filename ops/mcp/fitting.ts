import { amount } from '../render/text.ts';
import type { ToolAnswer } from './call.ts';

/** The limit of a text, and of data. Beyond it, some assistants cut the answer off; others end the conversation. */
const mostCharacters = 60_000;

const advice =
  'Ask for less, such as fewer days or a `limit`; the command line, with --json, tells all of it.';

/** Shortens an answer to the limit: a text to its beginning, data to nothing. Both say how much is left out. */
export function fitting(told: ToolAnswer): ToolAnswer {
  return { ...told, text: fittingText(told.text), structured: fittingData(told.structured) };
}

function fittingText(text: string): string {
  if (text.length <= mostCharacters) return text;
  const end = text.lastIndexOf('\n', mostCharacters);
  const kept = text.slice(0, end < 0 ? mostCharacters : end);
  const left = text.slice(kept.length + 1).split('\n').length;
  return `${kept}\n\n${amount(left)} more lines are left out here. ${advice}`;
}

function fittingData(structured: ToolAnswer['structured']): ToolAnswer['structured'] {
  const { length } = JSON.stringify(structured);
  if (length <= mostCharacters) return structured;
  const { result: _, ...rest } = structured;
  return { ...rest, leftOut: `The result has ${amount(length)} characters. ${advice}` };
}
