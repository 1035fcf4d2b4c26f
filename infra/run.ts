import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { NotifierError } from '../lambda/errors.ts';
import { buildApp } from './build-app.ts';
import { type NotifierConfig, parseConfig } from './config.ts';
import { ConfigError, describedValue } from './config-error.ts';
import { demoConfig } from './demo.ts';
import { loadConfig } from './load-config.ts';
import { refuseLargeTemplate } from './template-size.ts';

/** The parts of its process that `cdk` needs. The CDK itself finds its settings in the environment. */
interface Host {
  readonly streams: { readonly errors: Writable };
}

/**
 * Synthesizes the deployed stack into the folder that the CDK's command line names.
 *
 * @param argv the configuration's file, if not notifier.config.ts
 * @returns the exit code
 */
export async function run([file]: readonly string[], { streams }: Host): Promise<number> {
  const main = resolve(file ?? fileURLToPath(new URL('../notifier.config.ts', import.meta.url)));
  try {
    // `-c env=staging`, `-c demo=true`. An app of its own has the context, because the configuration is needed before
    // the real app exists. It must not synthesize itself, which would leave an empty assembly.
    const { node } = new App({ autoSynth: false });
    const [environment, demo]: unknown[] = ['env', 'demo'].map((name) => node.tryGetContext(name));
    const app =
      demo === undefined
        ? buildApp(await loadConfig(main, environment))
        : buildApp(demoOnly(demo, environment), { demo: true });
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    for (const stack of app.synth().stacks) refuseLargeTemplate(stack.templateFullPath);
    return 0;
  } catch (error) {
    if (!(error instanceof NotifierError)) throw error;
    // Without the stack trace: the mistake is in the configuration, not in the code.
    streams.errors.write(`${error.message}\n${error.whatToDo}\n`);
    return 1;
  }
}

/** @throws ConfigError for another value, and beside an environment: the demo has neither a file nor environments */
function demoOnly(demo: unknown, environment: unknown): NotifierConfig {
  const problems = [
    ...(String(demo) === 'true'
      ? []
      : [`demo: ${describedValue(demo)} found; allowed: true, or none`]),
    ...(environment === undefined
      ? []
      : [`env: ${describedValue(environment)} found; allowed: none beside demo`]),
  ];
  if (problems.length > 0) throw new ConfigError(problems, 'the context');
  return parseConfig(demoConfig);
}
