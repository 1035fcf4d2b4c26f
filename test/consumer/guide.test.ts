import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseEvent } from '../../consumer/index.ts';

const docs = join(import.meta.dirname, '../../docs');
const guide = readFileSync(join(docs, 'subscribing.md'), 'utf8');

const examples = new Map(
  readdirSync(join(docs, 'events/examples')).map((name) => [
    name.replace(/\.json$/, ''),
    JSON.parse(readFileSync(join(docs, 'events/examples', name), 'utf8')),
  ]),
);
const typed = z.looseObject({ type: z.string() });
const eventsInTheGuide = [...guide.matchAll(/```json\n(.*?)```/gs)]
  .map(([, json = '']) => typed.safeParse(JSON.parse(json)).data)
  .filter((block) => block !== undefined);

describe('docs/subscribing.md', () => {
  it('shows an event of each type, equal to the published examples', () => {
    expect(eventsInTheGuide.map(({ type }) => type).sort()).toEqual([...examples.keys()].sort());
    for (const shown of eventsInTheGuide) expect(examples.get(shown.type)).toMatchObject(shown);
  });

  it('shows one event in full', () => {
    expect(eventsInTheGuide).toContainEqual(examples.get('certification.created'));
  });

  it('has links with existing targets', () => {
    const anchors = new Set(
      [...guide.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replace(/[^\w\s-]/g, '')
          .replaceAll(' ', '-'),
      ),
    );
    const broken = [...guide.matchAll(/\]\(([^)]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !link.startsWith('https:'))
      .filter((link) =>
        link.startsWith('#')
          ? !anchors.has(link.slice(1))
          : !existsSync(join(docs, link.replace(/#.*$/, ''))),
      );
    expect(broken).toEqual([]);
  });
});

describe('the published examples', () => {
  it.each([...examples])('%s is parsed as its type', (type, example) => {
    expect(parseEvent(JSON.stringify(example))).toEqual(example);
    expect(example.type).toBe(type);
  });
});
