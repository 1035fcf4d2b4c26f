import type { Door } from './door.ts';
import type { Html } from './html.ts';
import type { Runs } from './runs.ts';

/** Whom a page is shown for, and what its address says. */
export interface Asked {
  readonly door: Door;
  readonly integration: string;
  /** Of the address: what stands for a `:name` in its path, and the first value of each name behind the `?`. */
  readonly given: Readonly<Record<string, string>>;
  readonly runs: Runs;
}

/** A page about one integration. */
export interface Page {
  /** Behind the integration in its address; `:name` stands for any one part. */
  readonly path: string;
  /** Where in the navigation it belongs; absent: `path`. */
  readonly under?: string;
  title(given: Asked['given']): string;
  content(asked: Asked): Promise<Html> | Html;
}

/** A file about one integration. */
export interface Download {
  readonly path: string;
  content(asked: Asked): Promise<{
    readonly name: string;
    readonly type: string;
    readonly text: string;
  }>;
}
