import { pathToFileURL } from 'node:url';
import { NotifierError } from '../lambda/errors.ts';
import { type NotifierConfig, parseConfig } from './config.ts';
import { withoutSecrets } from './config-error.ts';

/** The configuration's file is not there or is no module that Node can run; `cause` says why. */
class ConfigUnloadableError extends NotifierError {
  readonly code = 'config-unloadable';
  readonly retryHelps = false;
  readonly whatToDo = 'Correct that file.';

  constructor(file: string, cause: unknown) {
    const { message = String(cause), stack = '' } = cause instanceof Error ? cause : {};
    const [, line = ''] = stack.slice(stack.indexOf(file) + file.length).match(/^(:\d+)/) ?? [];
    const [first = ''] = message.split('\n');
    super(`${file}${line} cannot be loaded: ${withoutSecrets(first)}.`, { cause });
  }
}

/**
 * @param file absolute path of a module whose default export is the configuration
 * @throws ConfigUnloadableError, ConfigError
 */
export async function loadConfig(file: string): Promise<NotifierConfig> {
  const module: { default?: unknown } = await import(pathToFileURL(file).href).catch((cause) => {
    throw new ConfigUnloadableError(file, cause);
  });
  return parseConfig(module.default, file);
}
