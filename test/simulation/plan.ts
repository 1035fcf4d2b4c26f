import { Random } from './random.ts';

/** Midnights and changes of the clocks, ahead of UTC and behind. */
export const places = [
  { start: '2026-11-21T08:00:00Z', timeZone: 'UTC' },
  { start: '2026-11-21T23:50:00Z', timeZone: 'UTC' },
  { start: '2026-03-29T00:30:00Z', timeZone: 'Europe/Berlin' },
  { start: '2026-11-01T08:30:00Z', timeZone: 'America/Los_Angeles' },
  { start: '2026-11-21T09:50:00Z', timeZone: 'Pacific/Kiritimati' },
  { start: '2026-11-21T10:50:00Z', timeZone: 'Pacific/Pago_Pago' },
  { start: '2026-10-03T15:20:00Z', timeZone: 'Australia/Lord_Howe' },
  { start: '2026-11-21T18:20:00Z', timeZone: 'Asia/Kolkata' },
] as const;

type Draw = (random: Random) => number;

const chance =
  (probability: number, value: number): Draw =>
  (random) =>
    random.chance(probability) ? value : 0;
const oneOf =
  (...numbers: readonly [number, ...number[]]): Draw =>
  (random) =>
    random.pick(numbers);

/**
 * The calmest value of each aspect, towards which a life is shrunk, and the one that its seed
 * decides, if that is another. In the order of the draws: a new one comes last.
 */
const decisions = {
  /**
   * Probability of each call to AWS: it is delayed for longer than the lease lasts, and the tick
   * continues all the same.
   */
  freeze: [0, chance(0.2, 0.03)],
  /** Index into `places`. */
  place: [0, (random) => (random.chance(0.4) ? 0 : random.below(places.length))],
  /** Records at the partner when the integration begins. */
  born: [0, (random) => (random.chance(0.3) ? 180 + random.below(120) : random.below(60))],
  /** Ticks in trouble. */
  ticks: [1, (random) => 4 + random.below(8)],
  /** The most events between two ticks. */
  happenings: [0, 3],
  /** Probability of an event between two requests. */
  churn: [0, chance(0.8, 0.3)],
  /** Probability that a call to the partner fails at each attempt. */
  faults: [0, chance(0.4, 0.05)],
  /** Probability that a call to the partner succeeds after a failure or two. */
  stumbles: [0, chance(0.4, 0.05)],
  unstableTies: [0, chance(0.7, 1)],
  /** The single-record endpoint answers 404 to all ids. */
  singleRecordsBroken: [0, chance(0.15, 1)],
  /** Probability of each call: the tick is killed before or after it. */
  kill: [0, chance(0.6, 0.02)],
  /** Probability of each call to AWS: it is carried out, and its answer is lost. */
  loss: [0, chance(0.3, 0.01)],
  /** Probability of each call: it takes seconds. */
  delay: [0, chance(0.4, 0.03)],
  /** The approximate time of a request to the partner. */
  partnerMs: [20, oneOf(20, 100, 400, 1_000, 2_000)],
  /** Requests that the partner answers within any minute. It refuses more. 0: any number. */
  pace: [0],
  /** Minutes by which a replica lags, which answers every other request for records. 0: no replica. */
  replicaLag: [0],
  /** Seconds for which answers of the list are cached, by URL. 0: no cache. */
  cache: [0],
  /** Share of the removed records that are still served by their ids, until the first day at rest. */
  zombies: [0],
  /** Probability that the total is not the sum of the days, for each request in trouble. */
  lies: [0],
  /** Ranges of a baseline that are read at once. */
  atOnce: [1],
  /** By how much the total is too high, for some minutes at a time. */
  surplus: [0],
  /** Share of the records that lists show twice, with different content, in changing order. */
  twins: [0],
  /** The status of each single record, until the first day at rest. 0: as documented. */
  idsFail: [0],
  /** Probability that the rows of a list contradict its count, for each request in trouble. */
  contradicts: [0],
  /** Rows of a page at a host that says that it gives a hundred. 0: it gives a hundred. */
  capped: [0],
  /** Whether rows may become longer than 2 MiB. */
  huge: [0],
  /**
   * Probability that the partner has assigned nothing from one tick to the next, and says so in
   * undocumented words.
   */
  unassigned: [0],
  /** Probability that a record gets another educator, at each event. */
  reassigned: [0],
  /** Milliseconds after which the partner accepts a token that it has issued. */
  youngTokens: [0],
  /**
   * Probability of each request that somebody else asks for a token just before it, at a partner
   * where a new token ends the one before. 0: tokens do not end each other.
   */
  rival: [0],
  /** Minutes by which the clocks of some processes are ahead, in trouble. */
  ahead: [0],
  /** Milliseconds that SNS takes for each answer. 0: as long as other calls to AWS. */
  snsMs: [0],
  /** The approximate time of a call to AWS. */
  awsMs: [20, oneOf(5, 20, 20, 100, 300)],
  /** The longest lag of an index of the ledger. */
  lagMs: [0, oneOf(0, 1_000, 5_000, 240_000)],
  /** Probability of a refusal by SNS. */
  refusals: [0, chance(0.4, 0.2)],
  /** Probability that ticks overlap. */
  overlaps: [0, 0.25],
  /** The number of ticks that then overlap. */
  crowd: [2],
  /** Probability that hours pass between two ticks. */
  gaps: [0, 0.2],
  /** Probability that many records disappear at once before a tick. */
  exodus: [0, 0.04],
  /** Probability that all removed records return before a tick. */
  homecoming: [0, 0.06],
  /** Probability that ops pause the integration for a tick. */
  pauses: [0, 0.03],
  /** Probability that ops restart the baseline before a tick. */
  restarts: [0],
  /** Probability that ops accept a total with too many missing. */
  accepts: [0, 0.6],
  /** Probability that the partner changes the secret before a tick. */
  rotations: [0, 0.02],
  holdAbove: [500, (random) => (random.chance(0.3) ? 5 : random.chance(0.3) ? 50 : 500)],
  /** The baseline's announcements: nothing, everything, or the last thirty days. */
  announce: [0, (random) => (random.chance(0.6) ? 0 : random.chance(0.5) ? 1 : 2)],
  /** Minutes; 0: each tick has its own digest. */
  digestEvery: [
    0,
    (random) => {
      const minutes = random.pick([5, 60]);
      return random.chance(0.25) ? minutes : 0;
    },
  ],
  /** 1: no digest is sent at night. */
  quietHours: [0, chance(0.15, 1)],
  /** Probability that most of the world disappears while all is at rest. */
  leavers: [0, 0.3],
  /** Probability that ops accept a total with too many missing at rest. */
  acceptsAtRest: [0.5],
  /** Probability that a field of some record becomes odd, or is documented again, at each event. */
  oddness: [0, chance(0.4, 0.3)],
  /** At the end, without audits, stories are told, from `firstStory` up to, and excluding, this number. */
  stories: [0, 4],
  /** The number of the first told story. */
  firstStory: [0],
} satisfies Readonly<Record<string, readonly [calmest: number, drawn?: number | Draw]>>;

export type Aspect = keyof typeof decisions;

/** All decisions about a life before it begins. Each has a number. */
export type Plan = Readonly<Record<Aspect, number>>;

export const aspects = Object.keys(decisions).filter((name): name is Aspect => name in decisions);

function planBy(decide: (calmest: number, drawn?: number | Draw) => number): Plan {
  const plan: Partial<Record<Aspect, number>> = {};
  for (const aspect of aspects) {
    const [value, drawn]: readonly [number, (number | Draw)?] = decisions[aspect];
    plan[aspect] = decide(value, drawn);
  }
  if (!isWhole(plan)) throw new Error('an aspect is not decided');
  return plan;
}

const isWhole = (plan: Partial<Plan>): plan is Plan => aspects.every((aspect) => aspect in plan);

export const calmest = planBy((value) => value);

/** Ticks that always overlap, and calls that often outlive the lease. */
export const rough: Partial<Plan> = { freeze: 0.08, overlaps: 1, crowd: 6 };
/** So many records that a read takes several pages, with an event between any two. */
export const crowded: Partial<Plan> = { born: 240, churn: 0.3, unstableTies: 1 };
/** Ops restart the baseline time and again. */
export const restarting: Partial<Plan> = { restarts: 0.4 };

/** Separate draws: earlier draws stay as they were before such hosts existed. */
function hostOf(seed: number) {
  const hosts = Random.of(seed, 'hosts');
  const one = (probability: number, numbers: readonly [number, ...number[]]) =>
    hosts.chance(probability) ? hosts.pick(numbers) : 0;
  const pace = one(0.15, [12, 12, 30, 60]);
  const replicaLag = one(0.1, [2, 5, 10]);
  const cache = one(0.1, [10, 60, 300]);
  const host = {
    replicaLag,
    // Together, they would lag further than `withdrawAfter`.
    cache: replicaLag > 0 ? 0 : cache,
    zombies: one(0.15, [0.3, 1]),
    lies: one(0.1, [0.1, 0.5]),
    huge: one(0.15, [1]),
    // Drawn last, as the next ones may be: the other draws of a seed stay the same.
    unassigned: one(0.15, [0.1, 0.3]),
    reassigned: one(0.2, [0.3]),
    snsMs: one(0.1, [8_000]),
    contradicts: one(0.2, [0.05, 0.3, 1]),
  };
  const capped = one(0.2, [50, 50, 20]);
  const slowest = pace > 0 && hosts.chance(0.3) ? 5 : pace;
  const tokens = Random.of(seed, 'tokens');
  const rare = (...numbers: readonly [number, ...number[]]) =>
    tokens.chance(0.15) ? tokens.pick(numbers) : 0;
  return {
    ...{ ...host, pace: slowest },
    // With five requests a minute, such pages show too little for a search.
    capped: slowest === 5 ? 0 : capped,
    twins: one(0.15, [0.1, 0.5]),
    idsFail: one(0.1, [500, 403]),
    surplus: one(0.15, [700]),
    ...{ youngTokens: rare(200, 2_000), rival: rare(0.03, 0.2) },
    atOnce: one(0.3, [4]) || 1,
    ...clocksOf(one(0.15, [2, 120])),
  };
}

/** A clock that is hours ahead forgets an hour of the gate: a flood could pass in pieces. The slow SNS has the world's. */
const clocksOf = (ahead: number): Partial<Plan> =>
  ahead > 0 ? { ahead, holdAbove: 500, snsMs: 0 } : { ahead };

/** The plan of a seed, with these changes. */
export function planOf(seed: number, changes: Partial<Plan> = {}): Plan {
  const random = Random.of(seed, 'plan');
  const own = planBy((value, drawn = value) => (typeof drawn === 'number' ? drawn : drawn(random)));
  return { ...own, ...hostOf(seed), ...changes };
}
