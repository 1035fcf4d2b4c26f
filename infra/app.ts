import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import config from '../notifier.config.ts';
import { buildApp } from './build-app.ts';
import { parseConfig } from './config.ts';
import { ConfigError } from './config-error.ts';

try {
  const app = buildApp(parseConfig(config));
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(`${error.message}\n${error.whatToDo}`);
  process.exitCode = 1;
}
