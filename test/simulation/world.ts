import type { Temporal } from 'temporal-polyfill';
import type { DayRange } from '../../lambda/detection/days.ts';
import type { Assessment, ResultPart } from '../../lambda/events/assessment.ts';
import type { Note } from './coverage.ts';
import type { Random } from './random.ts';

const firstNames = ['Ada', 'Bo', 'Cleo', 'Dov', 'Edda', 'Fay', 'Gus', 'Hana', 'Iñaki', 'Jo'];
const lastNames = ['Ash', 'Birch', 'Cedar', 'Dogwood', 'Elm', 'Fir', 'Gorse', 'Hazel', 'Ivy'];
const products = ['CPR', 'First Aid', 'Rope Bridge Safety'];

export interface Entry {
  assessment: Assessment;
  archived: boolean;
  legacy: boolean;
  malformed: boolean;
}

/** What there is at the partner, what happens to it, and what it has been: the truth. */
export class World {
  readonly #random: Random;
  readonly #today: () => Temporal.PlainDate;
  readonly #note: Note;
  readonly entries = new Map<number, Entry>();
  readonly gone = new Map<number, Entry>();
  /** Things that have happened so far. */
  moment = 0;
  readonly births = new Map<number, { readonly moment: number; readonly day: string }>();
  /** When something has last happened to a record. */
  readonly touchedAt = new Map<number, number>();
  /** When a record was first anything but edited: a read meanwhile may have missed it. */
  readonly disturbedAt = new Map<number, number>();
  /** When a record came to be as it is here: which of two sights is the newer one. */
  readonly versions = new WeakMap<Assessment, number>();
  /** What a tick has just told of: things happen to these more often than to others. */
  readonly inFocus: number[] = [];
  #nextId = 1;

  constructor(random: Random, today: () => Temporal.PlainDate, note: Note) {
    this.#random = random;
    this.#today = today;
    this.#note = note;
  }

  /** Something happens. */
  happen(): void {
    const random = this.#random;
    this.moment += 1;
    const kind = random.below(12);
    const focus = random.chance(0.2) ? this.entries.get(random.pick(this.inFocus) ?? 0) : undefined;
    const entry = focus ?? random.pick([...this.entries.values()]);
    if (kind < 3 || entry === undefined) this.create();
    else if (kind === 3) this.restore();
    else this.#alter(entry, kind);
  }

  #alter(entry: Entry, kind: number): void {
    const random = this.#random;
    const { last_name, results } = entry.assessment;
    if (kind <= 5) this.edit(entry, { email: `n${random.below(1e6)}@example.org` });
    else if (kind === 6) {
      const first_name = random.pick(firstNames) ?? '';
      this.edit(entry, { first_name, name: `${first_name} ${last_name}` });
      this.#disturb(entry.assessment.id, 'renamed');
    } else if (kind === 7) {
      this.edit(entry, { results: results.toReversed() });
      this.#note('parts in another order');
    } else if (kind === 8) this.move(entry, this.someDay());
    else if (kind === 9) this.remove(entry.assessment.id);
    else if (kind === 10) this.#archive(entry);
    else this.#spoil(entry);
  }

  /** Records of these days that could be read. */
  readable({ from, to }: DayRange): ReadonlySet<number> {
    const [first, last] = [from?.toString() ?? '', to?.toString() ?? '~'];
    const within = [...this.entries.values()].filter(
      ({ assessment: { certified_on }, malformed }) =>
        !malformed && certified_on >= first && certified_on <= last,
    );
    return new Set(within.map(({ assessment }) => assessment.id));
  }

  create(day = this.someDay()): number {
    const random = this.#random;
    const id = this.#nextId++;
    const first_name = random.pick(firstNames) ?? '';
    const last_name = random.pick(lastNames) ?? '';
    const assessment_name = random.pick(products) ?? '';
    const part = (assessment_id: number): ResultPart => ({
      assessment_id,
      assessment_name,
      certified_on: day,
      proctor_id: 1,
      proctor_name: `Proctor ${random.below(3)}`,
    });
    const assessment: Assessment = {
      id,
      seid: random.chance(0.2) ? null : `S${id}`,
      name: `${first_name} ${last_name}`,
      first_name,
      last_name,
      email: `${id}@example.org`,
      organization_id: 1 + random.below(4),
      organization_name: 'Somewhere',
      assessment_name,
      certified_on: day,
      results: random.chance(0.3) ? [part(id * 10 + 1), part(id * 10 + 2)] : [part(id)],
    };
    this.entries.set(id, {
      archived: random.chance(0.2),
      legacy: random.chance(0.2),
      malformed: false,
      assessment,
    });
    this.births.set(id, { moment: this.moment, day });
    this.touchedAt.set(id, this.moment);
    this.versions.set(assessment, this.moment);
    if (this.moment > 0) {
      this.#note('born');
      const today = this.#today().toString();
      if (day > today) this.#note('dated tomorrow');
      if (day < this.#today().subtract({ days: 3 }).toString()) this.#note('backdated');
    }
    return id;
  }

  edit(entry: Entry, changes: Partial<Assessment>): void {
    entry.assessment = { ...entry.assessment, ...changes };
    this.#touch(entry.assessment.id, 'edited');
    this.versions.set(entry.assessment, this.moment);
  }

  move(entry: Entry, certified_on: string): void {
    if (certified_on === entry.assessment.certified_on) return;
    this.edit(entry, { certified_on });
    this.#disturb(entry.assessment.id, 'moved');
  }

  remove(id: number): void {
    const entry = this.entries.get(id);
    if (entry === undefined) return;
    this.entries.delete(id);
    this.gone.set(id, entry);
    this.#disturb(id, 'removed');
  }

  restore(id = this.#random.pick([...this.gone.keys()])): void {
    const entry = id === undefined ? undefined : this.gone.get(id);
    if (id === undefined || entry === undefined) return;
    this.gone.delete(id);
    this.entries.set(id, entry);
    this.#touch(id, 'restored');
  }

  /** Many go away at once. */
  exodus(share: number): number[] {
    this.moment += 1;
    const leaving = [...this.entries.keys()].filter(() => this.#random.chance(share));
    for (const id of leaving) this.remove(id);
    return leaving;
  }

  /** All that went away are back. */
  homecoming(): void {
    this.moment += 1;
    for (const id of [...this.gone.keys()]) this.restore(id);
  }

  /** Every record can be read again. */
  mend(): void {
    this.moment += 1;
    for (const entry of this.entries.values())
      if (entry.malformed) {
        entry.malformed = false;
        this.#touch(entry.assessment.id, 'mended');
      }
    for (const entry of this.gone.values()) entry.malformed = false;
  }

  someDay(): string {
    const random = this.#random;
    const span = random.chance(0.6) ? 3 : random.chance(0.5) ? 40 : 1_500;
    return this.#today()
      .subtract({ days: random.below(span) - 1 })
      .toString();
  }

  #archive(entry: Entry): void {
    entry.archived = !entry.archived;
    this.#disturb(entry.assessment.id, entry.archived ? 'archived' : 'taken from the archive');
  }

  #spoil(entry: Entry): void {
    entry.malformed = !entry.malformed;
    this.#disturb(entry.assessment.id, entry.malformed ? 'malformed' : 'mended');
  }

  #disturb(id: number, what: string): void {
    if (!this.disturbedAt.has(id)) this.disturbedAt.set(id, this.moment);
    this.#touch(id, what);
  }

  #touch(id: number, what: string): void {
    this.touchedAt.set(id, this.moment);
    this.#note(what);
  }
}
