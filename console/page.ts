import type { Door } from './door.ts';
import type { Html } from './html.ts';
import type { Runs } from './runs.ts';

/** The deployment and the integration of a page, and the values of its address. */
export interface PageRequest {
  readonly door: Door;
  readonly integration: string;
  /** The values of `:name` in the path, and the first value of each name in the query. */
  readonly given: Readonly<Record<string, string>>;
  readonly runs: Runs;
}

/** A page about one integration. */
export interface ConsolePage {
  /** The path behind the integration; `:name` stands for any one part. */
  readonly path: string;
  /** The entry of the navigation that it belongs to; absent: `path`. */
  readonly under?: string;
  title(given: PageRequest['given']): string;
  content(asked: PageRequest): Promise<Html> | Html;
}

/** A file about one integration. */
export interface Download {
  readonly path: string;
  content(asked: PageRequest): Promise<{
    readonly name: string;
    readonly type: string;
    readonly text: string;
  }>;
}
