import type { Provocation } from '../../console/index.ts';
import type { Clock } from '../../lambda/clock.ts';
import type { LocalFunction } from '../aws/index.ts';
import { StartError } from '../errors.ts';
import type { PartnerSandbox } from '../partner-sandbox/index.ts';
import type { Faults } from './faults.ts';

/** The parts that a provocation changes. */
interface Within {
  readonly sandbox: PartnerSandbox;
  readonly poll: LocalFunction;
  readonly faults: Faults;
  readonly clock: Clock;
  /** Minutes. */
  readonly withdrawAfter: number;
  readonly refusesCredentials: boolean;
  refuseCredentials(): void;
  storeCredentials(): Promise<void>;
  /** Notes that a provocation has killed the tick. */
  killed(): void;
}

export interface Act extends Omit<Provocation, 'isOn'> {
  /** Absent: the provocation does not last. */
  readonly isOn?: (within: Within) => boolean;
  provoke(within: Within): unknown;
}

const many = 2_000;
/** The lag of a replica, as a share of the time after which a missing certification may be withdrawn. */
const lag = 0.4;
const yearsBack = 3;
const refusals = 2;

/** In the order of the page. */
export const acts: readonly Act[] = [
  {
    name: 'certify',
    title: 'Certify somebody',
    does: 'Somebody completes an assessment now.',
    expected: 'The next tick announces it.',
    provoke: ({ sandbox }) => sandbox.world.add(),
  },
  {
    name: 'backdate',
    title: 'Backdate one',
    does: `A certification appears that was completed ${yearsBack} years ago.`,
    expected: 'The total shows it: the next tick finds its day and announces it as late.',
    provoke: ({ sandbox, clock }) => {
      const today = clock.now().toZonedDateTimeISO(sandbox.world.timeZone).toPlainDate();
      sandbox.world.add({ certified_on: today.subtract({ years: yearsBack }).toString() });
    },
  },
  {
    name: 'edit',
    title: 'Edit the newest',
    does: 'The newest certification gets another proctor.',
    expected: 'The newest page shows it: the next tick announces an update.',
    provoke: ({ sandbox: { world } }) => {
      const { id, results } = newest(world);
      const now = new Set(results.map(({ proctor_id }) => proctor_id));
      const other = world.catalogue.proctors.all.find((proctor) => !now.has(proctor.id));
      world.change(id, { proctor_ids: [other?.id ?? 0] });
    },
  },
  {
    name: 'remove',
    title: 'Remove one',
    does: 'Any one certification disappears.',
    expected:
      'The total shows the loss. Two looks, ten ticks apart, and a request for its id confirm it; then it is withdrawn.',
    provoke: ({ sandbox: { world } }) => {
      const all = [...world.assessments()];
      const one = all[Math.floor(Math.random() * all.length)];
      if (one !== undefined) world.remove(one.id);
    },
  },
  {
    name: 'many',
    title: 'Certify 2,000 at once',
    does: 'Two thousand certifications appear together.',
    expected:
      'The events are held, and operations are told. Release or discard them on the page Held.',
    provoke: ({ sandbox: { world } }) => {
      for (let added = 0; added < many; added += 1) world.add();
    },
  },
  {
    name: 'ties',
    title: 'Shuffle ties',
    does: 'The partner shows rows that tie in another order with every request.',
    expected: 'No read is complete without a proof, so no event is lost, and none is false.',
    isOn: ({ sandbox }) => sandbox.switches.unstableTies,
    provoke: ({ sandbox }) => sandbox.set({ unstableTies: !sandbox.switches.unstableTies }),
  },
  {
    name: 'replica',
    title: 'Answer from before',
    does: 'Every other answer, by chance, is some ticks old.',
    expected: 'An older answer is no news: it withdraws nothing and undoes nothing.',
    isOn: ({ sandbox }) => sandbox.switches.replicaLag > 0,
    provoke: ({ sandbox, withdrawAfter }) =>
      sandbox.set({ replicaLag: sandbox.switches.replicaLag > 0 ? 0 : lag * withdrawAfter }),
  },
  {
    name: 'too-many-requests',
    title: 'Answer 429',
    does: `The partner refuses the next ${refusals} requests as too many.`,
    expected:
      'The tick waits as long as the partner asks it to, a second each time, and goes on. A refusal for pace is no failure, and nothing is lost.',
    provoke: ({ sandbox }) =>
      sandbox.injectFaults({ kind: 'too-many-requests', times: refusals, retryAfter: 1 }),
  },
  {
    name: 'credentials',
    title: 'Refuse the credentials',
    does: 'The partner changes the secret. Ending it stores the new one, as ops would.',
    expected:
      'Operations are told, and the partner is left alone for minutes. Nothing is lost meanwhile.',
    isOn: ({ refusesCredentials }) => refusesCredentials,
    provoke: (within) =>
      within.refusesCredentials ? within.storeCredentials() : within.refuseCredentials(),
  },
  {
    name: 'kill',
    title: 'Kill the tick right now',
    does: 'The running tick dies at once. If none runs, the next one dies after its first write.',
    expected:
      'A later tick takes over once the lease has run out, within a minute. No event is lost or changed.',
    provoke: async ({ poll, faults, killed }) => {
      if (poll.isBusy) {
        killed();
        await poll.kill();
      } else faults.strikeNextWrite(poll.name, undefined, () => poll.kill());
    },
  },
  {
    name: 'kill-publishing',
    title: 'Kill the tick that announces',
    does: 'Somebody is certified. The tick dies after SNS has accepted the event, but before the answer arrives.',
    expected:
      'The event is published again within a minute. It has the same id, so subscribers recognise the duplicate.',
    provoke: ({ sandbox, poll, faults }) => {
      faults.strikeNextWrite(poll.name, 'sns', () => poll.kill());
      sandbox.world.add();
    },
  },
  {
    name: 'lose-partner',
    title: "Lose the partner's answer",
    does: 'The next answer of the partner is cut off in the middle.',
    expected: 'The tick asks again.',
    provoke: ({ sandbox }) => sandbox.injectFaults({ kind: 'reset-mid-body' }),
  },
  {
    name: 'lose-ledger',
    title: "Lose DynamoDB's answer",
    does: 'The next write is carried out, but its answer is lost.',
    expected: 'The tick writes again. Writes are conditional, so the second one changes nothing.',
    provoke: ({ poll, faults }) => faults.strikeNextWrite(poll.name, 'dynamodb', () => {}),
  },
  {
    name: 'lose-sns',
    title: "Lose SNS's answer",
    does: 'Somebody is certified. SNS accepts the event, but its answer is lost.',
    expected: 'The event is published again under the same id.',
    provoke: ({ sandbox, poll, faults }) => {
      faults.strikeNextWrite(poll.name, 'sns', () => {});
      sandbox.world.add();
    },
  },
  {
    name: 'refuse-sns',
    title: 'SNS refuses',
    does: 'SNS refuses the events of all ticks until you end this.',
    expected: 'Events stay in the outbox, and go out once SNS accepts them again.',
    isOn: ({ faults, poll }) => faults.refuses(poll.name),
    provoke: ({ faults, poll }) => faults.refuse(poll.name, !faults.refuses(poll.name)),
  },
];

function newest(world: PartnerSandbox['world']) {
  const last = [...world.assessments()].at(-1);
  if (last !== undefined) return last;
  throw new StartError('The partner has no certification.', 'Certify somebody first.');
}
