import type { Cell, View } from '../ops/render/layout.ts';
import type { Door } from './door.ts';
import { type Html, toned } from './html.ts';

/** How and when somebody reads a page: what text means is a class there, not a mark in the text. */
export function viewOf({ clock, zone }: Pick<Door, 'clock' | 'zone'>): View {
  return { now: clock.now(), zone, paint: (_tone, text) => text };
}

/** A cell of a screen of the command line. */
export function cell(value: Cell): Html {
  return typeof value === 'string' ? toned('plain', value) : toned(...value);
}
