import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { oddPaths } from '../../../lambda/decisions/fingerprint.ts';
import { parsePage } from '../../../lambda/partner/api.ts';
import { json, page, type Responder, raw, record, rejection, rig } from './scripted-host.ts';

const meta = { count: 3, offset: 0, page: 50 };

/** This is text, since only `JSON.parse` could walk over the value. */
const nested = { text: `${'['.repeat(10_000)}${']'.repeat(10_000)}`, placeholder: '@nested' };

const parsed = (text: string) =>
  parsePage({ status: 200, headers: {}, body: Buffer.from(text) }, 0);
const pageOf = (...data: unknown[]) =>
  parsed(JSON.stringify({ data, meta }).replaceAll(`"${nested.placeholder}"`, nested.text));
/** A value as it is after its way through JSON, where undefined fields are lost. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('a page', () => {
  it('keeps the order, the meta and undocumented fields', async () => {
    const badge = { level: 3, tags: ['x'] };
    const assessments = [record(2, { badge }), record(1)];
    const { client } = await rig({ answers: { list: page(assessments, 17) } });
    const whole = { quarantined: [], rows: 2, meta: { count: 17, offset: 0, page: 2 } };
    expect(await client.list({ page: 2 })).toEqual({ assessments, ...whole });
  });

  it.each([
    ['null', null],
    ['no date', '2026-02-30'],
    ['before the year 1', '0000-12-31'],
    ['after the year 9999', '10000-01-01'],
    ['too deep', nested.placeholder],
  ])('quarantines a record whose day is %s by its place, id and path alone', (_, day) => {
    const bad = record(2, { email: 5, certified_on: day, results: [{ proctor_id: 'x' }] });
    const { assessments, ...rest } = pageOf(record(1), bad, record(3));
    expect(assessments.map(({ id }) => id)).toEqual([1, 3]);
    const problems = [expect.stringMatching(/^certified_on:/)];
    expect(rest).toEqual({ rows: 3, meta, quarantined: [{ index: 1, id: 2, problems }] });
  });

  const [part] = record(1).results;
  /** A record, or its second part, with this value in a field. */
  const withField = (id: number, field: string, value: unknown) => {
    const [, ofPart] = field.split('results.');
    if (ofPart === undefined) return record(id, { [field]: value });
    return record(id, { results: [part, { ...part, [ofPart]: value }] });
  };

  it.each([
    ...['seid', 'name', 'first_name', 'last_name', 'email', 'organization_id'],
    ...['organization_name', 'assessment_name', 'results', 'results.assessment_id'],
    ...['results.assessment_name', 'results.certified_on', 'results.proctor_id'],
    'results.proctor_name',
  ])('has a record whose %s is null, absent or of another type', (field) => {
    const odd = [null, undefined, { of: 'another type' }, 1.5];
    const { assessments, quarantined } = pageOf(
      ...odd.map((value, index) => withField(index + 1, field, value)),
    );
    expect(quarantined).toEqual([]);
    // Each event has the identifiers.
    const isIdentifier = ['organization_id', 'assessment_name'].includes(field);
    const read = [null, isIdentifier ? null : undefined, null, null];
    expect(assessments).toStrictEqual(
      read.map((value, index) => sent(withField(index + 1, field, value))),
    );
  });

  it.each([
    ['seid', '4711', '"4711"', ['seid']],
    ['seid', '12345678901234567890', '"12345678901234567890"', ['seid']],
    ['seid', 'false', '"false"', ['seid']],
    ['seid', '"007"', '"007"', []],
    ['seid', '4711.0', 'null', ['seid']],
    ['seid', '1e3', 'null', ['seid']],
    ['results.proctor_name', '-5', '"-5"', ['results[].proctor_name']],
    ['results.proctor_id', '7.0', '7', []],
    ['organization_id', '9007199254740993', 'null', ['organization_id']],
    ['organization_id', '"7"', 'null', ['organization_id']],
    ['external_ref', '9007199254740993', '9007199254740993', []],
    ['results.score', '1.10', '1.10', []],
    ['another', nested.placeholder, 'null', ['(undocumented)']],
  ])('has a %s of %s as %s, and the paths of altered values', (field, written, read, paths) => {
    const text = JSON.stringify({ data: [withField(1, field, '@')], meta });
    const sent = text.replace('"@"', written).replace(nested.placeholder, nested.text);
    const [one] = parsed(sent).assessments;
    const [, name] = /([a-z_]+)$/.exec(field) ?? [];
    expect(JSON.stringify(one)).toContain(`"${name}":${read}`);
    expect(one && oddPaths(one)).toEqual(paths);
  });

  it('has an empty part for a value that is no part', () => {
    const { assessments } = pageOf(record(1, { results: [null, part, 'part', [part]] }));
    expect(assessments[0]?.results).toEqual([{}, part, {}, {}]);
  });

  it.each([
    ['a string', 'Zuzana'],
    ['a value that is too deep', nested.placeholder],
    ['a record without an ID', { ...record(1), id: undefined }],
    ['an ID that JSON numbers cannot hold', { ...record(1), id: 2 ** 53 }],
    ['an ID that is too deep', { ...record(1), id: nested.placeholder }],
  ])('quarantines %s without an ID', (_, row) => {
    const problems = expect.any(Array);
    expect(pageOf(row).quarantined).toEqual([{ index: 0, problems }]);
  });

  it('never puts a value into a problem', () => {
    const secret = 'Zuzana-41';
    const rows = [
      record(1, { seid: [secret], name: { [secret]: secret }, certified_on: secret }),
      record(2, { id: secret, results: [{ certified_on: secret, [secret]: 1 }] }),
      record(3, { id: { [secret]: 1 }, results: secret }),
      ...[secret, { [secret]: secret }],
    ];
    const { quarantined } = pageOf(...rows);
    expect(quarantined).toHaveLength(rows.length);
    expect(JSON.stringify(quarantined)).not.toContain(secret);
  });

  it('has both of two records with the same id', () => {
    const rows = [record(1), record(5), record(1, { name: 'Other Nobody' })];
    expect(pageOf(...rows)).toMatchObject({ assessments: rows, quarantined: [] });
  });

  const wide = Array.from({ length: 10_000 }, () => 0);
  const manyParts = Array.from({ length: 101 }, () => record(3).results[0]);

  it.each([
    ['a deep value', { deep: nested.placeholder }, { deep: null }],
    ['a wide value', { wide }, { wide: null }],
    ['too many parts', { results: manyParts }, { results: null }],
    ['fields', { name: nested.placeholder, email: wide }, { name: null, email: null }],
    ['a part', { results: [{ deep: nested.placeholder }] }, { results: [{ deep: null }] }],
    ['nothing', { deep: { badge: 1 } }, { deep: { badge: 1 } }],
  ])('omits a value that is too deep or too large to walk over: %s', (_, odd, read) => {
    expect(pageOf(record(1, odd))).toMatchObject({
      ...{ quarantined: [], assessments: [record(1, read)] },
    });
  });

  it('does not let a record reach the prototype of all objects', () => {
    const text = JSON.stringify({ data: [record(1)], meta });
    const { assessments } = parsed(text.replace('"seid"', '"__proto__":{"polluted":1},"seid"'));
    expect(assessments).toHaveLength(1);
    expect(assessments[0]?.polluted).toBeUndefined();
    expect({}).not.toHaveProperty('polluted');
  });

  it.each([
    ['no data', { meta }],
    ['no meta', { data: [] }],
    ['data that is no list', { data: {}, meta }],
    ['more rows than a page can have', { data: Array.from({ length: 101 }, () => 0), meta }],
    ['a count in words', { data: [], meta: { ...meta, count: 'three' } }],
    ['a negative count', { data: [], meta: { ...meta, count: -1 } }],
    ['another offset than the requested one', { data: [], meta: { ...meta, offset: 50 } }],
    ['a list in its place', []],
  ])('with %s is an error', (_, body) => {
    const error = expect.objectContaining({ code: 'unexpected-response' });
    expect(() => parsed(JSON.stringify(body))).toThrow(error);
  });
});

describe('a single record', () => {
  it('is requested by its id, and undefined on 404, with any body', async () => {
    const found = json(200, record(41, { extra: 1 }));
    const missing: Responder = (response) => response.writeHead(404).end('<h1>not here</h1>');
    const { host, client } = await rig({ answers: { get: [found, missing] } });
    expect(await client.get(41)).toEqual(record(41, { extra: 1 }));
    expect(await client.get(41)).toBeUndefined();
    expect(host.of('get')[0]?.url.pathname).toBe('/api/v1/ax/assessments/41');
  });

  it.each([
    ['without a day', record(41, { certified_on: null })],
    ['wrapped in data', { data: record(41) }],
    ['another one', record(42)],
  ])('that is %s is an error with paths and no values', async (_, body) => {
    const { client } = await rig({ answers: { get: json(200, body) } });
    const error = await rejection(client.get(41));
    const message = expect.stringContaining('assessment 41');
    expect(error).toMatchObject({ code: 'malformed-record', retryHelps: false, message });
    expect(String(error)).not.toContain('Zuzana');
  });

  it.each([0, -1, 1.5, 2 ** 53])('with the ID %s is refused unsent', async (id) => {
    const { host, client } = await rig();
    expect(await rejection(client.get(id))).toMatchObject({ code: 'invalid-call' });
    expect(host.received).toEqual([]);
  });
});

describe('a body', () => {
  const text = JSON.stringify({ data: [], meta });
  const coded = { 'content-encoding': 'gzip' };

  it.each([
    ['not JSON', raw('<html>maintenance</html>'), 'not JSON in UTF-8'],
    ['cut off', raw('{"data":[{"name":"Zuzana'), 'not JSON in UTF-8'],
    ['Latin-1', raw(Buffer.from(JSON.stringify([record(1)]), 'latin1')), 'not JSON in UTF-8'],
    ['UTF-16', raw(Buffer.from(text, 'utf16le')), 'not JSON in UTF-8'],
    ['compressed', raw(gzipSync(text), coded), 'compressed, though not asked for'],
  ])('that is %s is an error that quotes nothing', async (_, list, problem) => {
    const { client } = await rig({ answers: { list } });
    const error = await rejection(client.list());
    const message = expect.stringContaining(problem);
    expect(error).toMatchObject({ code: 'unexpected-response', message });
    expect(String(error)).not.toMatch(/Zuzana|html/);
    expect(error).not.toHaveProperty('cause');
  });

  it('may begin with a byte order mark', async () => {
    const { client } = await rig({ answers: { list: raw(`\uFEFF${text}`) } });
    expect(await client.list()).toMatchObject({ rows: 0 });
  });
});
