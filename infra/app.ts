import { run } from './run.ts';

// The program that `cdk` runs (cdk.json). For another configuration: --app "npx --no node infra/app.ts
// other.config.ts".
const { argv, stderr: errors } = process;
const exitCode = await run(argv.slice(2), { streams: { errors } });
// The CDK's validator reports its findings and sets the exit code by itself.
if (exitCode !== 0) process.exitCode = exitCode;
