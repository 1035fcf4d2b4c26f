import { userInfo } from 'node:os';
import { join } from 'node:path';
import { answers, localDirectory, readInstance } from '../../local/instance.ts';
import { NotFoundError } from '../errors.ts';
import type { EnvironmentVariables } from '../host.ts';
import type { AwsService, ClientSettings } from './access.ts';

const whatToDo =
  'Start one with npm start and leave it running; NOTIFIER_LOCAL names the folder of another one.';

/**
 * The client settings for the instance that runs under `npm start`.
 *
 * @throws NotFoundError if none runs
 */
export async function localSettings(
  environment: EnvironmentVariables,
): Promise<(service: AwsService) => ClientSettings> {
  const { aws } = (await readInstance(join(localDirectory(environment), 'instance.json'))) ?? {};
  if (aws === undefined)
    throw new NotFoundError('No local instance is running, or it is still starting.', whatToDo);
  const { endpoints, region } = aws;
  if (!(endpoints.cloudFormation && (await answers(endpoints.cloudFormation))))
    throw new NotFoundError('The local instance has ended, or is of another version.', whatToDo);
  return (service) => ({
    region,
    ...(endpoints[service] !== undefined && { endpoint: endpoints[service] }),
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
}

/** The caller, for the record of a command: the user's name, or the number if there is no name. */
export function localUser(lookUp: () => { username: string } = userInfo): string {
  try {
    return lookUp().username.replaceAll(/[^ -~]/g, '-');
  } catch (error) {
    // In a container, a user may have only a number.
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SYSTEM_ERROR'))
      throw error;
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
