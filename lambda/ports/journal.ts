/** The log for problems that do not stop a tick, a command or a task. */
export interface Journal {
  warn(what: string, details: Readonly<Record<string, unknown>>): void;
}
