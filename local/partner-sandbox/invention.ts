import type { Educator, Organization, Proctor, Product } from './catalogue.ts';
import type { Random } from './random.ts';

/** Names that are separated by commas. */
const names = (text: string) => text.trim().split(/,\s+/);

// Surnames that nobody has: things from a classroom, or the words for "example" and "sample".
const givenNames = names(`
  Ada, Amara, Basil, Bento, Cleo, Dara, Edda, Elio, Fenn, Greer, Hollis, Imani, Indigo, Juniper,
  Kai, Lark, Marlow, Nell, Odell, Perpetua, Quill, Rowan, Sage, Tamsin, Umber, Verity, Wren,
  Xavi, Yarrow, Zephyr, Blythe, Zoë, José, Renée, Jürgen, Søren, Siân, Łucja, Šárka, Íñigo,
  Anaïs, D'Arcy, Ka'imi, Mary Jo, Jean-Luc, Nguyệt, Ayşe, Ólöf, Çelik, Béla
`);
const surnames = names(`
  Quillfeather, Inkwell, Chalkley, Slateworth, Pencilton, Bookbinder-Moss, Margin, Foolscap,
  Blackboard, Lecternby, Atlasworth, Satchell-Strap, Deskly, O'Inkpot, O'Ledger, D'Abacus,
  N'Eraser, Van der Globe, de la Regla, McProtractor, Beispielmann, Überschrift, Müsterling,
  Ejemplón, Exempleté, Exemplário, Příkladová, Przykładzka, Példaházy, Örnekoğlu, Dæmisøn,
  Exempelström, Pavyzdys, Mẫuvăn, Homework, Recess, Syllabus, Quadrille, Thumbtack, Paperclip,
  Bellringer, Rubric, Semester, Glossary, Footnote, Colophon, Parchment, Vellum, Stylus,
  Compasse
`);
/** Given name, surname, and whether the display name begins with the surname. */
const otherScripts: readonly (readonly [string, string, boolean])[] = [
  ['花子', '例山', true],
  ['太郎', '見本', true],
  ['小明', '范例', true],
  ['철수', '보기', true],
  ['Ирина', 'Примерова', false],
  ['Олесь', 'Зразковий', false],
  ['Ελένη', 'Παραδειγματάκη', false],
  ['ليلى', 'المثال', false],
  ['דנה', 'דוגמאי', false],
  ['अनिता', 'उदाहरणी', false],
];
const places = names(`
  Mossbridge, Larkfield, Copper Hollow, Tern Bay, Quartz Hill, Juniper Flats, Old Weir,
  Saint Nowhere, Halfmoon, Miller's Rest, Cañada Verde, Prairie du Conte, Lantern Cove, Windmere
`);
const kinds = ['Unified School District', 'Elementary School', 'Charter Academy', 'Public Schools'];

const catalogueOfProducts: readonly (readonly [string, readonly string[]])[] = [
  ['Early Literacy Observation', []],
  ['Classroom Interaction Certification', ['Observation', 'Scoring', 'Feedback Conference']],
  ['Mathematics Coaching, Grades 3–5', []],
  ['Reading Intervention Specialist', ['Phonics Screening', 'Fluency Measure']],
  ['Évaluation bilingue', ['Compréhension', 'Expression']],
  ['Science Laboratory Safety', []],
  ['Special Education Portfolio', ['Portfolio', 'Interview', 'Law & Ethics', 'Practicum']],
  ['Digital Classroom Basics', []],
  ['Mentor Teacher (Legacy)', []],
  ['Out-of-Scope Pilot', []],
];

export function inventOrganizations(): Organization[] {
  return places.map((place, index) => ({
    id: 301 + index * 7,
    name: `${place} ${kinds[index % kinds.length]}`,
  }));
}

export function inventProducts(): Product[] {
  return catalogueOfProducts.map(([name, parts], index) => ({ id: 11 + index * 3, name, parts }));
}

export interface Person {
  readonly first_name: string;
  readonly last_name: string;
  readonly name: string;
}

function inventPerson(random: Random): Person {
  if (random.chance(0.04)) {
    const [first, last, surnameFirst] = random.pick(otherScripts);
    return {
      first_name: first,
      last_name: last,
      name: surnameFirst ? `${last} ${first}` : `${first} ${last}`,
    };
  }
  const first = random.pick(givenNames);
  const last = random.chance(0.6)
    ? random.pick(surnames)
    : `${random.pick(surnames)}-${random.pick(surnames)}`;
  return { first_name: first, last_name: last, name: `${first} ${last}` };
}

function slug(text: string): string {
  return text
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z]+/g, '');
}

/** @returns an address in a domain that is reserved for examples (RFC 2606). */
export function inventEmail(person: Person, id: number): string {
  return `${slug(person.first_name) || 'educator'}.${id}@example.org`;
}

export function inventEducator(random: Random, id: number, organization: number): Educator {
  const person = inventPerson(random);
  return {
    id,
    ...person,
    seid: random.chance(0.15) ? null : `XX${String(1_000_000 + id)}`,
    email: inventEmail(person, id),
    archived: random.chance(0.08),
    organization_id: organization,
  };
}

export function inventProctor(random: Random, id: number): Proctor {
  return { id, name: inventPerson(random).name };
}
