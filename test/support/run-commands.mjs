// Runs command lines of the installed package, one after the other, in one process of any version
// of Node. A test copies this file beside the package's node_modules. It reads the command lines as
// JSON from standard input, and writes their outputs as JSON to standard output.
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { InterruptedError } from './node_modules/certification-notifier/dist/ops/errors.js';
import { run } from './node_modules/certification-notifier/dist/ops/run.js';

/** The output of a stream so far, and promises that it contains certain words. */
function heard(stream) {
  const awaited = [];
  const saying = (words) => new Promise((resolve) => awaited.push({ words, resolve }));
  const said = { text: '', saying };
  stream.on('data', (chunk) => {
    said.text += chunk;
    for (const { words, resolve } of awaited) if (said.text.includes(words)) resolve();
  });
  return said;
}

/** A command with `until` runs until it is interrupted, once its output contains these words. */
async function outcomeOf({ name, args, input, until, opens }) {
  const [ours, ...others] = Array.from({ length: 3 }, () => new PassThrough());
  const streams = { input: ours, output: others[0], errors: others[1] };
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
for (const one of JSON.parse(await text(process.stdin))) outcomes.push(await outcomeOf(one));
process.stdout.write(JSON.stringify(outcomes));
