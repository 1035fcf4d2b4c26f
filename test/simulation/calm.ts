import type { CertificationEvent } from '../../lambda/events/event.ts';
import type { HostRecord } from '../scaffold/listing.ts';
import { isOutgrown, known } from './known.ts';
import type { Life } from './life.ts';

type Kind = 'created' | 'updated' | 'withdrawn' | 'restored';
type Story = (life: Life, look: () => Promise<void>) => Promise<void>;

/** Withdrawals that one tick's budget of requests can confirm, and more. */
const confirmable = 60;
const pageSize = 100;

/**
 * With the world at rest and no audits: every difference that a count or the newest page can see is
 * announced within two ticks, and after these all is quiet again.
 */
export async function expectedAtRest(life: Life, untilQuiet: () => Promise<void>): Promise<void> {
  const { timeline, ledger, passage, plan } = life;
  passage.pace = { partnerMs: 20, awsMs: 20 };
  await untilQuiet();
  const stories = life.storiesInTurn([
    ...[born, removed, restored, replaced, unfetchable],
    ...[mostOfADay, collapsed, flooded, editedOnThePage],
  ]);
  for (let n = plan.firstStory; n < plan.stories; n++) {
    // Table and index agree before the next thing happens.
    await timeline.pass({ seconds: 1 + ledger.lagMs / 1_000 });
    life.turn(`story ${n}`);
    const story = stories[n % stories.length];
    life.coverage.tell('story:', story?.name);
    await story?.(life, () => twoTicks(life));
    await untilQuiet();
  }
}

/**
 * Audits are due: what changes while they read, and the opposite a minute later, are announced within two
 * ticks, and are not taken for a total that lies.
 */
export async function expectedAmidAudits(life: Life): Promise<void> {
  life.passage.pace = { partnerMs: 20, awsMs: 20 };
  life.turn('amid audits');
  await replaced(life, () => twoTicks(life));
}

const twoTicks = (life: Life) => ticks(life, 2);

async function ticks(life: Life, many: number): Promise<void> {
  for (let n = 0; n < many; n++) {
    life.host.forgetAbsences();
    await life.timeline.until(life.tick());
    await life.timeline.pass({ seconds: 60 });
  }
}

/** Each of these has the event that its last change owes it. */
function expect(
  { ledger, audience, findings, coverage }: Life,
  ids: readonly number[],
  kind: Kind,
  fate: 'told' | 'held' | 'either' = 'either',
): void {
  const held = new Map(ledger.held.map(({ event }) => [event.id, event]));
  for (const id of ids) {
    const eventId = `sim/${id}/${ledger.items.get(id)?.certification.revision}`;
    const isTold = isOf(kind, audience.told.get(eventId));
    const isHeld = isOf(kind, held.get(eventId));
    // An event after a held one waits behind it.
    const mayWait = ledger.held.some(
      ({ certificationId, event }) => certificationId === id && event.id !== eventId,
    );
    const isAsExpected =
      fate === 'held' ? isHeld : isTold || (isHeld && (fate === 'either' || mayWait));
    if (!isAsExpected) findings.push(`${id} was not ${kind} (${fate}) within two ticks`);
  }
  coverage.note(`at rest: ${kind}`);
}

const dayOf = ({ assessment }: HostRecord) => assessment.certified_on;

const isOf = (kind: Kind, event: CertificationEvent | undefined) =>
  event?.type === `certification.${kind}`;

const born: Story = async (life, look) => {
  const ids = Array.from({ length: 1 + life.random.below(4) }, () => life.world.create());
  await look();
  expect(life, ids, 'created', 'told');
};

const flooded: Story = async (life, look) => {
  const { holdAbove } = life.settings;
  if (holdAbove > 50) return;
  const ids = Array.from({ length: holdAbove + 1 }, () => life.world.create());
  await look();
  expect(life, ids, 'created', 'held');
  life.coverage.note('at rest: flood');
};

const removed: Story = async (life, look) => {
  const { random, world } = life;
  const ids = [...world.entries.keys()].filter(() => random.chance(0.1)).slice(0, 3);
  if (world.entries.size < 2 * ids.length + 1) return;
  for (const id of ids) world.remove(id);
  await look();
  expect(life, ids, 'withdrawn');
};

const restored: Story = async (life, look) => {
  const id = life.random.pick([...life.world.gone.keys()]);
  if (id === undefined) return;
  // A record that came and went between two looks is new.
  const kind = life.ledger.items.has(id) ? 'restored' : 'created';
  life.world.restore(id);
  await look();
  expect(life, [id], kind, 'told');
};

/**
 * Something changes while a tick reads, and the opposite happens once a tick has seen the first: the total
 * is as it was. (Between two totals, one hides the other: docs/detection.md.)
 */
const replaced: Story = async (life, look) => {
  const { world, host, random, ledger } = life;
  const gone = random.pick([...world.entries.keys()]);
  if (gone === undefined || world.entries.size < 8) return;
  const ids = [world.create()];
  const isGoneFirst = random.chance(0.5);
  const go = () => world.remove(gone);
  const come = () => void ids.push(world.create());
  host.meanwhile = isGoneFirst ? go : come;
  await ticks(life, 1);
  if (host.meanwhile !== undefined) {
    // No day had to be read.
    host.meanwhile();
    host.meanwhile = undefined;
  }
  const isSeen = () =>
    ids.every((id) => ledger.items.has(id)) &&
    world.entries.has(gone) === (ledger.items.get(gone)?.certification.presence === 'present');
  if (!isSeen()) await ticks(life, 1);
  if (isGoneFirst) come();
  else go();
  await look();
  expect(life, ids, 'created', 'told');
  expect(life, [gone], 'withdrawn');
  life.coverage.note('at rest: replaced');
};

/** A record that has gone and cannot be asked for stands, and keeps ticks from nothing else. */
const unfetchable: Story = async (life, look) => {
  const { world, host, random } = life;
  const ids = [...world.entries.keys()].filter(() => random.chance(0.3)).slice(0, 6);
  if (world.entries.size < 3 * ids.length || ids.length === 0) return;
  host.unfetchable = new Set(ids);
  for (const id of ids) world.remove(id);
  await ticks(life, 1);
  // The newest page of a large world does not show it: days have to be read.
  const [oldest] = [...world.entries.values()].map(dayOf).sort();
  const come = world.create(oldest);
  await look();
  expect(life, [come], 'created', 'told');
  for (const id of ids) world.restore(id);
  await look();
  host.unfetchable = new Set();
  life.coverage.note('at rest: unfetchable');
};

const mostOfADay: Story = async (life, look) => {
  const { world } = life;
  const byDay = Map.groupBy(world.entries.values(), ({ assessment }) => assessment.certified_on);
  const days = [...byDay.values()].filter(
    ({ length }) => length >= 10 && length <= confirmable && length < world.entries.size / 2,
  );
  const day = life.random.pick(days);
  if (day === undefined) return;
  const ids = day.slice(0, Math.floor(day.length / 2) + 1).map(({ assessment }) => assessment.id);
  for (const id of ids) world.remove(id);
  // So slowly that one tick cannot ask for all of them.
  const isSlow = life.random.chance(0.5);
  if (isSlow) life.passage.pace = { ...life.passage.pace, partnerMs: 2_000 };
  for (let looks = isSlow ? 8 : 1; looks > 0; looks--) await look();
  life.passage.pace = { ...life.passage.pace, partnerMs: 20 };
  expect(life, ids, 'withdrawn', 'held');
  life.coverage.note('at rest: most of a day');
};

export const collapsed: Story = async (life, look) => {
  const { world, ledger, audience, findings } = life;
  if (world.entries.size < 8) return;
  const cause = isOutgrown(await ledger.state()) ? ` (${known.outgrown})` : '';
  const ids = [...world.entries.keys()].slice(0, Math.ceil(world.entries.size * 0.6));
  const revisions = () => ids.map((id) => ledger.items.get(id)?.certification.revision).join();
  const before = revisions();
  const notices = audience.notices.length;
  for (const id of ids) world.remove(id);
  await look();
  if (audience.notices.length !== notices + 1)
    findings.push(`a collapse is to be told once${cause}`);
  for (const id of ids) world.restore(id);
  await look();
  if (revisions() !== before) findings.push(`what had collapsed was believed to be gone${cause}`);
  life.coverage.note('at rest: collapse');
};

/** The days that the newest page shows whole. */
const editedOnThePage: Story = async (life, look) => {
  const { world, random } = life;
  const newest = [...world.entries.values()].sort((a, b) => (dayOf(a) < dayOf(b) ? 1 : -1));
  // Of the last day on a full page there may be more.
  const last = newest.length > pageSize ? newest[pageSize - 1] : undefined;
  const shown = newest.filter((entry) => last === undefined || dayOf(entry) > dayOf(last));
  const entry = random.pick(shown);
  if (entry === undefined) return;
  world.edit(entry.assessment.id, { email: `calm${random.below(1e6)}@example.org` });
  await look();
  // Without audits their round has no end, nor has a mass edit.
  expect(life, [entry.assessment.id], 'updated', life.settings.holdAbove > 50 ? 'told' : 'either');
};
