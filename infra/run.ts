import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { NotifierError } from '../lambda/errors.ts';
import { buildApp } from './build-app.ts';
import { loadConfig } from './load-config.ts';
import { refuseLargeTemplate } from './template-size.ts';

/** What `cdk` has run of its process. By itself, the CDK finds its settings in the environment. */
interface Host {
  readonly streams: { readonly errors: Writable };
}

/**
 * Synthesizes what is deployed, into the folder that the CDK's command line names.
 *
 * @param argv the configuration's file, if not notifier.config.ts
 * @returns the exit code
 */
export async function run([file]: readonly string[], { streams }: Host): Promise<number> {
  const main = resolve(file ?? fileURLToPath(new URL('../notifier.config.ts', import.meta.url)));
  try {
    // `-c env=staging`. Of an app of its own, because the configuration is needed before there is one;
    // it must not synthesize itself, which would leave an empty assembly.
    const environment: unknown = new App({ autoSynth: false }).node.tryGetContext('env');
    const app = buildApp(await loadConfig(main, environment));
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    for (const stack of app.synth().stacks) refuseLargeTemplate(stack.templateFullPath);
    return 0;
  } catch (error) {
    if (!(error instanceof NotifierError)) throw error;
    // Not the stack trace: the mistake is in the configuration, not in the code.
    streams.errors.write(`${error.message}\n${error.whatToDo}\n`);
    return 1;
  }
}
