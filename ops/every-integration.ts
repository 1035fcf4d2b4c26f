import pMap from 'p-map';
import { InterruptedError, OpsError, SomeFailedError } from './errors.ts';
import { answeredWithinMs } from './progress.ts';
import type { View } from './render/layout.ts';
import type { Session } from './session.ts';
import type { OperateClient } from './target/operate-client.ts';

/** Functions of AWS, beside whatever else runs in the account. */
const askedAtOnce = 8;

interface Look<Result> {
  readonly label: string;
  ask(client: OperateClient): Promise<Result>;
  lines(view: View, result: Result): readonly string[];
}

/**
 * Looks at every integration that the command is about, and tells of each: one that cannot be looked at
 * does not hide the others.
 *
 * @throws SomeFailedError when the others have been told of; the error itself where there are no others
 */
export async function ofEvery<Result>(
  session: Session,
  look: Look<Result>,
): Promise<readonly Result[]> {
  const { results, failures } = await askEvery(session, look);
  const [first] = failures;
  // Machines get one line: what is known of the others is in it.
  if (first === undefined || !session.json)
    session.answer(results, (view) =>
      results.flatMap((one, index) => [...(index > 0 ? [''] : []), ...look.lines(view, one)]),
    );
  if (first === undefined) return results;
  const names = failures.map(({ integration }) => integration);
  throw new SomeFailedError(first.error, names, results);
}

async function askEvery<Result>(session: Session, { label, ask }: Look<Result>) {
  const clients = await session.operateClients();
  const areSeveral = clients.length > 1;
  using progress = session.progress(label, answeredWithinMs);
  if (areSeveral) progress.at(0, clients.length, 'integrations');
  let asked = 0;
  const failures: { readonly integration: string; readonly error: OpsError }[] = [];
  const answers = await pMap(
    clients,
    async (client) => {
      const answer = await ask(client).catch((error) => {
        if (!areSeveral || !(error instanceof OpsError) || error instanceof InterruptedError)
          throw error;
        failures.push({ integration: client.integration.name, error });
        return undefined;
      });
      asked += 1;
      if (areSeveral) progress.at(asked, clients.length, 'integrations');
      return answer;
    },
    { concurrency: askedAtOnce },
  );
  return { results: answers.filter((answer) => answer !== undefined), failures };
}
