import pMap from 'p-map';
import { InterruptedError, OpsError, RetoldError } from './errors.ts';
import { answeredWithinMs } from './progress.ts';
import type { View } from './render/layout.ts';
import type { Session } from './session.ts';
import type { OperateClient } from './target/operate-client.ts';

/** A limit, since other functions of the account share its concurrency. */
const askedAtOnce = 8;

interface Look<Result> {
  readonly label: string;
  ask(client: OperateClient): Promise<Result>;
  lines(view: View, result: Result): readonly string[];
}

/**
 * Asks every selected integration and prints each answer. The failure of one does not hide the others.
 *
 * @throws RetoldError with the answers of the others; the error itself if there is only one integration
 */
export async function ofEvery<Result>(
  session: Session,
  look: Look<Result>,
): Promise<readonly Result[]> {
  const { results, failures } = await askEvery(session, look);
  const [first] = failures;
  // With --json there is only one line: the error's, which holds the other answers.
  if (first === undefined || !session.json)
    session.answer(results, (view) =>
      results.flatMap((one, index) => [...(index > 0 ? [''] : []), ...look.lines(view, one)]),
    );
  if (first === undefined) return results;
  const names = failures.map(({ integration }) => integration);
  const { error } = first;
  throw new RetoldError(
    `${names.join(', ')}: ${error.message}`,
    { ...error, result: results },
    error,
  );
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
