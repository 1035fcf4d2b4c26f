import { describe, expect, it } from 'vitest';
import { entrySize, transformed } from './pipes.ts';

const message = (body: string) => ({ messageId: '1', body });
const event = message('{"id":"a/1/1","data":{"late":false,"name":"Odile \\"Q\\""},"of":[1]}');

describe("a pipe's template, by AWS's documented rules", () => {
  it('replaces a variable by the JSON of its value: a text gets quotation marks, an object none', () => {
    expect(JSON.parse(transformed('{"x":<$.body.id>,"y":<$.body.data>}', event))).toEqual({
      x: 'a/1/1',
      y: { late: false, name: 'Odile "Q"' },
    });
  });

  it('removes the quotation marks of a body that is the whole template', () => {
    expect(transformed('<$.body>', event)).toContain('{id:a/1/1,data:{late:false');
    expect(transformed('<$.body>', message('no JSON'))).toBe('no JSON');
  });

  it('reads an element of a list, and other attributes of the SQS message', () => {
    expect(transformed('{"x":<$.body.of[0]>,"y":<$.messageId>}', event)).toBe('{"x":1,"y":"1"}');
  });

  it.each([
    ['{"x":<$.body.gone>}', /nothing is at \$\.body\.gone/],
    ['{"x":"<$.body.id>"}', /quotation marks/],
    ['{"x":<$.body.of[*]>}', /no path/],
    ['{"x":<$..id>}', /no path/],
    ['{"x":<aws.pipes.event.json>}', /no path/],
    [`{"x":"${'x'.repeat(8_192)}"}`, /too long/],
  ])('refuses a case that AWS does not document: %s', (template, problem) => {
    expect(() => transformed(template.slice(0, 9_000), event)).toThrow(problem);
  });

  it('counts the size of an entry as PutEvents does', () => {
    expect(entrySize({ source: 'é', detailType: 'ab', time: 'whenever', detail: '{}' })).toBe(20);
  });
});
