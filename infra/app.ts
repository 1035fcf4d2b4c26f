import { run } from './run.ts';

// What `cdk` runs (see cdk.json). Another configuration: --app "npx --no node infra/app.ts other.config.ts".
const { argv, stderr: errors } = process;
const exitCode = await run(argv.slice(2), { streams: { errors } });
// Where the CDK's validator has found something, it has told and set its own.
if (exitCode !== 0) process.exitCode = exitCode;
