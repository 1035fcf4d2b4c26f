import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { accessNames } from '../../lambda/decisions/conditions.ts';
import { faultOf, faults, NotifierError, reachOf } from '../../lambda/errors.ts';
import { meanings, PartnerError } from '../../lambda/partner/errors.ts';

class TestHallClosedError extends NotifierError {
  readonly code = 'test-hall-closed';
  readonly fault = 'ops';
  readonly retryHelps = true;
  readonly whatToDo = 'Come back tomorrow.';
}

describe('an error of the notifier', () => {
  it('is named after its code, also if a minifier has renamed its class, and keeps its cause', () => {
    const cause = new Error('reset');
    const error = new TestHallClosedError('The hall is closed.', { cause });
    expect(error).toMatchObject({ name: 'TestHallClosedError', cause });
    expect(inspect(error)).toContain('TestHallClosedError: The hall is closed.');
    expect(Object.keys(error)).not.toContain('name');
  });

  it('says its reach and its fault, which a foreign error lacks', () => {
    const known = [new TestHallClosedError('The hall is closed.'), new Error('x')];
    expect(known.map(faultOf)).toEqual(['ops', undefined]);
    expect(known.map(reachOf)).toEqual(['all', undefined]);
  });
});

/** The partner client has one class with many codes. */
const ofPartner: [name: string, error: NotifierError][] = Object.keys(meanings).map((code) => [
  code,
  Reflect.construct(PartnerError, [code, 'list']),
]);

it.each([...(await declaredErrors()), ...ofPartner])(
  '%s names its fault and the next step',
  (_, made) => {
    expect(faults).toContain(made.fault);
    expect(made.code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(made.name).toMatch(/^[A-Z]\w+Error$/);
    expect(made.whatToDo).toMatch(/^[A-Z].*[.?]$/s);
    expect(typeof made.retryHelps).toBe('boolean');
    if (made.reach !== 'access') return;
    // Ops are told of it. Only two failures may end without them: of Secrets Manager, and of a host
    // that refuses its own tokens.
    expect(accessNames).toContain(made.code);
    const maybeOver = ['secret-unreadable', 'token-refused-twice'];
    expect(made.retryHelps).toBe(maybeOver.includes(made.code));
  },
);

/** Each error that a file declares, made with arguments that may appear in its text. */
async function declaredErrors(): Promise<[name: string, error: NotifierError][]> {
  const errors: [string, NotifierError][] = [];
  const declared = /^(?:export )?class (\w+) extends (?:NotifierError\b|errorOf\()/gm;
  for await (const file of glob('{lambda/**/*,consumer/errors}.ts')) {
    if (file.endsWith('partner/errors.ts')) continue;
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(declared)) {
      const exported: Record<string, unknown> = await import(join(process.cwd(), file));
      const made: unknown = Reflect.construct(Object(exported[name]), Array(4).fill(['Anything.']));
      if (!(made instanceof NotifierError)) throw new Error(`${name} of ${file} is not exported`);
      errors.push([name, made]);
    }
  }
  return errors;
}
