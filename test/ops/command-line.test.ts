import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../../ops/commands/index.ts';
import { completionScript } from '../../ops/completion.ts';
import { buildProgram } from '../../ops/program.ts';
import { Nowhere } from '../support/running.ts';
import { Running } from './program-runner.ts';

/** None of these reaches AWS. */
function run(args: string, environment: Record<string, string> = {}) {
  const aws = () => {
    throw new Error('AWS is asked');
  };
  return new Running(args, { environment, aws }).ended;
}

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index).join();

const tooMany = 'are more than one command may name.';
const oneQueue = 'Allowed: the ARN of an SQS queue, such as arn:aws:sqs:';
const earlier = 'Allowed: the JSON that an earlier call of';
/** Some with the place of their help. */
const mistakes: [args: string, words: string, help?: string][] = [
  ['tikc', "Unknown command 'tikc'. (Did you mean tick?)", '--help lists the commands'],
  ['tick --stak x', "Unknown option '--stak'. (Did you mean --stack?)"],
  ['credentials set --secret=canary', "Unknown option '--secret'."],
  ['replay --from yesterday', 'Allowed: a day, such as 2026-11-21.'],
  ['tick now', 'Too many arguments'],
  ['explain', "Missing required argument 'id'.", 'explain --help describes it.'],
  ['explain abc', 'Allowed: a whole number from 1.'],
  [`replay --id ${numbers(1, 700)} --id ${numbers(701, 1_001)}`, `1,001 ids ${tooMany}`],
  [`discard --organization ${numbers(1, 1_001)}`, `1,001 ids ${tooMany}`],
  [`release --year ${numbers(1, 1_001)}`, `1,001 years ${tooMany}`],
  ['discard --year 20260', 'Allowed: years, such as 2026,'],
  ['pause --reason=', 'Allowed: a sentence of 1 to 200 characters.', 'pause --help describes'],
  ['replay --all --queue https://example.org/new', oneQueue],
  ['replay --all --queue new', oneQueue],
  ['tick --stack', "Option '--stack <name>' argument missing."],
  ['baseline --follow --restart', "'--restart'"],
  ['baseline --reason later', '--reason and --yes belong to --restart.'],
  ['baseline --yes', '--reason and --yes belong to --restart.'],
  ['replay --from 2026-11-02 --to 2026-11-01', '--from 2026-11-02 is after --to 2026-11-01.'],
  ['test-event --assessment=', 'Allowed: a name of 1 to 200 characters.'],
  ['events --assessment=', 'Allowed: a name of 1 to 200 characters.'],
  ['events --assessment=\u00A0', 'Allowed: a name of 1 to 200 characters.'],
  [`events --assessment A --assessment ${'x'.repeat(201)}`, 'Allowed: a name of 1 to 200 char'],
  ['prove --next {}', earlier],
  ['replay --next {"command":"prove","from":"2026-11-01","to":"2026-11-02"}', earlier],
  ['tick --local --region us-east-1', '--region and --profile are for AWS'],
  ['help tikc', "Unknown command 'tikc'."],
  ['', 'No command was given.'],
  ['credentials', 'No command was given.', 'credentials --help describes it.'],
  ['credentials set now', 'Too many arguments', 'credentials set --help describes it.'],
  ['events --all --limit 3', "'--all' cannot be used with"],
  ['events --delivery sent', 'Allowed: baseline, announced,'],
  ['prove --from 2026-11-01', 'The days are missing.'],
  ['prove --from 0001-01-01 --to 9999-12-31', 'covers 30 years at most.'],
  ['replay', 'The events to replay are not selected.'],
  ['release --next {"command":"discard","waiting":"held"}', 'an earlier call of release printed.'],
  ['replay --all --id 5', '--all excludes any other selection.'],
  ['replay --dry-run --next {"ids":[1]}', "'--dry-run'"],
  ['release --for 12', 'Allowed: 0h to 72h.'],
  ['release --for 99h', 'Allowed: 0h to 72h.'],
  ['release --for 12h --year 2019', "'--year <years>'"],
  ['release --for 1h --digest', "'--digest'"],
  ['tick --local --stack prod', '--local and --stack exclude each other.'],
  ['listen --forward-to http://example.org/', 'of another machine'],
];

it.each(['events', 'prove --from 2026-10-01 --to 2026-10-31'])(
  '%s has one format',
  async (args) => {
    const { stdout } = await run(`${args} --csv --json --stack prod`);
    expect(JSON.parse(stdout)).toMatchObject({
      problem: { code: 'usage', message: '--csv and --json exclude each other.' },
    });
  },
);

it.each(mistakes)(
  'a wrong command line ends with 2, and names the mistake: %s',
  async (args, words, help = '') => {
    const human = await run(args);
    expect(human).toMatchObject({ exitCode: 2, stdout: '' });
    expect(human.stderr).toContain(words);
    expect(human.stderr).toContain(help && `\n  certification-notifier ${help}`);
    expect(human.stderr).not.toMatch(/\.\.|canary/);
    const { exitCode, stdout, stderr } = await run(`--json ${args}`);
    expect({ exitCode, ...JSON.parse(stdout) }).toEqual({
      exitCode: 2,
      ok: false,
      problem: {
        code: 'usage',
        fault: 'ops',
        message: expect.stringContaining(words),
        retryHelps: false,
        whatToDo: expect.any(String),
      },
    });
    expect(stderr.includes('Usage:')).toBe(/^(help .*|credentials)?$/.test(args));
  },
);

it('an empty NOTIFIER_STACK counts as absent, and a local instance may not be running', async () => {
  const environment = { NOTIFIER_STACK: '', NOTIFIER_LOCAL: '/nowhere' };
  const neither = await run('tick', environment);
  expect(neither).toMatchObject({ exitCode: 2, stdout: '' });
  expect(neither.stderr).toContain('error: No deployment is named.');
  const local = await run('tick --local', environment);
  expect(local).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('npm start') });
  expect((await run('tick --stack=', environment)).stderr).toContain('not the name of a stack');
});

it('all code about a process is in two files', () => {
  const ops = join(import.meta.dirname, '../../ops');
  const about =
    /\bprocess\.(env|argv|exit|on|once|emit|std|cwd|kill)|= process;|\bconsole\.\w+\(|'(node:)?process'/;
  const sources = readdirSync(ops, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && about.test(readFileSync(join(ops, name), 'utf8')),
  );
  expect(sources.sort()).toEqual(['cli.ts', 'stopping.ts']);
});

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
it.each([
  ['--version', `${version}\n`],
  ...['--help', 'tick --help --json', 'help tick'].map((one) => [one, 'Usage: certification-not']),
])('%s is answered, and no failure', async (args, said) => {
  const { stdout, ...ended } = await run(args);
  expect(stdout).toContain(said);
  expect(ended).toEqual({ exitCode: 0, stderr: '' });
});

const lost = `error: The output could not be written (ENOSPC).
  The command may have done its work all the same. Make room, or write to another place, and run it again.
  A retry can help. (output-lost)
`;
it.each([
  ['completion bash', 'ENOSPC', 5, lost],
  ['status --help', 'ENOSPC', 5, lost],
  ['tick --json', 'ENOSPC', 5, lost],
  // A reader who has closed the output has seen enough.
  ['--help', 'EPIPE', 0, ''],
])(
  'output that is lost is a failure, save to a reader who ends: %s, %s',
  async (args, code, ...ended) => {
    const output = new Nowhere(code);
    const { exitCode, stderr } = await new Running(args, { output }).ended;
    expect([exitCode, stderr]).toEqual(ended);
  },
);

it('a full disk is a failure that cannot even be reported', async () => {
  const full = new Nowhere('ENOSPC');
  const { exitCode } = await new Running('--help', { output: full, errors: full }).ended;
  expect(exitCode).toBe(5);
});

it.each(commands)('each example of $usage is a valid command line', async ({ usage, examples }) => {
  expect(examples.length).toBeGreaterThan(0);
  for (const [example] of examples) {
    const [, line = ''] = /^(.*?)( [<>]{1,2} .*)?$/.exec(example) ?? [];
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, plain = '']) => quoted ?? plain,
    );
    const carried: string[] = [];
    const parser = buildProgram(async (command) => void carried.push(command.usage));
    await parser.parseAsync(words, { from: 'user' });
    expect(carried).toEqual([usage]);
  }
});

it.each(['bash', 'zsh'] as const)('the completion of %s knows every command', (shell) => {
  const script = completionScript(shell, buildProgram());
  for (const { usage } of commands) expect(script).toContain(usage.split(' ').at(-1));
});
