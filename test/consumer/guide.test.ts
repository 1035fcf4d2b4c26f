import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { parseEvent } from '../../consumer/index.ts';

const docs = join(import.meta.dirname, '../../docs');
const read = (path: string) => readFileSync(join(docs, path), 'utf8');
const folder = 'events/examples';
const examples = new Map(
  readdirSync(join(docs, folder)).map((name) => [
    name.replace(/\.json$/, ''),
    JSON.parse(read(`${folder}/${name}`)),
  ]),
);

it('docs/subscribing.md shows an event of each type, equal to the published examples, and one in full', () => {
  const typed = z.looseObject({ type: z.string() });
  const shown = [...read('subscribing.md').matchAll(/```json\n(.*?)```/gs)].flatMap(
    ([, json = '']) => typed.safeParse(JSON.parse(json)).data ?? [],
  );
  expect(shown.map(({ type }) => type).sort()).toEqual([...examples.keys()].sort());
  for (const one of shown) expect(examples.get(one.type)).toMatchObject(one);
  expect(shown).toContainEqual(examples.get('certification.created'));
});

it.each([...examples])('the published example %s is parsed as its type', (type, example) => {
  expect(parseEvent(JSON.stringify(example))).toEqual(example);
  expect(example.type).toBe(type);
});
