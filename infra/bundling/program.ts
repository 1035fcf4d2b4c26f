import { bundle } from './bundle.ts';

/*
 * node infra/bundling/program.ts <entry> <folder of the asset> <file for the source map>
 *
 * A program of its own, because the CDK wants its bundle synchronously, and esbuild's plugins are asynchronous.
 */
const [entry = '', folder = '', mapFile = ''] = process.argv.slice(2);
await bundle(entry, folder, mapFile);
