import { SQSClient } from '@aws-sdk/client-sqs';
import { CommanderError } from 'commander';
import * as z from 'zod';
import { demoQueue } from '../../infra/demo.ts';
import { stackOutputs } from '../../infra/output-names.ts';
import type { ResultOf } from '../../lambda/commands/contract.ts';
import { OpsError } from '../../ops/errors.ts';
import { exitCodes } from '../../ops/exit-codes.ts';
import { type HostInput, hostOf, type OpsHost } from '../../ops/host.ts';
import { Clients, calling } from '../../ops/target/access.ts';
import { OperateClient } from '../../ops/target/operate-client.ts';
import { findTarget, selectIntegration } from '../../ops/target/target.ts';
import { StartError } from '../errors.ts';
import { changeKinds, type TimetableChange } from '../partner-sandbox/timetable.ts';
import { newCommandLine, number, runProgram } from '../program.ts';
import { take } from '../queue.ts';
import {
  falsehoods,
  type Heard,
  heardIn,
  type QueuedEvent,
  tells,
  untold,
  wrongDays,
} from './judging.ts';
import { DemoPartner } from './partner.ts';

const baselineMinutes = 15;
const triedAgainMs = 2_000;
/** Changes go back ten years, and the history two more. */
const yearsProven = 13;

const whole = number('a whole number from 1 to 999999', z.int().min(1).max(999_999));

const optionsSchema = z.object({
  stack: z.string().optional(),
  local: z.boolean().default(false),
  region: z.string().optional(),
  profile: z.string().optional(),
  changes: z.number(),
  within: z.number().optional(),
});

type Options = z.output<typeof optionsSchema>;

/** `npm run smoke`: see docs/operations.md#a-demo-stack. @returns the exit code: 1 when an event is missing or false */
export async function run(argv: readonly string[], input: HostInput): Promise<number> {
  const host = hostOf(input);
  const program = newCommandLine('npm run smoke --', host.streams)
    .description(
      'Waits for changes of the demo (npx cdk deploy -c demo=true), and judges the events that tell of them.',
    )
    .addHelpText(
      'after',
      `
Ends with 1 if an event is missing after --within, if one tells of a change that has not happened or has a second id,
or if a day of the certificate (prove) is unproven or has another number than the partner. Days on which something
has just changed are left out of the last. Other failures have the exit codes of npm run ops.
Deletes the messages that it has read from the demo's queue, so two runs at once take each other's.`,
    )
    .option('--stack <name>', 'the demo in AWS')
    .option('--local', 'the one that npm start -- --demo runs here')
    .option('--region <name>', 'AWS region (default: as AWS_REGION or the profile says)')
    .option('--profile <name>', 'AWS profile (default: as AWS_PROFILE says)')
    .option('--changes <number>', 'changes to wait for', whole, 5)
    .option(
      '--within <seconds>',
      'how long the last event may take (default: the worst time that status shows, and a minute)',
      whole,
    );
  const code = await runProgram(
    host,
    async () => {
      program.parse([...argv], { from: 'user' });
      using clients = new Clients();
      return await smoke(optionsSchema.parse(program.opts()), host, clients);
    },
    failureOf,
  );
  // An interrupted run has not passed.
  return host.stopping.signal.aborted ? exitCodes.interrupted : code;
}

/** As in `npm run ops`, so 1 is a failed judgement alone. */
function failureOf(error: unknown): number {
  if (error instanceof CommanderError) return exitCodes.usage;
  return error instanceof OpsError ? error.exitCode : exitCodes.failed;
}

async function smoke(options: Options, host: OpsHost, clients: Clients): Promise<number> {
  const { clock, stopping } = host;
  const stop = stopping.signal;
  const say = (line: string) => host.streams.output.write(`${line}\n`);
  const target = await findTarget(options, host, clients);
  const integration = selectIntegration(target, undefined);
  const client = new OperateClient(target.access, integration, { stop, clock });

  const { settings, detection } = await untilRead(client, host);
  const partner = await DemoPartner.ask(settings.baseUrl, clock);
  const sqs = clients.open(new SQSClient(target.access.settings('sqs')));
  const url = target.output(stackOutputs.queueUrl(demoQueue));
  // The demo's own queue: nobody else reads it.
  const receive = async () => {
    const action = 'sqs:ReceiveMessage or sqs:DeleteMessage';
    return (await calling(action, () => take(sqs, url, 1, stop), stop)).map(heardIn);
  };
  const worstMinutes = Math.max(detection.news, detection.withdrawn, detection.editedRecent) + 1;
  const worstMs = 60_000 * worstMinutes;
  // A day on which something appears for the first time is unproven until its audit.
  const settledMs = 60_000 * (Math.max(worstMinutes, detection.editedHistory) + 1);
  const withinMs = options.within === undefined ? worstMs : 1_000 * options.within;
  say(
    `${target.name}: a partner that changes every ${partner.everySeconds} s (seed ${partner.seed})`,
  );

  partner.catchUp();
  const begun = partner.now();
  say(`waiting for ${options.changes} changes and their events`);
  const { due, heard } = await listen(receive, partner, { ...options, withinMs }, say);
  const events = eventsIn(heard);
  const problems = [
    ...heard.flatMap((one) =>
      'messageId' in one ? [`message ${one.messageId}: it is no event`] : [],
    ),
    ...untold(due, events).map(({ kind, id }) => `${kind} ${id}: no event tells of it`),
    ...falsehoods(partner.happened, events),
    ...(await unproven(client, partner, begun - settledMs)),
  ];
  // Removals are rare, so a few changes may have none.
  const counts = changeKinds.map((kind) => [due.filter((one) => one.kind === kind).length, kind]);
  say(`changes: ${counts.map((one) => one.join(' ')).join(', ')}`);
  for (const problem of problems) say(problem);
  say(
    problems.length === 0
      ? 'passed: each change was told, no event was false or doubled, and each settled day is proven with its number'
      : `failed: ${problems.length} of the above`,
  );
  return problems.length === 0 ? exitCodes.fine : exitCodes.problem;
}

const eventsIn = (heard: readonly Heard[]) => heard.filter((one) => 'id' in one);

/**
 * Reads the queue until so many more changes have happened and were announced, or until `withinMs` after the last of
 * them. Then it reads for as long as the partner takes for another change, to notice a second or a false event.
 */
async function listen(
  receive: () => Promise<readonly Heard[]>,
  partner: DemoPartner,
  { changes, withinMs }: { readonly changes: number; readonly withinMs: number },
  say: (line: string) => void,
): Promise<{ readonly due: readonly TimetableChange[]; readonly heard: readonly Heard[] }> {
  const from = partner.happened.length;
  const heard: Heard[] = [];
  const told = new Set<TimetableChange>();
  let due: readonly TimetableChange[] = [];
  let endsAt = Number.POSITIVE_INFINITY;
  while (partner.now() <= endsAt) {
    heard.push(...(await receive()));
    partner.catchUp();
    due = partner.happened.slice(from, from + changes);
    for (const change of due.filter((one) => !told.has(one))) {
      const event = eventsIn(heard).find((one) => tells(change, one));
      if (event === undefined) continue;
      told.add(change);
      say(lineOf(change, event, partner));
    }
    const last = due[changes - 1];
    if (last === undefined) continue;
    const isOver = told.size === due.length || partner.now() > last.at + withinMs;
    if (isOver) endsAt = Math.min(endsAt, partner.now() + partner.everySeconds * 1_000);
  }
  return { due, heard };
}

function lineOf(
  { kind, at }: TimetableChange,
  { type, id }: QueuedEvent,
  partner: DemoPartner,
): string {
  const after = Math.max(0, Math.round((partner.now() - at) / 1_000));
  return `  ${kind.padEnd(9)}  ${type.padEnd(9)}  ${id}  after ${after} s`;
}

/** Waits for the end of the baseline. @throws StartError */
async function untilRead(client: OperateClient, host: OpsHost): Promise<ResultOf<'status'>> {
  const { clock, stopping } = host;
  const deadline = clock.now().add({ minutes: baselineMinutes }).epochMilliseconds;
  for (;;) {
    const status = await client.ask('status', { partner: false });
    if (status.baseline.status === 'completed') return status;
    if (clock.now().epochMilliseconds > deadline)
      throw new StartError(
        `The baseline was not completed within ${baselineMinutes} minutes.`,
        'Look at npm run ops -- status, and run it again.',
      );
    await clock.sleep(triedAgainMs, stopping.signal);
  }
}

/** @param settled days with changes since that moment are left out, since their events may be on their way */
async function unproven(
  client: OperateClient,
  partner: DemoPartner,
  settled: number,
): Promise<string[]> {
  const today = new Date(partner.now()).toISOString().slice(0, 10);
  const from = `${Number(today.slice(0, 4)) - yearsProven}-01-01`;
  const { days } = await client.ask('prove', { from, to: today });
  partner.catchUp();
  return wrongDays(days, partner.byDay(), partner.movedSince(settled));
}
