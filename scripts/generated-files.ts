import { commandLinePage } from './command-line-page.ts';
import { runbookParts } from './conditions-page.ts';
import { configurationPage } from './configuration-page.ts';
import { contractFiles } from './contract/files.ts';
import { costPage } from './cost.ts';

/** Every file of the repository that is made from the sources, by its path from the root of the repository. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ...commandLinePage(),
    ...runbookParts(),
    ...configurationPage(),
    ...contractFiles(),
    ...costPage(),
  ]);
}
