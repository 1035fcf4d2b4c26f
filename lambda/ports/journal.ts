/** Where a tick, a command or a task tells of what it did not let stop it. */
export interface Journal {
  warn(what: string, details: Readonly<Record<string, unknown>>): void;
}
