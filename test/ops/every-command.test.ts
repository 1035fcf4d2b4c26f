import { describe, expect, it } from 'vitest';
import { announced, denied, desk, json } from './desk.ts';
import { eachCommand } from './each-command.ts';

// Pages of the console and tools of mcp report failures themselves: test/console/, mcp/mcp.test.ts.
// `listen` uses no function: listen.test.ts. `watch` tolerates failures: watch.test.ts.
const elsewhere = ['console', 'mcp', 'listen', 'watch'];
const everyCommand = eachCommand.filter(({ name }) => !elsewhere.includes(name));

const duty = desk(announced);
const input = '{"client_id":"somebody","client_secret":"hush-hush"}';

const goesOn = 'The call in progress goes on in AWS to its end, within a minute;';
/** The possible effects of a command that Ctrl-C ends. All others have none. */
const effects: Readonly<Record<string, string>> = {
  ...{ tick: 'status --history shows', pause: 'status --history shows' },
  ...{ resume: 'status --history shows', 'accept-total': 'status --history shows' },
  ...{ prove: 'status --history shows', 'test-event': 'the test event may be sent.' },
};

describe.each(everyCommand)('$name reports', ({ name, args }) => {
  it.each([
    ['a missing stack', 3, 'There is no stack nowhere in us-east-1.'],
    ['a missing permission', 4, 'AWS refuses lambda:InvokeFunction (AccessDeniedException).'],
    ['a Lambda that fails', 5, 'lambda:InvokeFunction failed (ServiceException).'],
  ])('%s', async (what, exitCode, said) => {
    const reply = exitCode === 4 ? denied : json(500, { __type: 'ServiceException' });
    duty.lambda.always(async () => reply);
    const stack = what === 'a missing stack' ? 'nowhere' : duty.stack;
    const { stderr, ...ended } = await duty.runAnywhere(`${args} --stack ${stack}`, { input });
    expect(stderr).toContain(`error: ${said}`);
    expect(ended).toEqual({ exitCode, stdout: '' });
  });

  it('its progress on a terminal, and its effects when Ctrl-C ends it within a call', async () => {
    const program = duty.start(args, { isTTY: name !== 'credentials set' });
    program.input.end(input);
    const shown: string[] = [];
    duty.lambda.always(async () => {
      for (let second = 0; second < 10; second += 1) {
        const before = program.errors.text.length;
        duty.story.clock.advance({ seconds: 1 });
        shown.push(program.errors.text.slice(before));
      }
      program.interrupt();
      return undefined;
    });
    const { stderr, ...ended } = await program.ended;
    const { [name]: where } = effects;
    const said = where === undefined ? 'Nothing was changed.' : `${goesOn} ${where}`;
    expect(stderr).toContain(`error: Interrupted.\n  ${said}`);
    expect(ended).toEqual({ exitCode: 130, stdout: '' });
    expect(shown[0]).toBe('');
    expect(shown[9]?.split('\r\u001B[2K').at(-1)).toMatch(
      name === 'credentials set' ? /^$/ : /^[a-z-]+ {2}█+░+ {2}10 s, an answer within 45 s$/,
    );
  });
});
