import { parseKnownFiles } from '@smithy/core/config';
import { NotFoundError } from '../errors.ts';
import type { EnvironmentVariables } from '../host.ts';
import { NotSignedInError } from './errors.ts';

/**
 * Explains a failed search for credentials by the AWS profile. The SDK has one name for a missing profile and for an
 * expired sign-in.
 *
 * @param asked the profile of --profile; otherwise the environment's, or the default one
 * @param cause the error of the SDK
 * @throws NotFoundError, NotSignedInError
 */
export async function blameProfile(
  asked: string | undefined,
  environment: EnvironmentVariables,
  cause: unknown,
): Promise<void> {
  const isSearch = cause instanceof Error && /^(Credentials|Token)ProviderError$/.test(cause.name);
  if (!isSearch) return;
  const { name, profile } = await profileOf(asked, environment);
  if (profile?.sso_session === undefined && profile?.sso_start_url === undefined) return;
  throw new NotSignedInError(
    `The sign-in of the AWS profile ${name} has expired, or was never done.`,
    `Sign in: aws sso login --profile ${name}. Then run it again.`,
    { cause },
  );
}

/** The profile from the AWS files; undefined if none is named and there is no default one. @throws NotFoundError */
export async function profileOf(asked: string | undefined, environment: EnvironmentVariables) {
  const named = asked ?? environment.AWS_PROFILE;
  const name = named ?? 'default';
  const profiles = await parseKnownFiles({});
  const profile = profiles[name];
  if (profile !== undefined || named === undefined) return { name, profile };
  // Sections of other kinds, such as `sso-session.work`, are no profiles.
  const others = Object.keys(profiles)
    .filter((other) => !/^(sso-session|services)\./.test(other))
    .sort()
    .join(', ');
  throw new NotFoundError(
    `There is no AWS profile ${name}.`,
    others === ''
      ? 'There are none at all: aws configure sso, or aws configure, makes one.'
      : `There are ${others}. Name one with --profile, or AWS_PROFILE.`,
  );
}
