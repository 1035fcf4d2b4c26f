import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NotifierError } from '../lambda/errors.ts';
import { type NotifierConfig, parseConfig } from './config.ts';
import { ConfigError, describedValue, withoutSecrets } from './config-error.ts';

/** The configuration's file does not exist, or is no module that Node can run; `cause` has the reason. */
class ConfigUnloadableError extends NotifierError {
  readonly code = 'config-unloadable';
  readonly fault = 'ops';
  readonly retryHelps = false;
  readonly whatToDo: string;

  constructor(file: string, cause: unknown) {
    const { message = String(cause), stack = '' } = cause instanceof Error ? cause : {};
    const [, line = ''] = stack.slice(stack.indexOf(file) + file.length).match(/^(:\d+)/) ?? [];
    const [first = ''] = message.split('\n');
    const isThere = existsSync(file);
    const why = isThere ? `${line} cannot be loaded: ${withoutSecrets(first)}.` : ' is not found.';
    super(`${file}${why}`, { cause });
    this.whatToDo = isThere ? 'Correct that file.' : 'Check its name, or write it.';
  }
}

/**
 * With an environment such as `staging`, the configuration is in `notifier.staging.config.ts` instead of
 * `notifier.config.ts`. Its stack's name ends with the environment, so it is never deployed over another one.
 *
 * @param main absolute path of a module whose default export is the configuration
 * @throws ConfigUnloadableError, ConfigError
 */
export async function loadConfig(main: string, environment?: unknown): Promise<NotifierConfig> {
  if (environment === undefined) return parseConfig(await exportOf(main), main);
  const name = nameOf(environment);
  const ending = `-${name}`;
  const file = main.replace(/(?=\.config\.\w+$)/, `.${name}`);
  if (file === main) {
    const type = extname(main);
    const found = `env: ${describedValue(name)} found; allowed: none beside a file of this name`;
    const renamed = `Call the file *.config${type}; then *.${name}.config${type} has the settings of ${name}`;
    throw new ConfigError([`${found}. ${renamed}`], main);
  }
  const stackName = `certification-notifier${ending}`;
  const config = parseConfig({ stackName, ...Object(await exportOf(file)) }, file);
  if (config.stackName.endsWith(ending)) return config;
  const found = `stackName: ${describedValue(config.stackName)} found`;
  throw new ConfigError([`${found}; allowed: a name that ends with "${ending}", or none`], file);
}

async function exportOf(file: string): Promise<unknown> {
  const module: { default?: unknown } = await import(pathToFileURL(file).href).catch((cause) => {
    throw new ConfigUnloadableError(file, cause);
  });
  return module.default;
}

function nameOf(environment: unknown): string {
  if (typeof environment === 'string' && /^[a-z][a-z0-9-]{0,29}$/.test(environment))
    return environment;
  const allowed =
    'lower-case letters, digits and hyphens, starting with a letter, at most 30 characters';
  throw new ConfigError(
    [`env: ${describedValue(environment)} found; allowed: ${allowed}`],
    'the context',
  );
}
