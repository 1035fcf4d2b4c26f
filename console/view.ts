import type { Cell, View } from '../ops/render/layout.ts';
import { commandLink } from './command-form.ts';
import type { Door } from './door.ts';
import { facts, type Html, toned } from './html.ts';
import { html } from './library.ts';

/** The view of a page's reader. Tones are classes there, so no marks are painted into the text. */
export function viewOf({ clock, zone }: Pick<Door, 'clock' | 'zone'>): View {
  return { now: clock.now(), zone, paint: (_tone, text) => text };
}

/** A cell of a screen of the command line. */
export function cell(value: Cell): Html {
  return typeof value === 'string' ? toned('plain', value) : toned(value[0], value[1]);
}

/** Facts of such a screen, with links to the pages that say more. */
export const factsShown = (
  integration: string,
  entries: readonly (readonly [name: string, value: Cell | undefined])[],
): Html =>
  facts(
    entries.map(([name, value]) => {
      if (value === undefined) return [name, undefined];
      const [, , more] = typeof value === 'string' ? [] : value;
      if (more === undefined) return [name, cell(value)];
      return [name, html`${cell(value)} ${more.says}: ${commandLink(integration, more.ops)}`];
    }),
  );

/** Words of the command line, for people who see fields and buttons instead of options. */
export const spoken = (text: string): string =>
  text.replaceAll(
    /(^|[ (])--([a-z][a-z-]*)/g,
    (_, before: string, option: string) => `${before}“${option.replaceAll('-', ' ')}”`,
  );
