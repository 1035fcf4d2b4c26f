import { bundle } from './bundle.ts';

/*
 * node infra/bundling/program.ts <entry> <folder of the asset> <file for the source map>
 *
 * A program by itself because the CDK wants its bundle at once, and esbuild's plugins take a moment.
 */
const [entry = '', folder = '', mapFile = ''] = process.argv.slice(2);
await bundle(entry, folder, mapFile);
