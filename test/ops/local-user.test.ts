import { expect, it } from 'vitest';
import { parseCommand } from '../../lambda/commands/contract.ts';
import { localUser } from '../../ops/target/local.ts';

/** Node's userInfo for a user without an entry. */
function nameless(): never {
  throw Object.assign(new Error('no entry'), { code: 'ERR_SYSTEM_ERROR' });
}

it.each([
  ['has a name', () => ({ username: 'odile' }), 'odile'],
  ['has a name of other letters', () => ({ username: 'zoë\u0007' }), 'zo--'],
  ['has no name', nameless, `uid ${process.getuid?.()}`],
])('a user of this machine who %s can be put on record', (_, lookUp, by) => {
  expect(localUser(lookUp)).toBe(by);
  expect(parseCommand({ command: 'tick', by })).toEqual({ command: 'tick', by });
});

it('another failure is not taken for a user without a name', () => {
  expect(() => localUser(() => Object(null).name.first)).toThrow(TypeError);
});
