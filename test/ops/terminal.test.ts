import { closeSync, openSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { InterruptedError } from '../../ops/errors.ts';
import { type EnvironmentVariables, hostOf } from '../../ops/host.ts';
import { Progress } from '../../ops/progress.ts';
import { Session } from '../../ops/session.ts';
import { Clients } from '../../ops/target/access.ts';
import { Terminal } from '../../ops/terminal.ts';
import { ManualClock } from '../scaffold/clock.ts';

/** Streams of a terminal, or of a pipe. */
function streams(isTTY: boolean, environment: EnvironmentVariables = {}, timeZone = 'UTC') {
  const stream = () => Object.assign(new PassThrough(), { isTTY, columns: 60 });
  const [input, output, errors] = [stream(), stream(), stream()];
  const stopping = new AbortController();
  const clock = new ManualClock();
  const streams = { input, output, errors };
  const host = hostOf({ streams, environment, timeZone, stopping, clock });
  const terminal = new Terminal(host);
  const parts = { host, terminal, clients: new Clients() };
  const session = new Session({ local: true, json: false }, parts);
  return { input, output, errors, stopping, clock, terminal, session };
}

const shown = (stream: PassThrough) => String(stream.read() ?? '');
const never = new AbortController().signal;

it('CSV for a file begins with a byte order mark, unless that is refused', () => {
  const { output, session } = streams(false);
  expect(session.csv(['a,b', 'c'])).toEqual(['a,b', 'c']);
  const fd = openSync(import.meta.filename, 'r');
  Object.assign(output, { fd });
  expect(session.csv(['a,b', 'c'])).toEqual(['\uFEFFa,b', 'c']);
  expect(session.csv(['a,b'], false)).toEqual(['a,b']);
  closeSync(fd);
});

describe('a question', () => {
  it.each([
    ['y', true],
    ['YES', true],
    ['', false],
    ['yellow', false],
  ])('answered with "%s" is agreed to: %s', async (typed, isAgreed) => {
    const { input, session, errors } = streams(true);
    const confirmed = session.confirm('Release 3 events?', false);
    input.write(`${typed}\r`);
    if (isAgreed) await confirmed;
    else await expect(confirmed).rejects.toMatchObject({ code: 'not-confirmed', exitCode: 4 });
    expect(shown(errors)).toContain('Release 3 events? [y/N] ');
  });

  it('is not asked after an earlier agreement, or if nobody is there', async () => {
    const { session, errors } = streams(false);
    await session.confirm('Release?', true);
    await expect(session.confirm('Release?', false)).rejects.toMatchObject({ exitCode: 2 });
    expect(shown(errors)).toBe('');
  });

  it.each(['\u0003', '\u0004', ''])('ends with Ctrl-C, Ctrl-D or a signal (%j)', async (key) => {
    const { input, terminal, stopping } = streams(true);
    const asked = terminal.ask('client ID: ', stopping.signal);
    if (key === '') stopping.abort(new InterruptedError());
    else input.write(key);
    await expect(asked).rejects.toBeInstanceOf(InterruptedError);
  });
});

it('a secret is read and never shown', async () => {
  const { input, output, errors, terminal } = streams(true);
  const asked = terminal.askSecretly('client secret: ', never);
  input.write('hush-hush\r');
  expect(await asked).toBe('hush-hush');
  expect(shown(errors)).toBe('client secret: \n');
  expect(shown(output)).toBe('');
});

it('standard input is not read from a terminal while questions go elsewhere, since the typed text would be visible', async () => {
  const { input, errors, terminal } = streams(true);
  errors.isTTY = false;
  expect(terminal.isAttended).toBe(false);
  input.end('{"client_secret":"hush-hush"}');
  await expect(terminal.standardInput(never)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('standard error'),
  });
  expect(input.readableFlowing).not.toBe(true);
});

it('takes an empty TZ for UTC', () => {
  expect(streams(false, {}, 'Etc/Unknown').terminal.view().zone).toBe('UTC');
});

it.each([
  [false, {}, false],
  [true, {}, true],
  [true, { NO_COLOR: '1' }, false],
  [true, { TERM: 'dumb' }, false],
  [false, { FORCE_COLOR: '1' }, true],
])('colour on a terminal (%s) with %j: %s', (isTTY, variables, isPainted) => {
  const environment = { TERM: 'xterm-256color', ...variables };
  const painted = streams(isTTY, environment).terminal.view().paint('bad', 'x');
  expect(painted).toBe(isPainted ? '\u001B[31mx\u001B[39m' : 'x');
});

describe('progress', () => {
  it('is shown after two seconds, on a terminal, and removed at the end', () => {
    const { terminal, clock, errors } = streams(true);
    const progress = new Progress({ terminal, clock }, 'replay');
    clock.advance({ milliseconds: 1_900 });
    expect(shown(errors)).toBe('');
    progress.at(1, 4, 'days');
    clock.advance({ milliseconds: 300 });
    expect(shown(errors)).toContain('replay  ██████░░');
    terminal.print(['done']);
    expect(shown(errors)).toBe('\r\u001B[2K');
    clock.advance({ milliseconds: 300 });
    progress[Symbol.dispose]();
    expect(shown(errors).endsWith('\r\u001B[2K')).toBe(true);
    clock.advance({ milliseconds: 3_000 });
    expect(shown(errors)).toBe('');
  });

  it('estimates by the work since it is shown, and counts down', () => {
    const { terminal, clock, errors } = streams(true);
    errors.columns = 120;
    using progress = new Progress({ terminal, clock }, 'baseline');
    // Half was done before, which says nothing about the pace.
    progress.at(500, 1000, 'certifications');
    progress.at(500, 1000, 'certifications');
    clock.advance({ milliseconds: 10_000 });
    expect(shown(errors)).toMatch(/50 % {2}500 of 1,000 certifications$/);
    progress.at(600, 1000, 'certifications');
    clock.advance({ milliseconds: 250 });
    expect(shown(errors)).toMatch(/60 % {2}600 of 1,000 certifications, about 39 s left$/);
    clock.advance({ milliseconds: 10_000 });
    expect(shown(errors)).toMatch(/about 29 s left$/);
  });

  it.each([true, false])('has no pace for work without time; only on a terminal: %s', (isTTY) => {
    const { terminal, clock, errors } = streams(isTTY);
    using progress = new Progress({ terminal, clock }, 'replay');
    for (const days of [1, 2]) progress.at(days, 4, 'days');
    clock.advance({ milliseconds: 2_000 });
    expect(shown(errors)).toMatch(isTTY ? /50 % {2}2 of 4 days$/ : /^$/);
  });

  it('never exceeds the line', () => {
    const { terminal, errors } = streams(true);
    terminal.transient('x'.repeat(100));
    expect(shown(errors)).toBe(`\r\u001B[2K${'x'.repeat(58)}…`);
    // Some terminals that do not know their width say 0.
    errors.columns = 0;
    terminal.transient('x'.repeat(70));
    expect(shown(errors)).toBe(`\r\u001B[2K${'x'.repeat(70)}`);
  });
});
