import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { blocksOf } from '../../support/markdown.ts';

const events = 'docs/events';
const read = (name: string) => readFileSync(join(events, name), 'utf8');
const schemas = readdirSync(events).filter((name) => name.endsWith('.schema.json'));

/**
 * Keywords from which json-schema-to-typescript 16.0 and datamodel-code-generator 0.89 make the
 * intended types. Try both before another one is listed.
 */
const understood = new Set([
  ...'$schema $id id $defs definitions $ref title description type const enum'.split(' '),
  ...'oneOf anyOf allOf properties required additionalProperties items format'.split(' '),
  ...'pattern minimum maximum exclusiveMinimum minLength'.split(' '),
]);
/** All keywords of a schema; names of definitions and fields are none. */
function keywordsIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(keywordsIn);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const isNamed = ['$defs', 'definitions', 'properties'].includes(keyword);
    return [keyword, ...keywordsIn(isNamed ? Object.values(value) : value)];
  });
}

it.each(schemas)('generators of types understand each keyword of %s', (name) => {
  const keywords = new Set(keywordsIn(JSON.parse(read(name))));
  expect([...keywords].filter((keyword) => !understood.has(keyword))).toEqual([]);
});

describe('types made from the event as docs/subscribing.md says', () => {
  const folder = mkdtempSync(join(tmpdir(), 'generated-types-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const PATH = `${resolve('node_modules/.bin')}${delimiter}${process.env.PATH}`;
  function run(command: string, args: readonly string[], cwd = '.') {
    const shell = process.platform === 'win32';
    const env = { ...process.env, PATH };
    return spawnSync(command, args, { cwd, encoding: 'utf8', env, shell });
  }

  const lines = blocksOf(readFileSync('docs/subscribing.md', 'utf8'))
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) => code.replace(/\\\n\s*/g, '').split('\n'));
  /** Runs the page's line, with the result in this place. */
  function generated(generator: string, result: string): string {
    const [line = ''] = lines.filter((one) => one.includes(generator) && one.endsWith(result));
    const [command = '', ...args] = line.replace('npx ', '').split(' ');
    const file = join(folder, result);
    const { stderr, status } = run(command, [...args.slice(0, -1), file]);
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    return readFileSync(file, 'utf8');
  }

  const schema = JSON.parse(read('certification-event-1.schema.json'));
  const names = ['CertificationEvent', ...Object.keys(schema.$defs)].sort();
  const namesIn = (types: string, declared: RegExp) =>
    [...types.matchAll(declared)].map(([, name]) => name).sort();

  it('by json-schema-to-typescript have names, are distinguished by `type`, and accept the examples', () => {
    const types = generated('json2ts', 'certification-event.ts');
    expect(namesIn(types, /^export (?:type|interface) (\w+)/gm)).toEqual(names);

    const examples = readdirSync(join(events, 'examples')).map((name) =>
      // In one line, to which a comment can refer.
      JSON.stringify(JSON.parse(read(`examples/${name}`))),
    );
    const program = `import type { Assessment, CertificationEvent } from './certification-event.ts';
      export function told(event: CertificationEvent): string {
        if (event.type === 'certification.test') return event.data.like ?? 'created';
        if (event.type !== 'certification.withdrawn') return nameOf(event.data.assessment);
        // @ts-expect-error: nothing personal is left
        event.data.assessment.name satisfies string | null | undefined;
        return event.data.assessment.certified_on;
      }
      function nameOf({ name, results }: Assessment): string {
        return name ?? results?.[0]?.proctor_name ?? '';
      }
      export const examples: CertificationEvent[] = [${examples}];
      // @ts-expect-error: it is text
      export const wrong: CertificationEvent = { ...${examples[0]}, sequence: 1 };`;
    writeFileSync(join(folder, 'program.ts'), program);
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    const flags = '--noEmit --strict --noUncheckedIndexedAccess --allowImportingTsExtensions';
    const how = [...flags.split(' '), '--module', 'nodenext', '--types', ''];
    const { stdout, stderr } = run('tsc', [...how, 'program.ts'], folder);
    expect(stdout + stderr).toBe('');
  });

  it.skipIf(run('datamodel-codegen', ['--version']).status !== 0)(
    'by datamodel-code-generator have names (needs datamodel-codegen)',
    () => {
      const types = generated('datamodel-codegen', 'certification_event.py');
      expect(namesIn(types, /^class (\w+)/gm)).toEqual(names);
    },
  );
});
