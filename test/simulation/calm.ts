import type { CertificationEvent } from '../../lambda/events/event.ts';
import type { HostRecord } from '../scaffold/listing.ts';
import { isTooMuchMissing, type Life, numberMissing } from './life.ts';
import { lacksProof } from './verdict.ts';

type Kind = 'created' | 'updated' | 'withdrawn' | 'restored';
type Story = (life: Life, look: () => Promise<void>) => Promise<void>;

/** A little more than an hour. */
const gateForgets = { hours: 1, seconds: 660 };

/**
 * Runs the world at rest and without audits. Each difference that a count or the newest page shows
 * is announced within two ticks. Then all is quiet again.
 */
export async function expectedAtRest(life: Life, untilQuiet: () => Promise<void>): Promise<void> {
  const { timeline, ledger, passage, plan } = life;
  passage.pace = { partnerMs: 20, awsMs: 20 };
  await untilQuiet();
  const stories = life.storiesInTurn([
    ...[born, removed, restored, editedOnThePage],
    // With old answers, one change hides another for as long.
    ...(life.isLagging ? [] : [replaced, unfetchable, tooMany, flooded, exaggerated]),
  ]);
  for (let n = plan.firstStory; n < plan.stories; n++) {
    // Before the next event, table and index agree, and the gate has forgotten the last one.
    await timeline.pass({ seconds: 1 + ledger.lagMs / 1_000 });
    await timeline.pass(gateForgets);
    life.turn(`story ${n}`);
    const story = stories[n % stories.length];
    life.coverage.tell('story:', story?.name);
    await story?.(life, () => twoTicks(life));
    await untilQuiet();
    // The removals were too many for a day, or for so small a world.
    if ((await isTooMuchMissing(life)) && (await timeline.until(life.acceptTotal())))
      await untilQuiet();
  }
}

/**
 * Audits are due. Changes during their reads, and the opposite ones a minute later, are announced
 * within two ticks. They are not taken for a false total.
 */
export async function expectedAmidAudits(life: Life): Promise<void> {
  if (life.isLagging) return;
  life.passage.pace = { partnerMs: 20, awsMs: 20 };
  life.turn('amid audits');
  await life.timeline.pass(gateForgets);
  await replaced(life, () => twoTicks(life));
}

const twoTicks = (life: Life) => ticks(life, 2 * life.ticksForOne);

async function ticks(life: Life, many: number): Promise<void> {
  for (let n = 0; n < many; n++) {
    life.host.forgetAbsences();
    await life.timeline.until(life.tick());
    await life.timeline.pass({ seconds: 60 });
  }
}

/** Each of these has the event that its last change owes. */
function expect(
  life: Life,
  ids: readonly number[],
  kind: Kind,
  fate: 'told' | 'held' | 'either' = 'either',
): void {
  const { ledger, audience, findings, note } = life;
  const held = new Map(ledger.held.map(({ event }) => [event.id, event]));
  for (const id of ids.filter((one) => !lacksProof(life, one))) {
    const eventId = `sim/${id}/${ledger.items.get(id)?.certification.revision}`;
    const isTold = isOf(kind, audience.told.get(eventId));
    const isHeld = isOf(kind, held.get(eventId));
    // An event after a held one waits behind it.
    const mayWait = ledger.held.some(
      ({ certificationId, event }) => certificationId === id && event.id !== eventId,
    );
    // A change that undoes all held ones of its certification is not announced.
    const last = ledger.items.get(id)?.history.at(-1);
    const isUndone = fate === 'either' && last?.kind === kind && last.undone === true;
    if (isUndone) note('at rest: undone');
    const isAsExpected =
      fate === 'held' ? isHeld : isTold || isUndone || (isHeld && (fate === 'either' || mayWait));
    if (!isAsExpected) findings.push(`${id} was not ${kind} (${fate}) within two ticks`);
  }
  note(`at rest: ${kind}`);
}

/** A first look, and a second one when it is due. */
async function secondLook(life: Life): Promise<void> {
  await twoTicks(life);
  await life.timeline.pass({ seconds: life.settings.withdrawAfterMs / 1_000 });
  await twoTicks(life);
}

/** These are withdrawn, or missing if they are too many. */
async function expectGone(life: Life, ids: readonly number[]): Promise<void> {
  // A number that was too high for a day may be low by now, and is noted only then.
  const isMissing = async () => (await numberMissing(life)) > 0 && !(await isTooMuchMissing(life));
  for (let times = 0; times < 3 && (await isMissing()); times++) await secondLook(life);
  if (await isTooMuchMissing(life)) life.note('at rest: too many for a day');
  else expect(life, ids, 'withdrawn');
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
  life.note('at rest: flood');
};

/** The total is too high for some minutes, while one true record appears. */
const exaggerated: Story = async (life, look) => {
  const { host, world, timeline, settings, ledger } = life;
  // The last flood is over for the gate, too.
  await look();
  host.surplus = settings.holdAbove + 200;
  const ids = [world.create()];
  await look();
  expect(life, ids, 'created', 'held');
  host.surplus = 0;
  await look();
  await timeline.pass({ seconds: settings.withdrawAfterMs / 1_000 });
  await look();
  await timeline.pass({ seconds: ledger.lagMs / 1_000 });
  await look();
  expect(life, ids, 'created', 'told');
  life.note('at rest: exaggerated');
};

const removed: Story = async (life) => {
  const { random, world } = life;
  const ids = [...world.entries.keys()].filter(() => random.chance(0.1)).slice(0, 3);
  if (world.entries.size < 2 * ids.length + 1) return;
  for (const id of ids) world.remove(id);
  await secondLook(life);
  await expectGone(life, ids);
};

const restored: Story = async (life, look) => {
  const id = life.random.pick([...life.world.gone.keys()]);
  if (id === undefined) return;
  // A record that came and went between two looks is new, or was never announced.
  const known = life.ledger.items.get(id)?.certification;
  const kind = known === undefined || known.isUntold ? 'created' : 'restored';
  life.world.restore(id);
  await look();
  // A slow host's pace had no room to find that it was gone.
  const isUnnoticed = known?.presence === 'present' && !known.isUntold && life.isSlow;
  if (!isUnnoticed) expect(life, [id], kind, 'told');
};

/**
 * A change during a tick's read, and the opposite one after a tick has seen the first: the total is
 * unchanged. (Between two totals, one hides the other: docs/detection.md.)
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
  const missedBefore = await numberMissing(life);
  const isSeen = async () =>
    ids.every((id) => ledger.items.has(id)) &&
    (world.entries.has(gone) || (await numberMissing(life)) > missedBefore);
  const isNoticed = () => host.meanwhile === undefined || ids.every((id) => ledger.items.has(id));
  for (let n = 0; n < life.ticksForOne && !isNoticed(); n++) await ticks(life, 1);
  if (host.meanwhile !== undefined) {
    // No day had to be read.
    host.meanwhile();
    host.meanwhile = undefined;
  }
  for (let n = 0; n < life.ticksForOne && !(await isSeen()); n++) await ticks(life, 1);
  if (isGoneFirst) come();
  else go();
  await look();
  expect(life, ids, 'created', 'told');
  await secondLook(life);
  await expectGone(life, [gone]);
  life.note('at rest: replaced');
};

/** A removed record that cannot be looked up stays, and delays nothing else. */
const unfetchable: Story = async (life, look) => {
  const { world, host, random } = life;
  const ids = [...world.entries.keys()].filter(() => random.chance(0.3)).slice(0, 6);
  if (world.entries.size < 3 * ids.length || ids.length === 0) return;
  host.unfetchable = new Set(ids);
  for (const id of ids) world.remove(id);
  await secondLook(life);
  // The newest page of a large world does not show it, so days have to be read.
  const [oldest] = [...world.entries.values()].map(dayOf).sort();
  const come = world.create(oldest);
  await look();
  expect(life, [come], 'created', 'told');
  for (const id of ids) world.restore(id);
  await look();
  host.unfetchable = new Set();
  life.note('at rest: unfetchable');
};

/** Most records disappear: none is withdrawn, ops hear of them once, and they return or are accepted. */
const tooMany: Story = async (life, look) => {
  const { world, ledger, audience, findings, random, timeline } = life;
  if (world.entries.size < 8) return;
  const ids = [...world.entries.keys()].slice(0, Math.ceil(world.entries.size * 0.6));
  const revisions = () => ids.map((id) => ledger.items.get(id)?.certification.revision).join();
  const before = revisions();
  // The condition of odd fields goes with its records.
  const told = () => audience.notices.filter(({ subject }) => subject.includes('missing')).length;
  const toldBefore = told();
  for (const id of ids) world.remove(id);
  await secondLook(life);
  if (told() !== toldBefore + 1) findings.push('many missing are to be told once');
  if (revisions() !== before) findings.push('too many were withdrawn');
  if (random.chance(0.5) && (await timeline.until(life.acceptTotal()))) {
    for (let looks = 0; looks < 6; looks++) await secondLook(life);
    expect(life, ids, 'withdrawn');
    life.note('at rest: accepted');
    return;
  }
  for (const id of ids) world.restore(id);
  await look();
  if (revisions() !== before) findings.push('what came back was believed to be gone');
  life.note('at rest: too many');
};

/** The days that the newest page shows whole. */
const editedOnThePage: Story = async (life, look) => {
  const { world, random } = life;
  const newest = [...world.entries.values()].sort((a, b) => (dayOf(a) < dayOf(b) ? 1 : -1));
  // The last day of a full page may have more.
  const { pageRows } = life.partner;
  const last = newest.length > pageRows ? newest[pageRows - 1] : undefined;
  const shown = newest.filter((entry) => last === undefined || dayOf(entry) > dayOf(last));
  const entry = random.pick(shown);
  if (entry === undefined) return;
  world.edit(entry.assessment.id, { email: `calm${random.below(1e6)}@example.org` });
  await look();
  // With older answers, a record that was changed before and looks as it was is an older answer.
  expect(life, [entry.assessment.id], 'updated', life.isLagging ? 'either' : 'told');
};
