import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as z from 'zod';

const folder = 'docs/events/examples';
const examples = new Map(
  readdirSync(folder).map((name) => [
    name.replace(/\.json$/, ''),
    JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')),
  ]),
);

it('docs/subscribing.md shows an event of each type, equal to the published examples, and one in full', () => {
  const typed = z.looseObject({ type: z.string() });
  const page = readFileSync('docs/subscribing.md', 'utf8');
  const shown = [...page.matchAll(/```json\n(.*?)```/gs)].flatMap(
    ([, json = '']) => typed.safeParse(JSON.parse(json)).data ?? [],
  );
  expect(shown.map(({ type }) => type).sort()).toEqual([...examples.keys()].sort());
  for (const one of shown) expect(examples.get(one.type)).toMatchObject(one);
  expect(shown).toContainEqual(examples.get('certification.created'));
});
