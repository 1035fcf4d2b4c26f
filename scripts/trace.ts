import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { sourceMaps } from '../infra/bundling/options.ts';

const program = new Command('npm run --silent trace --')
  .description(
    'Reads a stack trace of a function from standard input, and says where in the sources.',
  )
  .argument('<function>', 'poll or operate')
  .option('--assembly <folder>', 'the result of `npm run synth` of the deployed version', 'cdk.out')
  .parse();
const [name] = program.args;
const { assembly }: { assembly: string } = program.opts();

const file = `${assembly}/${sourceMaps}/${name}.mjs.map`;
if (!existsSync(file))
  program.error(`error: There is no ${file}. Run npm run synth on the deployed version first.`);
const map = new SourceMap(JSON.parse(readFileSync(file, 'utf8')));
const trace = await text(process.stdin);
process.stdout.write(
  trace.replaceAll(/[^\s(]*index\.mjs:(\d+):(\d+)/g, (place, line, column) => {
    const origin = map.findOrigin(Number(line), Number(column));
    return 'fileName' in origin
      ? `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}`
      : place;
  }),
);
