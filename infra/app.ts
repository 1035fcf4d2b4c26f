import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { NotifierError } from '../lambda/errors.ts';
import { buildApp } from './build-app.ts';
import { loadConfig } from './load-config.ts';

// What `cdk` runs (see cdk.json). Another configuration: --app "npx --no node infra/app.ts other.config.ts".
const file = resolve(
  process.argv[2] ?? fileURLToPath(new URL('../notifier.config.ts', import.meta.url)),
);

try {
  const app = buildApp(await loadConfig(file));
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
} catch (error) {
  if (!(error instanceof NotifierError)) throw error;
  // Not the stack trace: the mistake is in the configuration, not in the code.
  console.error(`${error.message}\n${error.whatToDo}`);
  process.exitCode = 1;
}
