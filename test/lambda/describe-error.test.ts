import { describe, expect, it } from 'vitest';
import { describeError } from '../../lambda/describe-error.ts';
import { Failure } from '../../lambda/failure.ts';
import { LedgerUnavailableError } from '../../lambda/ledger/errors.ts';

function syntaxErrorAbout(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
}

describe("the log's description of an error", () => {
  it('has all properties of our own errors, down to their causes', () => {
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    expect(describeError(new LedgerUnavailableError('GetItem', { cause }))).toMatchObject({
      ...{ name: 'LedgerUnavailableError', code: 'ledger-unavailable', fault: 'aws' },
      ...{ message: 'The ledger did not carry out GetItem.', retryHelps: true },
      cause: { name: 'Error', code: 'ECONNREFUSED' },
    });
  });

  it('omits the text of a foreign error, which may quote its data', () => {
    const foreign = syntaxErrorAbout('Canary Featherstone');
    expect(String(foreign)).toContain('Canary');
    const error = new LedgerUnavailableError('GetItem', { cause: foreign });
    const described = JSON.stringify(describeError(error));
    expect(described).toContain('SyntaxError');
    expect(described).not.toContain('Canary');
  });

  it('has the causes of an error that stands for several', () => {
    const throttled = Object.assign(new Error('slow'), { name: 'ThrottlingException' });
    const errors = [new LedgerUnavailableError('Get', { cause: throttled }), new Error('x')];
    expect(describeError(new AggregateError(errors))).toMatchObject({
      name: 'AggregateError',
      causes: [{ cause: { name: 'ThrottlingException' } }, { name: 'Error' }],
    });
  });

  it("takes no line of an error's text for a frame of the stack", () => {
    const described = describeError(new Error('boom\n    at Canary Featherstone'));
    expect(JSON.stringify(described)).not.toContain('Canary');
    expect(described.at?.[0]).toContain('describe-error.test.ts');
  });

  it('accepts values that are no errors', () => {
    expect(describeError('Canary')).toEqual({ name: 'string' });
  });
});

describe('the error of a failed tick for Lambda', () => {
  it('has the name and text of our own error, without its causes', () => {
    const own = new LedgerUnavailableError('Query', { cause: new Error('x') });
    const failure = new Failure(own);
    const { name, code, fault, message } = own;
    expect(failure).toMatchObject({ name, code, fault, message });
    expect(failure.cause).toBeUndefined();
  });

  it('has only the name of a foreign error', () => {
    const failure = new Failure(syntaxErrorAbout('Canary Featherstone'));
    expect(failure.message).toBe('The tick failed: SyntaxError.');
  });
});
