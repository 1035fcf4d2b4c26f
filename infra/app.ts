import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { NotifierError } from '../lambda/errors.ts';
import { buildApp } from './build-app.ts';
import { loadConfig } from './load-config.ts';
import { refuseLargeTemplate } from './template-size.ts';

// What `cdk` runs (see cdk.json). Another configuration: --app "npx --no node infra/app.ts other.config.ts".
const main = resolve(
  process.argv[2] ?? fileURLToPath(new URL('../notifier.config.ts', import.meta.url)),
);

try {
  // `-c env=staging`. Of an app of its own, because the configuration is needed before there is one;
  // it must not synthesize itself, which would leave an empty assembly.
  const environment: unknown = new App({ autoSynth: false }).node.tryGetContext('env');
  const app = buildApp(await loadConfig(main, environment));
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  for (const stack of app.synth().stacks) refuseLargeTemplate(stack.templateFullPath);
} catch (error) {
  if (!(error instanceof NotifierError)) throw error;
  // Not the stack trace: the mistake is in the configuration, not in the code.
  console.error(`${error.message}\n${error.whatToDo}`);
  process.exitCode = 1;
}
