/** The log for problems that do not stop a tick or a command. */
export interface Journal {
  warn(what: string, details: Readonly<Record<string, unknown>>): void;
}
