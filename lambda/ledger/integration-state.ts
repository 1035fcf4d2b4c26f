import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { type DayEntry, dayReads, proof } from '../decisions/calendar.ts';
import { conditionNames } from '../decisions/conditions.ts';
import { doubtedForMs, leaseAheadMs, longestLeaseMs } from '../decisions/lease.ts';
import { nothingMissing } from '../decisions/missing.ts';
import { type Lease, memory, noLease, type State, state as stateItem } from '../decisions/state.ts';
import { ledgerKeys } from '../names.ts';
import type { Ledger } from '../ports/ledger.ts';
import { writeEach } from '../write-each.ts';
import { underLease } from './held-lease.ts';
import { parse, renamed, schemaVersion } from './item.ts';
import type { Plain, Table, Update } from './table.ts';

const saltBytes = 16;

/** Each condition is a top-level attribute, so that overlapping ticks do not undo each other's. */
const conditionPrefix = 'condition:';

/**
 * The owner of the lease that left the marks of the page. A version that does not know these marks
 * leaves them in place, even if it changes rows. So they count only if the last holder left them.
 */
const agreedBy = 'agreed_by';

/** Each schema takes its own fields out of the changes. */
const stateChanges = z.partial(stateItem);
const memoryChanges = z.partial(memory);

/** The condition of a write under the lease of an item. */
const ours = 'lease_owner = :owner';
/**
 * decisions/lease.ts, `leaseSeen`: the lease is over. If it is ours already, the answer to this
 * write was lost, and the SDK has sent it again.
 */
const over =
  `attribute_not_exists(lease_owner) OR lease_until < :now OR ${ours} OR ` +
  'lease_taken_at < :longAgo OR lease_doubted_at <= :doubted';
/** Likewise: it is doubted, and no reader with a clock like ours has noted so. */
const doubtful =
  'lease_owner <> :owner AND (lease_taken_at > :soon OR lease_until > :furthest) AND ' +
  '(attribute_not_exists(lease_doubted_at) OR lease_doubted_at > :now)';

/**
 * One day of a month of the calendar: two numbers, and a map of the last read with the fields of
 * its proof.
 */
const dayItem = z.object({
  count: z._default(z.int(), 0),
  /** An attribute of its own, so that only a read with a look writes it. */
  missing: z.optional(z.int()),
  lastRead: z._default(z.extend(z.partial(proof), dayReads.shape), { readAt: 0 }),
});

const months = Array.from({ length: 12 }, (_, index) => String(index + 1).padStart(2, '0'));

/**
 * The state, the lease, and the calendar, with a month an item. Each write is of one item; under a
 * lease, its condition is that the lease is still ours. The state and the memory each have a lease:
 *
 *   taken       the state's, then the memory's: from then on, no earlier holder can write
 *   meanwhile   the state, then the memory: the time of the next look is stored before its reason
 *   given back  the memory, then the state with its lease
 */
export function integrationState(table: Table, integration: string) {
  const key = ledgerKeys.state(integration);
  const memoryKey = ledgerKeys.memory(integration);
  const monthKey = (month: string) => ledgerKeys.calendar(integration, month);
  /** The calendar's years: those of the state when it was last read, and those added since. */
  let years: ReadonlySet<number> = new Set();
  /** Of two first ticks, the salt of the first counts. */
  const make = () => {
    const salt = randomBytes(saltBytes).toString('base64url');
    return table.update(key, { initial: { salt, schema: schemaVersion }, returns: 'ALL_NEW' });
  };
  /** @param shown the item as a write has shown it; absent: it is read */
  const state = async (shown?: Plain): Promise<State> => {
    const item = shown ?? (await table.get(key)) ?? (await make()) ?? {};
    const conditions = conditionNames
      .map((name) => [name, item[conditionPrefix + name]] as const)
      .filter(([, open]) => open !== undefined);
    const known = parse(stateItem, item, { ...renamed(item), conditions: new Map(conditions) });
    years = known.years;
    return known;
  };
  /** One update a month; days of one month are one item. */
  const updateMonths = async <Value>(
    byDay: ReadonlyMap<string, Value>,
    lease: Lease | undefined,
    update: (days: readonly [string, Value][]) => Update,
  ) => {
    const byMonth = Map.groupBy(byDay, ([day]) => day.slice(0, 'YYYY-MM'.length));
    const ours = underLease(table, integration, lease);
    await writeEach(byMonth, ([month, days]) => table.update(monthKey(month), update(days), ours));
  };
  const addToDays = (deltas: ReadonlyMap<string, number>, lease?: Lease) =>
    updateMonths(deltas, lease, (days) => ({
      add: Object.fromEntries(days.map(([day, delta]) => [`count:${day}`, delta])),
    }));
  return {
    state,
    async recordedState() {
      const item = await table.get(key);
      return item && state(item);
    },
    async gate() {
      const kept = (await table.get(memoryKey)) ?? {};
      return parse(memory, kept, renamed(kept)).gate;
    },
    async takeLease(lease, now) {
      const { owner, until } = lease;
      const nowMs = now.epochMilliseconds;
      const values = { ':owner': owner, ':now': nowMs };
      const taken = { leaseOwner: owner, leaseUntil: until, leaseTakenAt: now, dirtySince: now };
      const before = await table.update(key, {
        set: { ...renamed(z.encode(stateChanges, taken)), lease_doubted_at: undefined },
        where: over,
        values: { ...values, ':longAgo': nowMs - longestLeaseMs, ':doubted': nowMs - doubtedForMs },
        returns: 'ALL_OLD',
      });
      if (before === undefined) {
        const soon = nowMs + leaseAheadMs;
        await table.update(key, {
          set: { lease_doubted_at: nowMs },
          where: doubtful,
          values: { ...values, ':soon': soon, ':furthest': soon + longestLeaseMs },
        });
        return undefined;
      }
      try {
        const claim = { schema: schemaVersion, lease_owner: owner, agreed: undefined };
        const kept = (await table.update(memoryKey, { set: claim, returns: 'ALL_OLD' })) ?? {};
        const { missing, ...known } = await state(before);
        const { missing: noted, agreed, gate, twins } = parse(memory, kept, renamed(kept));
        const isOfLast = kept[agreedBy] === kept['lease_owner'];
        return {
          ...known,
          gate,
          ...(twins && { twins }),
          ...(isOfLast && agreed && { agreed }),
          ...(missing && { missing: { ...nothingMissing, ...noted, ...missing } }),
        };
      } catch (error) {
        const values = { ':owner': owner };
        await table.update(key, { set: renamed(noLease), where: ours, values });
        throw error;
      }
    },
    async saveState({ conditions = new Map(), ...changes }, lease) {
      const open = [...conditions].map(([name, one]) => [conditionPrefix + name, one]);
      const ofState = renamed(z.encode(stateChanges, changes));
      const condition = lease && { where: ours, values: { ':owner': lease.owner } };
      const ofMemory = renamed(z.encode(memoryChanges, changes));
      const marks = 'agreed' in changes && { [agreedBy]: lease?.owner };
      const writes = [
        [key, { ...ofState, ...Object.fromEntries(open) }],
        [memoryKey, { ...ofMemory, ...marks }],
      ] as const;
      for (const [item, set] of 'leaseOwner' in changes ? writes.toReversed() : writes)
        if (!(await table.update(item, { set, ...condition }))) return false;
      return true;
    },
    async calendar(asked) {
      const keys = [...asked].flatMap((year) =>
        months.map((month) => monthKey(`${String(year).padStart(4, '0')}-${month}`)),
      );
      return new Map((await table.getAll(keys)).flatMap(parseMonth));
    },
    async saveDays(entries, lease) {
      await updateMonths(entries, lease, (days) => ({
        set: Object.fromEntries(days.flatMap(([day, entry]) => attributesOf(day, entry))),
      }));
    },
    async touch(days) {
      const touched = [...days];
      const added = new Set(
        touched.map((day) => Number(day.slice(0, 4))).filter((year) => !years.has(year)),
      );
      if (added.size > 0) await table.update(key, { add: { years: added } });
      years = new Set([...years, ...added]);
      await addToDays(new Map(touched.map((day) => [day, 0])));
    },
    addToDays,
  } satisfies Partial<Ledger>;
}

function attributesOf(day: string, entry: DayEntry): [name: string, value: unknown][] {
  const { count, missing, proof, ...read } = entry;
  return [
    [`count:${day}`, count],
    [`proof:${day}`, renamed({ ...read, ...proof })],
    ...(missing === undefined ? [] : [[`missing:${day}`, missing] as [string, unknown]]),
  ];
}

function parseMonth(item: Plain): [day: string, entry: DayEntry][] {
  const days = Object.keys(item).flatMap((name) => /^(?:count|proof):(.+)$/.exec(name)?.[1] ?? []);
  return [...new Set(days)].map((day) => {
    const { count, missing, lastRead } = parse(dayItem, item, {
      count: item[`count:${day}`],
      missing: item[`missing:${day}`],
      lastRead: renamed(item[`proof:${day}`]),
    });
    const { kind, at, count: found, unprovenSince, ...read } = lastRead;
    const isProven = kind !== undefined && at !== undefined && found !== undefined;
    const known = {
      ...{ ...read, count, ...(missing !== undefined && { missing }) },
      // 0 was once stored for a day that had not been read.
      ...(unprovenSince && { unprovenSince }),
    };
    return [day, isProven ? { ...known, proof: { kind, at, count: found } } : known];
  });
}
