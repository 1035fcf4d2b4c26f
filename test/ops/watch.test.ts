import { expect, it } from 'vitest';
import { ManualClock } from '../scaffold/clock.ts';
import { assessment } from '../support/assessments.ts';
import { answering, desk, json, notStarted, settled } from './desk.ts';
import { messagingFor } from './messaging.ts';

const duty = desk(settled);
const aws = messagingFor(duty);

/** Starts the command, and waits for its subscription. */
async function watching(args = '') {
  const program = duty.start(`watch ${args}`);
  await program.shows(/^Watching /m);
  return program;
}

it('watch shows events and ticks as they come, without personal data, and leaves nothing behind', async () => {
  const program = await watching();
  await program.shows(/ tick {6} district-\d+ · 3 known · today no changes\n/);
  await aws.publish();
  await program.shows(/ created /);
  program.interrupt();
  const { exitCode, stdout, stderr } = await program.ended;
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: `Watching ${duty.story.name}; Ctrl-C ends it.\n`,
  });
  expect(stdout).toContain(`assessment ${aws.published.subject}`);
  expect(stdout).not.toContain('Quillfeather');
  await aws.nothingLeft();
});

it('watch writes a line of JSON each for machines', async () => {
  const program = duty.start('watch --json');
  await program.shows(/"tick"/);
  await aws.publish();
  await program.shows(/"event"/);
  program.interrupt();
  const lines = (await program.ended).stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { tick: { integration: duty.story.name, begun: [], over: [] } },
    { event: { subject: aws.published.subject, type: 'certification.created' } },
  ]);
});

it('watch continues after messages that are no events, and when a read of the ticks fails', async () => {
  duty.nextCall(async () => notStarted);
  const program = await watching();
  await program.shows(
    /^AWS does not start .+ \(TooManyRequestsException\): .* It is tried again\.$/m,
  );
  await aws.publish('maintenance\u001B[2J');
  await aws.publish('{"specversion":"1.0"}');
  await program.shows(/(Ignored a message that is no event of this version\.\n){2}/);
  await aws.publish();
  await program.shows(/ created /);
  program.interrupt();
  expect(await program.ended).toMatchObject({ exitCode: 0 });
});

it('watch shows events that it cannot delete, deletes several with one call, and continues', async () => {
  const published = Promise.withResolvers<void>();
  let isBroken = true;
  aws.sqsGate.always(async ({ operation, forward }) => {
    if (operation === 'ReceiveMessage') await published.promise;
    const isRefused = isBroken && operation.startsWith('DeleteMessage');
    return isRefused ? json(500, { __type: 'InternalFailure' }) : forward();
  });
  const program = await watching('--events-only');
  await Promise.all(Array.from({ length: 5 }, () => aws.publish()));
  published.resolve();
  await program.shows(/^sqs:DeleteMessage failed \(InternalFailure\)\. It is tried again\.$/m);
  expect(program.output.text.match(/ created /g)).toHaveLength(5);
  isBroken = false;
  await aws.publish();
  await program.shows(/( created (.|\n)*){6}/);
  program.interrupt();
  expect(await program.ended).toMatchObject({ exitCode: 0 });
  const deleted = aws.sqsGate.calls.filter((call) => call.startsWith('DeleteMessage'));
  expect(new Set(deleted)).toEqual(new Set(['DeleteMessageBatch']));
  await aws.nothingLeft();
});

it('watch says when ticks stop completing, and when they complete again', async () => {
  const { story } = duty;
  const program = await watching();
  await program.shows(/ tick /);
  const next = async (pattern: RegExp) => {
    // The next read of the ticks comes as soon as an event ends the wait for events.
    await aws.publish();
    await program.shows(pattern);
  };
  story.clock.advance({ minutes: 10 });
  await next(/ notice .*· ticks do not come/);
  story.add(assessment({ id: 31 }));
  await story.minute();
  await next(/ over: /);
  program.interrupt();
  const { stdout } = await program.ended;
  expect(stdout.match(/(?<= notice {5}district-\d+ · ).*/g)).toEqual([
    expect.stringMatching(
      /^ticks do not come to their end: the last one did at 2026-11-21 .* EST; status tells more$/,
    ),
    'over: ticks do not come to their end',
  ]);
});

it('watch ends when its queue does not answer again', async () => {
  const failure = json(500, { __type: 'InternalFailure' });
  aws.sqsGate.always(answering('ReceiveMessage', failure));
  const { exitCode, stderr } = await duty.run('watch --events-only');
  const failed = 'sqs:ReceiveMessage failed (InternalFailure).';
  expect(stderr.split(`\n${failed} It is tried again.`)).toHaveLength(5);
  expect(stderr).toContain(`\nerror: ${failed}`);
  expect(exitCode).toBe(5);
  await aws.nothingLeft();
});

it.each(['watch --events-only', 'listen --forward-to http://localhost:9/'])(
  '%s removes the queue of an earlier run once it is old, which that run says',
  async (args) => {
    const earlier = duty.start(args, { clock: new ManualClock('2026-11-21T07:00:00Z') });
    await earlier.shows(/Ctrl-C ends it/);
    const program = duty.start(args);
    await program.shows(/Removed leftovers of earlier runs: 1\./);
    const { exitCode, stderr } = await earlier.ended;
    expect(stderr).toContain('error: Another run has removed the queue.\n  Its clock differs');
    expect(exitCode).toBe(5);
    expect(await aws.queues()).toHaveLength(1);
    program.interrupt();
    expect(await program.ended).toMatchObject({ exitCode: 0 });
    await aws.nothingLeft();
  },
);
