import { NotifierError } from '../lambda/errors.ts';

/**
 * The configuration (`notifier.config.ts`) does not suffice for the stack. The message lists every problem, one a line.
 */
export class ConfigError extends NotifierError {
  readonly code = 'config-invalid';
  readonly fault = 'ops';
  readonly retryHelps = false;
  readonly whatToDo = 'Correct the named settings and run this again.';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], source = 'the configuration') {
    super(
      [
        `${source} has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:`,
        ...problems.map((problem) => `  ${problem}`),
      ].join('\n'),
    );
    this.problems = problems;
  }
}

/** `integrations[0].timeZone` for `['integrations', 0, 'timeZone']`. */
export function settingAt(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    const setting = String(key);
    return `${text}${text && '.'}${mayBeSecret(setting) ? `(${describedValue(setting)})` : setting}`;
  }, '');
}

/**
 * Describes a wrong value without repeating a possible credential. A short plain value is quoted. A value that could be
 * a secret is only described: a long run of letters and digits, a URL with more than a host, a long text.
 */
export function describedValue(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return 'nothing';
    case 'string':
      return mayBeSecret(value) ? `a text of ${value.length} characters` : JSON.stringify(value);
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? `a list of ${value.length}` : 'an object';
    default:
      return `a ${typeof value}`;
  }
}

/** The message of a foreign error, such as a parser's, without possible credentials. */
export function withoutSecrets(text: string): string {
  return text.replace(/[\w+=-]{16,}/g, (run) => (mayBeSecret(run) ? '…' : run));
}

/** Forms that only credentials have: AWS access keys, JWTs, tokens of GitHub and Slack, `password=…`. */
export function isCredential(text: string): boolean {
  return (
    /\b(AKIA|ASIA)[A-Z0-9]{16}\b/.test(text) ||
    /\beyJ[\w-]{8,}\.[\w-]{8,}/.test(text) ||
    /\b(gh[oprsu]_|github_pat_|xox[abeoprs]-|sk_live_)\w{8,}/.test(text) ||
    /(client_?secret|password|access_?token|api_?key)["']?\s*[=:]\s*\S/i.test(text)
  );
}

/**
 * Whether a random generator made this text: twenty characters without a separator in which letters and digits take
 * turns, or a UUID by itself. This is stricter than `mayBeSecret`, since it must not refuse a name that people or
 * CloudFormation chose (`PartnerSecret8F3A21B0`, `partner-3f786850-e387-…`).
 */
export function looksGenerated(text: string): boolean {
  return (
    /^[0-9a-f\s/.:_-]*[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f\s/.:_-]*$/i.test(text) ||
    text
      .split(/[\s/.:_-]/)
      .map((run) => run.replace(/(?<=[a-z])[0-9A-F]{8}$/, ''))
      .some((run) => run.length >= 20 && (run.match(/[a-z]+\d+/gi) ?? []).length >= 3)
  );
}

function mayBeSecret(text: string): boolean {
  return (
    text.length > 60 ||
    isCredential(text) ||
    /[@?#{}\p{Cc}]/u.test(text) ||
    // Sixteen characters without a separator, letters and digits mixed: tokens, keys, parts of UUIDs.
    text.split(/[\s/.:_-]/).some((run) => run.length >= 16 && /\d/.test(run)) ||
    // UUIDs and other grouped identifiers.
    /[0-9a-f]{8}-[0-9a-f]{4}/i.test(text)
  );
}
