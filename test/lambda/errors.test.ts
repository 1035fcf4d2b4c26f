import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { accessNames } from '../../lambda/detection/conditions.ts';
import { faultOf, faults, NotifierError, reachOf } from '../../lambda/errors.ts';
import { meanings, PartnerError } from '../../lambda/partner/errors.ts';

class TestHallClosedError extends NotifierError {
  readonly code = 'test-hall-closed';
  readonly fault = 'ops';
  readonly retryHelps = true;
  readonly whatToDo = 'Come back tomorrow.';
}

describe('an error of the notifier', () => {
  it('is named after its code, also if a minifier has renamed its class', () => {
    const error = new TestHallClosedError('The hall is closed.');
    expect(error.name).toBe('TestHallClosedError');
    expect(String(error)).toBe('TestHallClosedError: The hall is closed.');
    expect(inspect(error)).toContain('TestHallClosedError: The hall is closed.');
    expect(Object.keys(error)).not.toContain('name');
  });

  it('keeps its cause', () => {
    const cause = new Error('reset');
    expect(new TestHallClosedError('The hall is closed.', { cause }).cause).toBe(cause);
  });

  it('says its reach and its fault, which a foreign error lacks', () => {
    const error = new TestHallClosedError('The hall is closed.');
    expect([faultOf(error), reachOf(error)]).toEqual(['ops', 'all']);
    expect([faultOf(new Error('x')), reachOf(new Error('x'))]).toEqual([undefined, undefined]);
  });
});

/** By file: the classes of errors that it declares. The partner client has one class with many codes. */
const declared = await declaredErrors();

describe.each([...declared])('%s', (file, names) => {
  it.each(names)('has %s name its fault and the next step', async (name) => {
    isWhole(await errorOf(file, name));
  });
});

describe('an error of the partner client', () => {
  it.each(Object.keys(meanings))('with the code %s names its fault and the next step', (code) => {
    isWhole(Reflect.construct(PartnerError, [code, 'list']));
  });
});

function isWhole(made: NotifierError): void {
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
}

async function declaredErrors(): Promise<Map<string, string[]>> {
  const files = new Map<string, string[]>();
  for await (const file of glob('{lambda/**/*,consumer/errors}.ts')) {
    const text = readFileSync(file, 'utf8');
    if (file.endsWith('partner/errors.ts')) continue;
    const names = text.matchAll(/^(?:export )?class (\w+) extends (?:NotifierError\b|errorOf\()/gm);
    const found = [...names].flatMap(([, name = '']) => name);
    if (found.length > 0) files.set(file, found);
  }
  return files;
}

/** Makes each error with arguments that may appear in its text. */
async function errorOf(file: string, name: string): Promise<NotifierError> {
  const exported: Record<string, unknown> = await import(join(process.cwd(), file));
  const made: unknown = Reflect.construct(Object(exported[name]), Array(4).fill(['Anything.']));
  if (!(made instanceof NotifierError)) throw new Error(`${name} of ${file} is not exported`);
  return made;
}
