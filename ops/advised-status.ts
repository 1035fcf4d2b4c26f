import {
  adviceOn,
  type Condition,
  conditions,
  noticed,
  type Place,
} from '../lambda/condition-table.ts';
import { type Reason, reasons } from '../lambda/operations/commands/status.ts';
import type { ResultOf } from '../lambda/operations/contract.ts';
import type { AdvisedStatus } from './render/status.ts';
import type { Access } from './target/access.ts';
import type { Operator, SettingsOf } from './target/operator.ts';
import { lookAtSchedule, type Schedule } from './target/schedule.ts';

type Status = ResultOf<'status'>;

interface Looking {
  readonly access: Access;
  readonly stop: AbortSignal;
  /** Where the commands that the advice names are to be given. */
  readonly place: Place;
}

/**
 * The status of an integration, with what its function cannot see: whether its schedule starts ticks, and what to do
 * about what is wrong.
 *
 * @throws OpsError
 */
export async function advisedStatus(
  operator: Operator,
  settings: SettingsOf<'status'>,
  { access, stop, place }: Looking,
): Promise<AdvisedStatus> {
  const [status, schedule] = await Promise.all([
    operator.ask('status', settings),
    lookAtSchedule(access, operator.integration.schedule, stop),
  ]);
  return advised(scheduled(status, schedule), place);
}

/** What the function says, and what keeps its ticks from being started. */
function scheduled(status: Status, { is }: Schedule): Status {
  if (is === 'enabled' || is === 'unknown') return status;
  const found = new Set<Reason>([...status.reasons, `schedule-${is}`]);
  const all = reasons.filter((reason) => found.has(reason));
  return { ...status, standing: all[0] ?? 'up-to-date', reasons: all };
}

/** What the table says of each condition, with the command as it is given here. */
function advised({ conditions: open, ...status }: Status, place: Place): AdvisedStatus {
  const isOpen = (reason: Reason) => open.some(({ name }) => name === reason);
  const unopened = status.reasons.filter((reason) => !isOpen(reason));
  const toDo = unopened.flatMap((reason) => conditionOf(reason) ?? []);
  return {
    ...status,
    toDo: toDo.map((condition) => adviceOn(condition, place)),
    conditions: open.map((condition) => {
      const entry = noticed[condition.name];
      return { ...condition, title: entry.title, whatToDo: adviceOn(entry, place) };
    }),
  };
}

/** What is said of a reason that is no open notice. */
function conditionOf(reason: Reason): Condition | undefined {
  const all: Readonly<Record<string, Condition | undefined>> = conditions();
  return all[reason === 'behind' ? 'no-completed-tick' : reason];
}
