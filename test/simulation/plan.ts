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

/** How calm each thing can be: what a life that is shrunk is led towards. */
export const calmest = {
  /** Index into `places`. */
  place: 0,
  /** Records at the partner when the integration begins. */
  born: 0,
  /** Ticks in trouble. */
  ticks: 1,
  /** The most that happens between two ticks. */
  happenings: 0,
  /** Probability that something happens between two requests. */
  churn: 0,
  /** Probability that a call to the partner fails, whatever is tried. */
  faults: 0,
  /** Probability that a call to the partner is answered after a failure or two. */
  stumbles: 0,
  unstableTies: 0,
  /** The single-record endpoint answers 404 to everything. */
  singleRecordsBroken: 0,
  /** Probability of each call: the tick is killed before or after it. */
  kill: 0,
  /** Probability of each call to AWS: it is done, and its answer is lost. */
  loss: 0,
  /** Probability of each call to AWS: it is held up for longer than the lease lasts, and the tick goes on all the same. */
  freeze: 0,
  /** Probability of each call: it takes seconds. */
  delay: 0,
  /** About how long a request to the partner takes. */
  partnerMs: 20,
  /** Requests that the partner answers within any minute; more are refused. 0: any number. */
  pace: 0,
  /** Minutes by which a replica is behind, which answers every other request for records. 0: there is none. */
  replicaLag: 0,
  /** Seconds for which answers of the list are kept, by URL. 0: none is. */
  cache: 0,
  /** Share of the records that are still served by their ids after they were removed, until the first day at rest. */
  zombies: 0,
  /** Probability that the total, whenever it is asked for in trouble, is not the sum of the days. */
  lies: 0,
  /** Whether rows may become longer than 2 MiB. */
  huge: 0,
  /** How likely the partner has assigned nothing from one tick to the next, and says so in words of its own. */
  unassigned: 0,
  /** How likely a record gets another educator, whenever something happens. */
  reassigned: 0,
  /** Milliseconds that SNS takes for each answer. 0: as long as other calls to AWS. */
  snsMs: 0,
  /** About how long a call to AWS takes. */
  awsMs: 20,
  /** The longest that an index of the ledger takes. */
  lagMs: 0,
  /** How likely SNS refuses. */
  refusals: 0,
  /** How likely ticks overlap. */
  overlaps: 0,
  /** So many ticks overlap then. */
  crowd: 2,
  /** How likely hours pass between two ticks. */
  gaps: 0,
  /** How likely many records go away at once before a tick. */
  exodus: 0,
  /** How likely all records that went away are back before a tick. */
  homecoming: 0,
  /** How likely ops pause the integration for a tick. */
  pauses: 0,
  /** How likely ops have everything read anew before a tick. */
  restarts: 0,
  /** How likely ops look at a total of which too many are missing and say that it is right. */
  accepts: 0,
  /** How likely the partner changes the secret before a tick. */
  rotations: 0,
  /** The setting of that name. */
  holdAbove: 500,
  /** What the baseline announces: nothing, everything, or the last thirty days. */
  announce: 0,
  /** Minutes; 0: each tick has its own digest. */
  digestEvery: 0,
  /** 1: no digest is sent at night. */
  quietHours: 0,
  /** How likely most of the world goes away while all is at rest. */
  leavers: 0,
  /** How likely ops accept the total of a world of which too many are missing at rest. */
  acceptsAtRest: 0.5,
  /** How likely a field of some record is no longer as documented, or is again, whenever something happens. */
  oddness: 0,
  /** At the end, without audits, stories are told, from `firstStory` up to, not including, this number. */
  stories: 0,
  /** The number of the first story that is told. */
  firstStory: 0,
} as const;

export type Aspect = keyof typeof calmest;

/** All that is decided about a life before it begins; each thing has a number. */
export type Plan = Readonly<Record<Aspect, number>>;

export const aspects = Object.keys(calmest).filter((name): name is Aspect => name in calmest);

type HostAspect =
  | 'pace'
  | 'replicaLag'
  | 'cache'
  | 'zombies'
  | 'lies'
  | 'huge'
  | 'unassigned'
  | 'reassigned'
  | 'snsMs';

/** Draws of their own: what was drawn before there were such hosts stays as it was. */
function hostOf(seed: number): Pick<Plan, HostAspect> {
  const hosts = Random.of(seed, 'hosts');
  const one = (probability: number, numbers: readonly [number, ...number[]]) =>
    hosts.chance(probability) ? hosts.pick(numbers) : 0;
  const pace = one(0.15, [12, 12, 30, 60]);
  const replicaLag = one(0.1, [2, 5, 10]);
  const cache = one(0.1, [10, 60, 300]);
  const host = {
    replicaLag,
    // Together they would be further behind than `withdrawAfter`.
    cache: replicaLag > 0 ? 0 : cache,
    zombies: one(0.15, [0.3, 1]),
    lies: one(0.1, [0.1, 0.5]),
    huge: one(0.15, [1]),
    // Drawn last, as the next ones may be: the other draws of a seed stay what they were.
    unassigned: one(0.15, [0.1, 0.3]),
    reassigned: one(0.2, [0.3]),
    snsMs: one(0.1, [8_000]),
  };
  return { ...host, pace: pace > 0 && hosts.chance(0.3) ? 5 : pace };
}

/** The plan of a seed, with these changes. */
export function planOf(seed: number, changes: Partial<Plan> = {}): Plan {
  const random = Random.of(seed, 'plan');
  const chance = (probability: number, value: number, otherwise = 0) =>
    random.chance(probability) ? value : otherwise;
  const isOutlived = random.chance(0.2);
  return {
    place: random.chance(0.4) ? 0 : random.below(places.length),
    born: random.chance(0.3) ? 180 + random.below(120) : random.below(60),
    ticks: 4 + random.below(8),
    happenings: 3,
    churn: chance(0.8, 0.3),
    faults: chance(0.4, 0.05),
    stumbles: chance(0.4, 0.05),
    unstableTies: chance(0.7, 1),
    singleRecordsBroken: chance(0.15, 1),
    kill: chance(0.6, 0.02),
    loss: chance(0.3, 0.01),
    freeze: isOutlived ? 0.03 : 0,
    delay: chance(0.4, 0.03),
    partnerMs: random.pick([20, 100, 400, 1_000, 2_000]),
    ...hostOf(seed),
    awsMs: random.pick([5, 20, 20, 100, 300]),
    lagMs: random.pick([0, 1_000, 5_000, 240_000]),
    refusals: chance(0.4, 0.2),
    overlaps: 0.25,
    crowd: 2,
    gaps: 0.2,
    exodus: 0.04,
    homecoming: 0.06,
    pauses: 0.03,
    restarts: 0,
    accepts: 0.6,
    rotations: 0.02,
    holdAbove: random.chance(0.3) ? 5 : random.chance(0.3) ? 50 : 500,
    announce: random.chance(0.6) ? 0 : random.chance(0.5) ? 1 : 2,
    digestEvery: chance(0.25, random.pick([5, 60])),
    quietHours: chance(0.15, 1),
    leavers: 0.3,
    acceptsAtRest: 0.5,
    stories: 4,
    firstStory: 0,
    // Drawn last: the other draws of a seed stay what they were.
    oddness: chance(0.4, 0.3),
    ...changes,
  };
}
