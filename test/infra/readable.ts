import { Document, visit } from 'yaml';
import { at, type Json } from './synthesized.ts';

/** The end of names that are made of a path in the tree of constructs. */
const madeUp = /(?<=[a-z-])[0-9a-f]{8}(?=(\.fifo)?$)/gim;
/** A list or an object that is not longer stands in one line. */
const lineWidth = 140;

/**
 * A template in a readable form that is stable while its meaning is. References are as in
 * `Fn::Sub`, JSON in strings is unfolded, the CDK's own hashes are removed, and of an alarm's
 * description there is the first line: the others are those of docs/operations.md.
 *
 * @throws Error when two resources could not be told apart without the hashes
 */
export function readable({ Resources, Outputs, Conditions }: Json): string {
  const document = new Document(opened({ Resources, Outputs, Conditions }), {
    aliasDuplicateObjects: false,
  });
  visit(document, {
    Collection: (_key, node) => {
      node.flow = JSON.stringify(node).length < lineWidth;
    },
  });
  const text = document.toString({ lineWidth: 0 });
  const ids = [Resources, Conditions].flatMap((section) => Object.keys(Object(section)));
  const withoutHash = ids.map((id) => id.replace(/[0-9A-F]{8}$/, ''));
  if (new Set(withoutHash).size < ids.length) throw new Error('two resources look the same');
  return ids
    .reduce((all, id, index) => all.replaceAll(id, withoutHash[index] ?? id), text)
    .replaceAll(madeUp, '');
}

function opened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(opened);
  if (typeof value === 'string') return json(value);
  if (typeof value !== 'object' || value === null) return value;
  const text = substituted(value);
  if (text !== undefined) return json(text);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      // An asset is stored under the hash of its contents.
      if (key === 'S3Key') return [key, 'an asset'];
      if (key === 'AlarmDescription') return [key, String(inner).split('\n')[0]];
      return [key, opened(inner)];
    }),
  );
}

/** `Ref`, `Fn::GetAtt` and `Fn::Join`, which are always alone in their object. */
function substituted(value: object): string | undefined {
  const ref = at(value, 'Ref');
  if (typeof ref === 'string') return `\${${ref}}`;
  const attribute = at(value, 'Fn::GetAtt');
  if (Array.isArray(attribute)) return `\${${attribute.join('.')}}`;
  const join = at(value, 'Fn::Join');
  if (!Array.isArray(join)) return undefined;
  const [separator, parts] = join;
  if (!Array.isArray(parts)) return undefined;
  return parts.map(textOf).join(String(separator));
}

/** In a text, conditions are as JavaScript writes them. */
function textOf(part: unknown): string | undefined {
  if (typeof part === 'string') return part;
  const choice = at(part, 'Fn::If');
  if (!Array.isArray(choice)) return substituted(Object(part));
  const [condition, yes, no] = choice;
  return `\${${condition} ? ${textOf(yes)} : ${textOf(no)}}`;
}

const json = (text: string): unknown => (/^\{"/.test(text) ? JSON.parse(text) : text);
