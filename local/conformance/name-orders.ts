import type { DocumentedRecord } from '../documented-record.ts';

/** A possible key of a sort by name. The document does not define the key. */
interface NameOrder {
  readonly title: string;
  readonly compare: (one: DocumentedRecord, other: DocumentedRecord) => number;
}

type TextOf = (record: DocumentedRecord) => string;

const { compare: byCollation } = new Intl.Collator('en');
const { compare: byLetters } = new Intl.Collator('en', { ignorePunctuation: true });
const byCode = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

const collations: readonly (readonly [string, (one: string, other: string) => number])[] = [
  ['in English collation', byCollation],
  ['in English collation without punctuation', byLetters],
  ['by code point', byCode],
  ['by code point of lower case', (one, other) => byCode(one.toLowerCase(), other.toLowerCase())],
];

function ordersOf(texts: Readonly<Record<string, readonly TextOf[]>>): NameOrder[] {
  return Object.entries(texts).flatMap(([name, keys]) =>
    collations.map(([collation, compare]) => ({
      title: `${name} ${collation}`,
      compare: (one: DocumentedRecord, other: DocumentedRecord) => {
        for (const key of keys) {
          const difference = compare(key(one), key(other));
          if (difference !== 0) return difference;
        }
        return 0;
      },
    })),
  );
}

const proctors = ({ results }: DocumentedRecord) => results.map(({ proctor_name }) => proctor_name);
const sortedProctors = (record: DocumentedRecord) => proctors(record).sort(byCollation);

/** A sort key of docs/partner.md, 4.2, other than the date. */
export type NameSort = 'user_name' | 'proctor_name' | 'product_name';

export const nameOrders: Readonly<Record<NameSort, readonly NameOrder[]>> = {
  user_name: ordersOf({
    name: [({ name }) => name],
    last_name: [({ last_name }) => last_name],
    'last_name, then first_name': [({ last_name }) => last_name, ({ first_name }) => first_name],
    first_name: [({ first_name }) => first_name],
    'first_name, then last_name': [({ first_name }) => first_name, ({ last_name }) => last_name],
  }),
  proctor_name: ordersOf({
    'the first proctor': [(record) => proctors(record)[0] ?? ''],
    'the last proctor': [(record) => proctors(record).at(-1) ?? ''],
    'the least proctor': [(record) => sortedProctors(record)[0] ?? ''],
    'the greatest proctor': [(record) => sortedProctors(record).at(-1) ?? ''],
  }),
  product_name: ordersOf({ assessment_name: [({ assessment_name }) => assessment_name] }),
};

/** How well an order explains a sequence of rows. */
export interface Fit {
  readonly title: string;
  /** The number of neighbours with different keys. */
  readonly unequal: number;
  /** The number of these in the wrong order. */
  readonly wrong: number;
}

/** The fit of each order, the best first. */
export function fitsOf(
  records: readonly DocumentedRecord[],
  sort: NameSort,
  order: 'ASC' | 'DESC',
): readonly Fit[] {
  const direction = order === 'ASC' ? 1 : -1;
  return nameOrders[sort]
    .map(({ title, compare }) => {
      let unequal = 0;
      let wrong = 0;
      for (const [index, record] of records.entries()) {
        const next = records[index + 1];
        const difference = next === undefined ? 0 : direction * compare(record, next);
        if (difference !== 0) unequal++;
        if (difference > 0) wrong++;
      }
      return { title, unequal, wrong };
    })
    .sort((one, other) => share(one) - share(other));
}

export function share({ unequal, wrong }: Fit): number {
  return unequal === 0 ? 0 : wrong / unequal;
}
