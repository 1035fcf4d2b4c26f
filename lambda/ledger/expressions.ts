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

/** An update of plain attributes: those that are `undefined` are removed. */
export function updateOf(attributes: Plain) {
  const { set, names, values } = assignments(
    Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)),
  );
  const gone = Object.keys(attributes).filter((name) => attributes[name] === undefined);
  const removed = gone.map((_, index) => `#r${index}`);
  return {
    UpdateExpression: [
      ...(set === '' ? [] : [`SET ${set}`]),
      ...(gone.length === 0 ? [] : [`REMOVE ${removed.join(', ')}`]),
    ].join(' '),
    ExpressionAttributeNames: {
      ...names,
      ...Object.fromEntries(gone.map((name, index) => [`#r${index}`, name])),
    },
    values,
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
