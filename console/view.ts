import type { Cell, View } from '../ops/render/layout.ts';
import type { Door } from './door.ts';
import { type Html, toned } from './html.ts';

/** The view of a page's reader. Tones are classes there, so no marks are painted into the text. */
export function viewOf({ clock, zone }: Pick<Door, 'clock' | 'zone'>): View {
  return { now: clock.now(), zone, paint: (_tone, text) => text };
}

/** A cell of a screen of the command line. */
export function cell(value: Cell): Html {
  return typeof value === 'string' ? toned('plain', value) : toned(...value);
}
