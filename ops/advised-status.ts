import type { ResultOf } from '../lambda/commands/contract.ts';
import { type Reason, reasons } from '../lambda/commands/status.ts';
import {
  type Advice,
  adviceOn,
  alarmed,
  type CommandPlace,
  noticed,
} from '../lambda/condition-table.ts';
import type { AdvisedStatus } from './render/status.ts';
import type { Access } from './target/access.ts';
import type { OperateClient, SettingsOf } from './target/operate-client.ts';
import { lookAtSchedule, type Schedule } from './target/schedule.ts';

type Status = ResultOf<'status'>;

interface Looking {
  readonly access: Access;
  readonly stop: AbortSignal;
  /** Fills the advised commands: the program, the deployment and the integration. */
  readonly place: CommandPlace;
}

/**
 * Completes the function's status with the state of its schedule, which the function cannot see, and with advice on
 * each problem.
 *
 * @throws OpsError
 */
export async function advisedStatus(
  client: OperateClient,
  settings: SettingsOf<'status'>,
  { access, stop, place }: Looking,
): Promise<AdvisedStatus> {
  const [status, schedule] = await Promise.all([
    client.ask('status', settings),
    lookAtSchedule(access, client.integration.schedule, stop),
  ]);
  return advised(scheduled(status, schedule), place);
}

/** Adds a reason if the schedule starts no ticks. */
function scheduled(status: Status, { is }: Schedule): Status {
  if (is === 'enabled' || is === 'unknown') return status;
  const found = new Set<Reason>([...status.reasons, `schedule-${is}`]);
  const all = reasons.filter((reason) => found.has(reason));
  return { ...status, state: all[0] ?? 'up-to-date', reasons: all };
}

/** Adds the table's advice to each reason and each open condition, with commands as they are typed here. */
function advised({ conditions: open, ...status }: Status, place: CommandPlace): AdvisedStatus {
  const isOpen = (reason: Reason) => open.some(({ name }) => name === reason);
  const unopened = status.reasons.filter((reason) => !isOpen(reason));
  return {
    ...status,
    toDo: unopened.map((reason) => adviceOn(elsewhere(adviceByReason()[reason]), place)),
    conditions: open.map((condition) => {
      const entry = noticed[condition.name];
      return { ...condition, title: entry.title, whatToDo: adviceOn(elsewhere(entry), place) };
    }),
  };
}

/** The status advises nobody to ask for the status. */
const elsewhere = ({ toDo, command }: Advice): Advice =>
  command === undefined || command.ops === 'status' ? { toDo } : { toDo, command };

/** The advice on each reason; some need no action. */
export function adviceByReason(): Readonly<Record<Reason, Advice>> {
  const { 'schedule-removed': removed, 'schedule-disabled': disabled, ...others } = alarmed();
  return {
    ...noticed,
    'never-ticked': {
      toDo: 'The first tick comes within a period of the schedule. If it does not, mend each failure that the check shows.',
      command: { ops: 'check' },
    },
    'schedule-removed': removed,
    'schedule-disabled': disabled,
    'backing-off': {
      toDo: 'Nothing, if the refusal is mended: the partner is asked again by itself. The check asks at once.',
      command: { ops: 'check' },
    },
    baseline: { toDo: 'Nothing: the ticks go on with the baseline.' },
    behind: others['no-completed-tick'],
    denied: { toDo: 'Grant the denied action that is named below.' },
    'not-asked': {
      toDo: 'Mend the failure that the line "certifications" names. The check says more.',
      command: { ops: 'check' },
    },
    unfinished: { toDo: 'Nothing: the next tick goes on.' },
    differs: {
      toDo: 'Nothing yet: the ticks search for the difference, and tell operations if it stays.',
    },
    owing: { toDo: 'Nothing: the next tick delivers them.' },
  };
}
