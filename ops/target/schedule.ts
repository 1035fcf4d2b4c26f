import { GetScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { type Access, calling } from './access.ts';
import { AwsFailedError, NotPermittedError } from './errors.ts';
import type { DeployedIntegration } from './target.ts';

/** What starts the ticks. */
export type Schedule =
  /** @property expression as AWS writes it, such as `rate(1 minute)` */
  | { readonly is: 'enabled'; readonly expression: string }
  | { readonly is: 'disabled' | 'removed' }
  | { readonly is: 'unknown'; readonly because: AwsFailedError | NotPermittedError };

/** For those who look. */
export const schedulePermission =
  '`scheduler:GetSchedule`; without it `check` skips that one check, and `status` does not know whether the schedule is enabled';

/**
 * The function cannot see its own schedule. That the caller may not look either, or that AWS does not
 * say, is an answer.
 */
export async function lookAtSchedule(
  access: Access,
  { schedule: Name }: Pick<DeployedIntegration, 'schedule'>,
  stop: AbortSignal,
): Promise<Schedule> {
  const client = access.clients.open(new SchedulerClient(access.settings('scheduler')));
  try {
    const { State, ScheduleExpression: expression = '' } = await calling(
      'scheduler:GetSchedule',
      () => client.send(new GetScheduleCommand({ Name }), { abortSignal: stop }),
      stop,
    );
    return State === 'ENABLED' ? { is: 'enabled', expression } : { is: 'disabled' };
  } catch (error) {
    if (!(error instanceof NotPermittedError || error instanceof AwsFailedError)) throw error;
    const isGone = error instanceof AwsFailedError && error.reason === 'ResourceNotFoundException';
    return isGone ? { is: 'removed' } : { is: 'unknown', because: error };
  }
}
