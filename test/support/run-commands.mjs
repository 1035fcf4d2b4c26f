// Runs command lines of the installed package, one after the other, in one process of whichever Node. A test
// copies it beside the package's node_modules, gives it a list of these as JSON on standard input, and reads
// what each has said as JSON from standard output.
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { InterruptedError } from './node_modules/certification-notifier/dist/ops/errors.js';
import { run } from './node_modules/certification-notifier/dist/ops/run.js';

/** What it says, and the first moment at which it has said something. */
function heard(stream) {
  const said = {
    text: '',
    saying: (words) => new Promise((resolve) => awaited.push({ words, resolve })),
  };
  const awaited = [];
  stream.on('data', (chunk) => {
    said.text += chunk;
    for (const { words, resolve } of awaited) if (said.text.includes(words)) resolve();
  });
  return said;
}

/** `until` is for commands that somebody has to end: what they say once they work. */
async function outcomeOf({ name, args, input, until, opens }) {
  const streams = {
    input: new PassThrough(),
    output: new PassThrough(),
    errors: new PassThrough(),
  };
  const stopping = new AbortController();
  const output = heard(streams.output);
  const errors = heard(streams.errors);
  const host = { streams, environment: process.env, timeZone: process.env.TZ, stopping };
  const ended = run(args.split(' '), host);
  streams.input.write(input ?? '');
  const opened = [];
  if (until === undefined) streams.input.end();
  else {
    await Promise.race([output.saying(until), errors.saying(until), ended]);
    for (const path of opens ?? [])
      opened.push((await fetch(new URL(path, output.text.split('\n')[0]))).status);
    stopping.abort(new InterruptedError());
  }
  const exitCode = await ended;
  return { name, exitCode, stdout: output.text, stderr: errors.text, opened };
}

const outcomes = [];
for (const command of JSON.parse(await text(process.stdin)))
  outcomes.push(await outcomeOf(command));
process.stdout.write(JSON.stringify(outcomes));
