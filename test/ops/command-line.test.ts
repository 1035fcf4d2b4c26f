import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { Running } from './running.ts';

/** None of these reaches AWS. */
function run(args: string, environment: Record<string, string> = {}) {
  const aws = () => {
    throw new Error('AWS is asked');
  };
  return new Running(args, { environment, aws }).ended;
}

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index).join();

const mistakes: [what: string, args: string, words: string][] = [
  ['an unknown command', 'tikc', "Unknown command 'tikc'. (Did you mean tick?)"],
  ['an unknown option', 'tick --stak x', "Unknown option '--stak'. (Did you mean --stack?)"],
  ['a secret as an option', 'credentials set --secret=canary', "Unknown option '--secret'."],
  ['a value that is none', 'replay --from yesterday', 'Allowed: a day, such as 2026-11-21.'],
  ['an argument too many', 'tick now', 'Too many arguments'],
  ['an argument too few', 'explain', "Missing required argument 'id'."],
  ['an id that is none', 'explain abc', 'Allowed: a whole number from 1.'],
  [
    'more ids than a command may name',
    `replay --id ${numbers(1, 700)} --id ${numbers(701, 1_001)}`,
    '1,001 ids are more than one command may name.',
  ],
  [
    'more organizations than that',
    `discard --organization ${numbers(1, 1_001)}`,
    '1,001 ids are more than one command may name.',
  ],
  [
    'more years than that',
    `release --year ${numbers(1, 1_001)}`,
    '1,001 years are more than one command may name.',
  ],
  ['a year that is none', 'discard --year 20260', 'Allowed: years, such as 2026,'],
  ['a reason that is none', 'pause --reason=', 'Allowed: a sentence of 1 to 200 characters.'],
  [
    'a queue by its URL',
    'replay --all --queue https://sqs.us-east-1.amazonaws.com/111122223333/new',
    'Allowed: the ARN of an SQS queue, such as arn:aws:sqs:us-east-1:111122223333:certifications.',
  ],
  ['a queue by its name', 'replay --all --queue new', 'Allowed: the ARN of an SQS queue,'],
  ['an option without its value', 'tick --stack', "Option '--stack <name>' argument missing."],
  ['two that exclude each other', 'baseline --follow --restart', "'--restart'"],
  ['a reason for nothing', 'baseline --reason later', '--reason and --yes belong to --restart.'],
  ['a yes to nothing', 'baseline --yes', '--reason and --yes belong to --restart.'],
  [
    'days the wrong way round',
    'replay --from 2026-11-02 --to 2026-11-01',
    '--from 2026-11-02 is after --to 2026-11-01.',
  ],
  ['a name that is none', 'test-event --assessment=', 'Allowed: a name of 1 to 200 characters.'],
  ['nothing to go on with', 'prove --next {}', 'Allowed: the JSON that an earlier call printed.'],
  [
    'to go on with something else',
    'replay --next {"command":"prove","from":"2026-11-01","to":"2026-11-02"}',
    'Allowed: the JSON that an earlier call printed.',
  ],
  [
    'a place in AWS that is here',
    'tick --local --region us-east-1',
    '--region and --profile are for AWS',
  ],
  ['help for nothing', 'help tikc', "Unknown command 'tikc'."],
  ['no command', '', 'No command was given.'],
  ['half a command', 'credentials', 'No command was given.'],
];

describe('a wrong command line ends with 2, and names the mistake:', () => {
  it.each(mistakes)('%s', async (_what, args, words) => {
    const { exitCode, stdout, stderr } = await run(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('..');
    expect(stderr).not.toContain('canary');
  });

  it.each(mistakes)('%s, to machines as JSON', async (_what, args, words) => {
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
  });

  it.each([
    ['tikc', 'certification-notifier --help lists the commands'],
    ['explain', 'certification-notifier explain --help describes it.'],
    ['pause --reason=', 'certification-notifier pause --help describes it.'],
    ['credentials', 'certification-notifier credentials --help describes it.'],
    ['credentials set now', 'certification-notifier credentials set --help describes it.'],
  ])('%s, with the place of its help', async (args, where) => {
    const { stderr } = await run(args);
    expect(stderr).toContain(`\n  ${where}`);
  });

  it('two formats at once', async () => {
    const days = 'prove --from 2026-10-01 --to 2026-10-31 --csv --json --stack prod';
    const { exitCode, stdout, stderr } = await run(days);
    expect({ exitCode, stderr, ...JSON.parse(stdout) }).toMatchObject({
      exitCode: 2,
      stderr: '',
      problem: { code: 'usage', message: '--csv and --json exclude each other.' },
    });
  });
});

it('an empty NOTIFIER_STACK counts as absent', async () => {
  const environment = { NOTIFIER_STACK: '', NOTIFIER_LOCAL: '/nowhere' };
  const neither = await run('tick', environment);
  expect(neither).toMatchObject({ exitCode: 2, stdout: '' });
  expect(neither.stderr).toContain('error: No deployment is named.');
  expect(await run('tick --local', environment)).toMatchObject({ exitCode: 3 });
  expect((await run('tick --stack=', environment)).stderr).toContain('not the name of a stack');
});

it('tells the version of the package', async () => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'));
  expect(await run('--version')).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
});

it('requested help is no failure, also with --json', async () => {
  for (const args of ['--help', 'tick --help --json', 'help tick']) {
    const { exitCode, stdout, stderr } = await run(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('Usage: certification-notifier');
  }
});
