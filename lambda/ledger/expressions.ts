import type { Plain } from './table.ts';

/** `SET` for plain attributes, whatever their names. */
export function assignments(attributes: Plain) {
  const entries = Object.entries(attributes);
  return {
    set: entries.map((_, index) => `#a${index} = :a${index}`).join(', '),
    names: Object.fromEntries(entries.map(([name], index) => [`#a${index}`, name])),
    values: Object.fromEntries(entries.map(([, value], index) => [`:a${index}`, value])),
  };
}

/** The expression parts that address entries of one item's outbox. */
export class OutboxPaths {
  readonly names: Record<string, string>;
  readonly paths: readonly string[];

  constructor(revisions: readonly number[]) {
    this.names = Object.fromEntries(
      revisions.map((revision, index) => [`#r${index}`, String(revision)]),
    );
    this.paths = Object.keys(this.names).map((name) => `outbox.${name}`);
  }

  get allExist(): string {
    return this.paths.map((path) => `attribute_exists(${path})`).join(' AND ');
  }
}
