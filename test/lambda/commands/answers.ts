import { expect } from 'vitest';
import * as z from 'zod';
import { type CommandName, definitions, type ResultOf } from '../../../lambda/commands/contract.ts';
import type { OperationParts } from '../../../lambda/commands/parts.ts';
import type { IntegrationWithPast } from '../../scaffold/past.ts';
import { assessment } from '../../support/assessments.ts';

const resumable = z.looseObject({ next: z.looseObject({}).optional() });

/** An assessment of this day. */
export const on = (certified_on: string, id: number, more = {}) =>
  assessment({ id, certified_on, ...more });

/** The result of a command that succeeds; nothing in it is personal. */
export async function resultOf<Name extends CommandName>(
  story: IntegrationWithPast,
  name: Name,
  settings: object = {},
  seconds?: number,
  parts?: Partial<OperationParts>,
): Promise<ResultOf<Name>> {
  const answer = await story.operate({ command: name, ...settings }, seconds, parts);
  expect(answer).toMatchObject({ ok: true });
  expect(JSON.stringify(answer)).not.toMatch(/Odalys|Quillfeather|@example/);
  return definitions[name].result.parse(answer.result);
}

/** The results of a command that is sent again, as its `next` says, until nothing is left. */
export async function resultsOf<Name extends CommandName>(
  story: IntegrationWithPast,
  name: Name,
  settings: object,
  seconds?: number,
): Promise<ResultOf<Name>[]> {
  const results: ResultOf<Name>[] = [];
  for (let next: object | undefined = settings; next; next = resumable.parse(results.at(-1)).next)
    results.push(await resultOf(story, name, next, seconds));
  return results;
}
