import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { buildApp } from './build-app.ts';
import { parseConfig } from './config.ts';
import { ConfigError } from './config-error.ts';

// What `cdk` runs (see cdk.json). Another configuration: --app "node infra/app.ts other.config.ts".
const file = resolve(
  process.argv[2] ?? fileURLToPath(new URL('../notifier.config.ts', import.meta.url)),
);
const config: { default?: unknown } = await import(pathToFileURL(file).href);

try {
  const app = buildApp(parseConfig(config.default));
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  // Not the stack trace: the mistake is in the configuration, not in the code.
  console.error(`${file}: ${error.message}\n${error.whatToDo}`);
  process.exitCode = 1;
}
