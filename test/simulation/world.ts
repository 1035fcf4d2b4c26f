import type { DayRange } from '../../lambda/decisions/days.ts';
import type { Assessment, ResultPart } from '../../lambda/events/assessment.ts';
import type { HostRecord } from '../scaffold/listing.ts';
import { Part } from './part.ts';
import { Random } from './random.ts';

const firstNames = [
  ...['Ada', 'Bo', 'Cleo', 'Dov', 'Edda', 'Fay', 'Gus', 'Hana', 'Iñaki', 'Jo'],
] as const;
const lastNames = [
  ...['Ash', 'Birch', 'Cedar', 'Dogwood', 'Elm', 'Fir', 'Gorse', 'Hazel', 'Ivy'],
] as const;
const products = ['CPR', 'First Aid', 'Rope Bridge Safety'] as const;

type Damage = Readonly<Record<string, unknown>>;

/**
 * The damage of a malformed record. A damaged day hides the day on which it is missing. A damaged
 * id makes its day count an unknown row beside the certification.
 */
const damages: readonly [Damage, ...Damage[]] = [
  { certified_on: null },
  { certified_on: 'soon' },
  { certified_on: 7, email: null },
  { id: null },
];

/** A row that is too large alone. */
const huge: Damage = { remarks: 'as long as 3 MiB' };
const hugeBytes = 3 * 1024 * 1024;

/** As a reader gets an odd field: text for a number, else null for another type, and absent is absent. */
type Read = string | null | undefined;
type OddField = readonly [field: keyof Assessment, served: unknown, read: Read];
type OddPart = readonly [of: 'results', field: keyof ResultPart, served: unknown, read: Read];

/** Served where a text is documented. */
export const numberAsText = 7;

const oddities: readonly [OddField, ...(OddField | OddPart)[]] = [
  ['email', null, null],
  ['email', undefined, undefined],
  ['email', numberAsText, `${numberAsText}`],
  ['name', null, null],
  ['first_name', undefined, undefined],
  ['last_name', ['Ash'], null],
  ['organization_name', null, null],
  ['organization_id', '7', null],
  ['organization_id', undefined, null],
  ['assessment_name', { of: 'another type' }, null],
  ['seid', numberAsText, `${numberAsText}`],
  ['results', null, null],
  ['results', 'none', null],
  ['results', 'proctor_name', null, null],
  ['results', 'proctor_id', 'one', null],
  ['results', 'certified_on', undefined, undefined],
  ['results', 'certified_on', 'soon', null],
];

/** An odd field as it is served, and as it is announced. */
function asOdd(
  oddity: OddField | OddPart,
  { results }: Assessment,
): { readonly served: Readonly<Record<string, unknown>>; readonly read: Partial<Assessment> } {
  if (oddity.length === 4) {
    const [, field, served, read] = oddity;
    return {
      served: { results: results?.map((part) => ({ ...part, [field]: served })) },
      read: { results: results?.map((part) => ({ ...part, [field]: read })) },
    };
  }
  const [field, served, read] = oddity;
  return { served: { [field]: served }, read: { [field]: read } };
}

/** The field with the version of a record. */
const stamp = 'stamp';

/** The version of a sighted record; undefined if it is not of this world. */
export function stampOf(sight: Assessment): number | undefined {
  const value = sight[stamp];
  return typeof value === 'number' ? value : undefined;
}

/** The truth: the records at the partner, their changes, and their past. */
export class World extends Part {
  #random = Random.of(this.life.seed, 'world');
  readonly gone = new Map<number, HostRecord>();
  /** The number of events so far. */
  moment = 0;
  readonly births = new Map<number, { readonly moment: number; readonly day: string }>();
  /** The moment of a record's last change. */
  readonly touchedAt = new Map<number, number>();
  /** The number of a record's changes. */
  readonly touches = new Map<number, number>();
  /**
   * The moment when a record was first changed other than by an edit: a read meanwhile may have
   * missed it.
   */
  readonly disturbedAt = new Map<number, number>();
  /** The times of a record's last change and of its return, in milliseconds since the epoch. */
  readonly #touchedMs = new Map<number, number>();
  readonly #backMs = new Map<number, number>();
  /** Records that a tick has just announced: events occur to these more often than to others. */
  readonly inFocus: number[] = [];
  #nextId = 1;
  /** Nothing else depends on the number of its draws. */
  readonly #oddRandom = Random.of(this.life.seed, 'odd fields');
  readonly #educators = Random.of(this.life.seed, 'educators');
  /** The documented values of a record's odd fields. */
  readonly #before = new Map<number, Partial<Assessment>>();

  get entries(): ReadonlyMap<number, HostRecord> {
    return this.life.partner.records;
  }

  get #nowMs(): number {
    return this.life.timeline.nowMs;
  }

  /** Later changes do not depend on the number of earlier ones. */
  turn(when: string): void {
    this.#random = Random.of(this.life.seed, `world in ${when}`);
  }

  /** One event. */
  happen(): void {
    const random = this.#random;
    const { oddness, reassigned } = this.life.plan;
    this.moment += 1;
    const kind = random.below(12);
    const focus = random.chance(0.2) ? this.entries.get(random.pick(this.inFocus) ?? 0) : undefined;
    const entry = focus ?? random.pick([...this.entries.values()]);
    if (kind < 3 || entry === undefined) this.create();
    else if (kind === 3) this.restore();
    else this.#alter(entry, kind);
    const odd = this.#oddRandom.chance(oddness)
      ? this.#oddRandom.pick([...this.entries.values()])
      : undefined;
    if (odd !== undefined) this.#spoilOrMendField(odd);
    if (this.#educators.chance(reassigned))
      this.#reassign(this.#educators.pick([...this.entries.keys()]));
  }

  /** The same id, and another educator. */
  #reassign(id: number | undefined): void {
    if (id === undefined) return;
    const named = someName(this.#educators);
    const number = this.#educators.below(1e6);
    this.edit(id, { ...named, seid: `T${number}`, email: `t${number}@example.org` });
    this.#disturb(id, 'another educator');
  }

  /** A field becomes odd, or is documented again. The record is announced all the same. */
  #spoilOrMendField(entry: HostRecord): void {
    const { assessment } = entry;
    const { id } = assessment;
    const before = this.#before.get(id);
    if (before !== undefined) {
      this.#before.delete(id);
      this.edit(id, before);
      this.#disturb(id, 'as documented again');
      return;
    }
    const { served, read } = asOdd(this.#oddRandom.pick(oddities), assessment);
    const fields = Object.entries(assessment).filter(([field]) => Object.hasOwn(read, field));
    this.#before.set(id, Object.fromEntries(fields));
    this.edit(id, read);
    const edited = this.entries.get(id);
    if (edited !== undefined)
      this.life.partner.put({ ...edited, odd: { ...edited.odd, ...served } });
    this.#disturb(id, 'odd field');
  }

  #alter(entry: HostRecord, kind: number): void {
    const random = this.#random;
    const { id, last_name, results } = entry.assessment;
    if (kind <= 5) this.edit(id, { email: `n${random.below(1e6)}@example.org` });
    else if (kind === 6) {
      const first_name = random.pick(firstNames);
      this.edit(id, { first_name, name: `${first_name} ${last_name}` });
      this.#disturb(id, 'renamed');
    } else if (kind === 7) {
      this.edit(id, { results: results?.toReversed() });
      this.life.note('parts in another order', id);
    } else if (kind === 8) this.move(id, this.someDay());
    else if (kind === 9) this.remove(id);
    else if (kind === 10) this.#archive(entry);
    else this.#spoil(entry);
  }

  /** Readable records of these days. */
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
    const { note, partner, timeline } = this.life;
    const id = this.#nextId++;
    const named = someName(random);
    const assessment_name = random.pick(products);
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
      ...named,
      email: `${id}@example.org`,
      organization_id: 1 + random.below(4),
      organization_name: 'Somewhere',
      assessment_name,
      certified_on: day,
      results: random.chance(0.3) ? [part(id * 10 + 1), part(id * 10 + 2)] : [part(id)],
    };
    const [archived, legacy] = [random.chance(0.2), random.chance(0.2)];
    partner.put({ archived, legacy, malformed: false, assessment: this.#stamped(assessment) });
    this.births.set(id, { moment: this.moment, day });
    this.#touchedMs.set(id, this.#nowMs);
    this.touchedAt.set(id, this.moment);
    if (this.moment === 0) return id;
    note('born', id);
    const today = timeline.today();
    if (day > today.toString()) note('dated tomorrow');
    if (day < today.subtract({ days: 3 }).toString()) note('backdated');
    return id;
  }

  edit(id: number, changes: Partial<Assessment>): void {
    const entry = this.entries.get(id);
    if (entry === undefined) return;
    const assessment = this.#stamped({ ...entry.assessment, ...changes });
    const odd = Object.entries(entry.odd ?? {}).filter(([field]) => !(field in changes));
    this.life.partner.put({ ...entry, assessment, odd: Object.fromEntries(odd) });
    this.#touch(id, 'edited');
  }

  move(id: number, certified_on: string): void {
    if (certified_on === this.entries.get(id)?.assessment.certified_on) return;
    this.edit(id, { certified_on });
    this.#disturb(id, 'moved');
  }

  remove(id: number): void {
    const entry = this.entries.get(id);
    if (entry === undefined) return;
    this.life.partner.remove(id);
    this.gone.set(id, entry);
    this.#disturb(id, 'removed');
  }

  restore(id = this.#random.pick([...this.gone.keys()])): void {
    const entry = id === undefined ? undefined : this.gone.get(id);
    if (id === undefined || entry === undefined) return;
    this.gone.delete(id);
    this.life.partner.put(entry);
    this.#backMs.set(id, this.#nowMs);
    this.#touch(id, 'restored');
  }

  /** It returned so recently that its withdrawal may still be announced. */
  isJustBack(id: number, withinMs: number): boolean {
    return this.#nowMs - (this.#backMs.get(id) ?? Number.NEGATIVE_INFINITY) < withinMs;
  }

  /** It was unchanged for so long. */
  hasStood(id: number, ms: number): boolean {
    return this.#nowMs - (this.#touchedMs.get(id) ?? 0) >= ms;
  }

  /**
   * The version of a record, in an undocumented field: it is passed on and not compared, and tells
   * which of two sights is newer.
   */
  #stamped(assessment: Assessment): Assessment {
    return { ...assessment, [stamp]: this.moment };
  }

  /** Many records disappear at once. */
  exodus(share: number): number[] {
    this.moment += 1;
    const leaving = [...this.entries.keys()].filter(() => this.#random.chance(share));
    for (const id of leaving) this.remove(id);
    return leaving;
  }

  /** All removed records return. */
  homecoming(): void {
    this.moment += 1;
    for (const id of [...this.gone.keys()]) this.restore(id);
  }

  /** No row is too large any more. */
  shorten(): void {
    this.mend(({ assessment: { id } }) => this.life.partner.weights.has(id));
  }

  /** Each record can be read again, or some can. */
  mend(isMended: (entry: HostRecord) => boolean = () => true): void {
    const { partner } = this.life;
    this.moment += 1;
    for (const [id, entry] of this.entries)
      if (entry.malformed && isMended(entry)) {
        partner.put({ ...entry, malformed: false });
        partner.weights.delete(id);
        this.#touch(id, 'mended');
      }
    for (const [id, entry] of this.gone) {
      if (!isMended(entry)) continue;
      this.gone.set(id, { ...entry, malformed: false });
      partner.weights.delete(id);
    }
  }

  someDay(): string {
    const random = this.#random;
    const days = random.chance(0.6) ? 3 : random.chance(0.5) ? 40 : 1_500;
    const ago = random.below(days) - 1;
    return this.life.timeline.today().subtract({ days: ago }).toString();
  }

  #archive(entry: HostRecord): void {
    const archived = !entry.archived;
    this.life.partner.put({ ...entry, archived });
    this.#disturb(entry.assessment.id, archived ? 'archived' : 'taken from the archive');
  }

  #spoil(entry: HostRecord): void {
    const { id } = entry.assessment;
    const { plan, partner } = this.life;
    const isHuge = plan.huge > 0 && this.#random.chance(0.5);
    const damage = isHuge ? huge : this.#random.pick(damages);
    const malformed = entry.malformed ? false : damage;
    partner.put({ ...entry, malformed });
    if (malformed === huge) partner.weights.set(id, hugeBytes);
    else partner.weights.delete(id);
    this.#disturb(id, malformed === huge ? 'too large' : malformed ? 'malformed' : 'mended');
  }

  #disturb(id: number, what: string): void {
    if (!this.disturbedAt.has(id)) this.disturbedAt.set(id, this.moment);
    this.#touch(id, what);
  }

  #touch(id: number, what: string): void {
    this.touchedAt.set(id, this.moment);
    this.touches.set(id, 1 + (this.touches.get(id) ?? 0));
    this.#touchedMs.set(id, this.#nowMs);
    this.life.note(what, id);
  }
}

function someName(random: Random) {
  const first_name = random.pick(firstNames);
  const last_name = random.pick(lastNames);
  return { name: `${first_name} ${last_name}`, first_name, last_name };
}
