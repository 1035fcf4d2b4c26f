import type { DocumentedRecord } from '../documented-record.ts';

type TextOf = (record: DocumentedRecord) => string;
type Compare<T> = (one: T, other: T) => number;

const byCollation = new Intl.Collator('en').compare;
const byCode: Compare<string> = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

const collations: Readonly<Record<string, Compare<string>>> = {
  'in English collation': byCollation,
  'in English collation without punctuation': new Intl.Collator('en', { ignorePunctuation: true })
    .compare,
  'by code point': byCode,
  'by code point of lower case': (one, other) => byCode(one.toLowerCase(), other.toLowerCase()),
};

/** A possible key of a sort by name. The document does not define the key. */
interface NameOrder {
  readonly title: string;
  readonly compare: Compare<DocumentedRecord>;
}

const ordersOf = (texts: Readonly<Record<string, readonly TextOf[]>>): readonly NameOrder[] =>
  Object.entries(texts).flatMap(([name, keys]) =>
    Object.entries(collations).map(([collation, compare]) => ({
      title: `${name} ${collation}`,
      compare: (one: DocumentedRecord, other: DocumentedRecord) =>
        keys.map((key) => compare(key(one), key(other))).find((way) => way !== 0) ?? 0,
    })),
  );

const nameOf: TextOf = ({ name }) => name;
const first: TextOf = ({ first_name }) => first_name;
const last: TextOf = ({ last_name }) => last_name;
const proctors = ({ results }: DocumentedRecord) => results.map(({ proctor_name }) => proctor_name);
const sorted = (record: DocumentedRecord) => proctors(record).sort(byCollation);

/** A sort key of docs/partner.md, 4.2, other than the date. */
export type NameSort = 'user_name' | 'proctor_name' | 'product_name';

export const nameOrders: Readonly<Record<NameSort, readonly NameOrder[]>> = {
  user_name: ordersOf({
    name: [nameOf],
    last_name: [last],
    'last_name, then first_name': [last, first],
    first_name: [first],
    'first_name, then last_name': [first, last],
  }),
  proctor_name: ordersOf({
    'the first proctor': [(record) => proctors(record)[0] ?? ''],
    'the last proctor': [(record) => proctors(record).at(-1) ?? ''],
    'the least proctor': [(record) => sorted(record)[0] ?? ''],
    'the greatest proctor': [(record) => sorted(record).at(-1) ?? ''],
  }),
  product_name: ordersOf({ assessment_name: [({ assessment_name }) => assessment_name] }),
};

export type Direction = 'ASC' | 'DESC';

/** How well an order explains a sequence: neighbours with different keys, and those of them in the wrong order. */
export function fitOf<T>(rows: readonly T[], compare: Compare<T>, direction: Direction) {
  const ways = rows.slice(1).map((next, index) => compare(rows[index] ?? next, next));
  const unequal = ways.filter((way) => way !== 0);
  const wrong = unequal.filter((way) => way > 0 === (direction === 'ASC')).length;
  return { unequal: unequal.length, wrong, share: wrong / (unequal.length || 1) };
}
