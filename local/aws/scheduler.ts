import { createServer, type Server } from 'node:http';
import type { SchedulePlan } from './interpret.ts';

const path = /^\/schedules\/([^/?]+)/;

/** A stand-in for EventBridge Scheduler (REST, 2021-06-30): GetSchedule. Signatures are not checked. */
export function scheduler(schedules: readonly SchedulePlan[]): Server {
  return createServer((request, response) => {
    const [, name = ''] = path.exec(decodeURIComponent(request.url ?? '')) ?? [];
    const found = schedules.find((schedule) => schedule.name === name);
    if (request.method !== 'GET' || found === undefined) {
      response
        .writeHead(404, { 'x-amzn-errortype': 'ResourceNotFoundException' })
        .end(JSON.stringify({ Message: `Schedule ${name} does not exist.` }));
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        Arn: found.arn,
        Name: found.name,
        GroupName: 'default',
        ScheduleExpression: found.expression,
        Target: { Arn: found.functionName, RoleArn: '', Input: found.input },
        State: found.enabled ? 'ENABLED' : 'DISABLED',
      }),
    );
  });
}
