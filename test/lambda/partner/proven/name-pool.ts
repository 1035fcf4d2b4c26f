import type { Random } from './random.ts';

/** Invented names with the frequencies of real ones. */
export interface PoolShape {
  readonly firsts: number;
  readonly lasts: number;
  /** 0: all names are equally frequent; 1: the second is half as frequent as the first. */
  readonly skew: number;
  /** Share of the people with the one very common first name, and last name. */
  readonly common?: number;
}

const ONSETS = 'b d f g h k l m n p r s t v z br st'.split(' ');
const VOWELS = ['a', 'e', 'i', 'o', 'u', 'é', 'ai', 'ou'];

export class NamePool {
  readonly #firsts: readonly string[];
  readonly #lasts: readonly string[];
  readonly #shape: PoolShape;

  constructor(random: Random, shape: PoolShape) {
    this.#shape = shape;
    this.#firsts = invent(random, shape.firsts, 2);
    this.#lasts = invent(random, shape.lasts, 3);
  }

  person(random: Random): { first: string; last: string } {
    return { first: this.#one(random, this.#firsts), last: this.#one(random, this.#lasts) };
  }

  #one(random: Random, names: readonly string[]): string {
    const { skew, common = 0 } = this.#shape;
    const [mostCommon = ''] = names;
    if (random.next() < common) return mostCommon;
    if (skew === 0) return random.pick(names);
    // This inverts the continuous form of Zipf's law. The 4 limits the share of the first name.
    const power = 1 - skew;
    const low = 4 ** power;
    const high = (names.length + 4) ** power;
    const rank = (low + random.next() * (high - low)) ** (1 / power) - 4;
    return names[Math.min(names.length - 1, Math.floor(rank))] ?? mostCommon;
  }
}

function invent(random: Random, many: number, syllables: number): string[] {
  const names = new Set<string>();
  while (names.size < many) {
    let name = '';
    for (let index = 0; index < syllables; index++)
      name += random.pick(ONSETS) + random.pick(VOWELS);
    if (random.next() < 0.2) name += 'n';
    const capital = name.charAt(0).toUpperCase() + name.slice(1);
    names.add(random.next() < 0.03 ? `O'${capital}` : capital);
  }
  return [...names];
}
