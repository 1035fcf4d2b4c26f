import { GetScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { type Access, calling } from './access.ts';
import { AwsFailedError, NotPermittedError } from './errors.ts';

/** The state of a schedule, of ticks or of self-checks. */
export type Schedule =
  /**
   * @property expression as AWS writes it, such as `rate(1 minute)`
   * @property input the function's input, if it is no event of AWS's own
   */
  | { readonly is: 'enabled'; readonly expression: string; readonly input: string | undefined }
  | { readonly is: 'disabled'; readonly input: string | undefined }
  | { readonly is: 'removed' }
  | { readonly is: 'unknown'; readonly because: AwsFailedError | NotPermittedError };

export const schedulePermission =
  '`scheduler:GetSchedule`; without it `check` skips that one check, and `status` does not know whether the schedule is enabled';

/**
 * Reads a schedule, which the function itself cannot see. A missing permission and a failure of AWS are answers, too.
 */
export async function lookAtSchedule(
  access: Access,
  Name: string,
  stop: AbortSignal,
): Promise<Schedule> {
  const client = access.clients.open(new SchedulerClient(access.settings('scheduler')));
  try {
    const {
      State,
      ScheduleExpression: expression = '',
      Target: { Input: input } = {},
    } = await calling(
      'scheduler:GetSchedule',
      () => client.send(new GetScheduleCommand({ Name }), { abortSignal: stop }),
      stop,
    );
    return State === 'ENABLED' ? { is: 'enabled', expression, input } : { is: 'disabled', input };
  } catch (error) {
    if (!(error instanceof NotPermittedError || error instanceof AwsFailedError)) throw error;
    const isGone = error instanceof AwsFailedError && error.reason === 'ResourceNotFoundException';
    return isGone ? { is: 'removed' } : { is: 'unknown', because: error };
  }
}
