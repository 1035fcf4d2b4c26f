import { environment } from '../lambda/names.ts';
import type { EmbeddedAws, LocalFunction } from './aws/index.ts';
import type { Credentials } from './partner-host.ts';

/** Stores the credentials as ops would after a deployment. A secret outside of the stack is created. */
export function storeCredentials(
  { secrets }: EmbeddedAws,
  poll: LocalFunction,
  credentials: Credentials,
): void {
  const secretId = poll.environment[environment.secret] ?? '';
  if (!secrets.has(secretId)) secrets.create(secretId);
  secrets.put(secretId, JSON.stringify(credentials));
}
