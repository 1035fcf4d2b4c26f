import type { DocumentedRecord } from '../../documented-record.ts';
import type { ConformanceCheck } from '../check.ts';
import { narrowsTo } from '../comparing.ts';
import type { Samples } from '../samples.ts';
import { type CheckVerdict, cannotTell, firstTrouble } from '../verdict.ts';

/** As tolerant as any collation: without case, accents and marks. */
function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

function holds(record: DocumentedRecord, ...words: readonly string[]): boolean {
  const { assessment_name, name, first_name, last_name, results } = record;
  const texts = [
    ...[assessment_name, name, first_name, last_name],
    ...results.map((part) => part.assessment_name),
  ];
  return words.every((word) => texts.some((text) => folded(text).includes(folded(word))));
}

/** A word that is long enough to search for, of letters whose case every database can change. */
const plainWord = /^[A-Za-z]{4,}$/;

/** A part that does not begin the word, in the other case. */
function middleOf(word: string): string {
  return word.slice(1).toUpperCase();
}

async function findsPart(
  samples: Samples,
  field: 'assessment_name' | 'first_name' | 'last_name',
): Promise<CheckVerdict> {
  for (const record of await samples.records()) {
    const word = record[field].split(/\s+/).find((part) => plainWord.test(part));
    if (word === undefined) continue;
    const part = middleOf(word);
    return await narrowsTo(
      samples,
      { 'filter[search]': part },
      (other) => holds(other, part),
      `records with that part of a ${field} in another case`,
    );
  }
  return cannotTell(`no record that was seen has a ${field} of plain letters`);
}

async function findsTwoWords(samples: Samples): Promise<CheckVerdict> {
  const person = (await samples.records()).find(
    ({ first_name, last_name }) => plainWord.test(first_name) && plainWord.test(last_name),
  );
  if (person === undefined) return cannotTell('no name that was seen is of two plain words');
  const { first_name, last_name } = person;
  return await narrowsTo(
    samples,
    { 'filter[search]': `${first_name} ${last_name}` },
    (other) => holds(other, first_name, last_name),
    'records of that first and last name',
  );
}

export const searchChecks: readonly ConformanceCheck[] = [
  {
    name: 'search finds part of an assessment name or a name, in any case',
    run: async (samples) =>
      firstTrouble([
        await findsPart(samples, 'assessment_name'),
        await findsPart(samples, 'first_name'),
        await findsPart(samples, 'last_name'),
      ]),
  },
  { name: 'two words are also a first name, then a last name', run: findsTwoWords },
];
