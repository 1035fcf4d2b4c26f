/**
 * For trying the example: the command `listen` posts events here from a certification-notifier that runs on this
 * machine (`npm start` in its folder). The embedded SNS of that program signs them, and this process asks that SNS for
 * the certificate. Does nothing where TOPIC_ARN is set, as it is on AWS. Never use it in production: any process that
 * answers on that port could sign events. To do without it, delete this file and let `start` in package.json be
 * `node server.ts`.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

if (!process.env.TOPIC_ARN) await connect();

async function connect(): Promise<void> {
  const folder = process.env.NOTIFIER_LOCAL || `${import.meta.dirname}/../../.local`;
  const instance = await readFile(`${folder}/instance.json`, 'utf8').then(JSON.parse, () => {
    console.error(
      'Start certification-notifier first (`npm start` in its folder), or set TOPIC_ARN.',
    );
    process.exit(1);
  });
  const functions: Record<string, string>[] = Object.values(instance.aws?.functions ?? {});
  const poll = functions.find(({ EVENTS_TOPIC_ARN }) => EVENTS_TOPIC_ARN);
  if (!poll) {
    console.error('certification-notifier is still starting. Try again in a moment.');
    process.exit(1);
  }
  // Region, endpoints and credentials of the embedded AWS: the SDK finds them there.
  for (const [name, value] of Object.entries(poll))
    if (name.startsWith('AWS_')) process.env[name] = value;
  process.env.TOPIC_ARN = poll.EVENTS_TOPIC_ARN;

  // The receiver asks for the certificate where SNS keeps its own; the embedded SNS has it under the same name.
  const { fetch } = globalThis;
  const sns = `https://sns.${poll.AWS_REGION}.amazonaws.com`;
  globalThis.fetch = (url, init) =>
    fetch(String(url).replace(sns, instance.aws.endpoints.sns), init);

  const commandLine = new URL(
    'ops/launcher.mjs',
    import.meta.resolve('certification-notifier/package.json'),
  );
  const webhook = `http://localhost:${process.env.PORT ?? 8080}/`;
  const listen = spawn(
    process.execPath,
    [fileURLToPath(commandLine), 'listen', '--local', '--forward-to', webhook],
    { env: { ...process.env, NOTIFIER_LOCAL: folder }, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  process.once('exit', () => listen.kill());
}
