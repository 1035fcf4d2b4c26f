import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { breakable, build, dismantle, lines, measure, strike } from './breakages.ts';

beforeAll(build);
afterAll(dismantle);
afterEach(strike);

/** One breakage for each way to people on call. breakages.soak.test.ts measures all of the page. */
const byWay: Readonly<Record<string, string>> = {
  'a notice, and alarms by counts of the ticks and of Lambda': 'the secret has another shape',
  'a notice, and an alarm by what the ledger sets aside': 'SNS refuses an event for good',
  'an alarm of the failures that follow a notice': 'the host is gone, after the notice at 15 min',
  'an alarm of undelivered events': '`sns:Publish`',
  'an alarm of silence': '`logs:PutLogEvents`',
  'an alarm by counts of SNS': 'a queue or its key keeps SNS out',
  'an alarm of what the scheduler could not start': 'the schedule may not start ticks',
  'the daily check': 'the key of the topics shuts CloudWatch out',
  'a tick that misses the daily check': 'the schedule of the daily check is disabled',
  'only the log and a look': 'the operations topic is deleted',
  'the answer to a command': '`sqs:SendMessage`',
};

describe('people on call hear of a breakage, with its cause and its repair, by', () => {
  const shown = Object.entries(byWay).flatMap(([way, broken]) => {
    const found = lines.filter((line) => line.broken === broken);
    if (found.length === 0) throw new Error(`the page has no line for ${broken}`);
    return found.map((line) => ({ way, line }));
  });

  it.each(shown)('$way: $line.broken', ({ line }) => measure(line));
});

it('docs/measured/breakages.md has a line for each breakage and each action of a role', async () => {
  expect(lines.map(({ broken }) => broken).sort()).toEqual(await breakable());
});
