import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { AttributeType, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Architecture, Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';

/** A table, a secret and a function, for the services whose behaviour is tested alone. @returns the assembly's directory */
export function synthesizeSmallStack(): string {
  const outdir = mkdtempSync(join(tmpdir(), 'small-stack-'));
  const app = new App({ outdir, analyticsReporting: false });
  const stack = new Stack(app, 'Small');

  new TableV2(stack, 'Ledger', {
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    globalSecondaryIndexes: [
      {
        indexName: 'by-day',
        partitionKey: { name: 'day', type: AttributeType.STRING },
        sortKey: { name: 'number', type: AttributeType.NUMBER },
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: ['kept'],
      },
    ],
  });
  new Secret(stack, 'Credentials');
  new LambdaFunction(stack, 'Poll', {
    runtime: Runtime.NODEJS_LATEST,
    architecture: Architecture.ARM_64,
    handler: 'index.handler',
    code: Code.fromAsset(join(import.meta.dirname, 'fixtures/function')),
    timeout: Duration.seconds(1),
    memorySize: 256,
    reservedConcurrentExecutions: 1,
  });
  app.synth();
  return outdir;
}
