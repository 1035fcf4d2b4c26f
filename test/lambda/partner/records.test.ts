import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { problemsOf } from '../../../lambda/english.ts';
import { parsePage } from '../../../lambda/partner/api.ts';
import { documentedRecordSchema } from '../../../local/documented-record.ts';
import { json, page, raw, record, rejection, rig } from './scripted-host.ts';

const meta = { count: 3, offset: 0, page: 50 };

/** This is text, since only `JSON.parse` could walk over the value. */
const nested = { text: `${'['.repeat(10_000)}${']'.repeat(10_000)}`, placeholder: '@nested' };

const pageOf = (body: unknown) => {
  const text = JSON.stringify(body).replaceAll(`"${nested.placeholder}"`, nested.text);
  return parsePage({ status: 200, headers: {}, body: Buffer.from(text) }, 0);
};

describe('a page', () => {
  it('keeps the order, the meta and undocumented fields', async () => {
    const { host, client } = await rig();
    const badge = { level: 3, tags: ['x'] };
    host.script('list', page([record(2, { badge }), record(1)], 17));
    const result = await client.list({ page: 2 });
    expect(result.assessments).toEqual([record(2, { badge }), record(1)]);
    expect(result).toMatchObject({
      quarantined: [],
      rows: 2,
      meta: { count: 17, offset: 0, page: 2 },
    });
  });

  it.each([
    ['null', null],
    ['absent', undefined],
    ['no date', '2026-02-30'],
    ['of another type', 7],
  ])(
    'quarantines a record whose day is %s with its place, its id and the path, and reads the others',
    async (_, day) => {
      const bad = record(2, { email: 5, certified_on: day, results: [{ proctor_id: 'x' }] });
      const result = pageOf({ data: [record(1), bad, record(3)], meta });
      expect(result.assessments.map(({ id }) => id)).toEqual([1, 3]);
      expect(result.rows).toBe(3);
      expect(result.quarantined).toHaveLength(1);
      expect(result.quarantined[0]).toMatchObject({ index: 1, id: 2 });
      expect(result.quarantined[0]?.problems.map((problem) => problem.split(':')[0])).toEqual([
        'certified_on',
      ]);
    },
  );

  const contents = [
    'seid',
    'name',
    'first_name',
    'last_name',
    'email',
    'organization_id',
    'organization_name',
    'assessment_name',
    'results',
  ];
  const contentsOfParts = [
    'assessment_id',
    'assessment_name',
    'certified_on',
    'proctor_id',
    'proctor_name',
  ];

  it.each(contents)('has a record whose %s is null, absent or of another type', async (field) => {
    const odd = [null, undefined, { of: 'another type' }, true];
    const rows = odd.map((value, index) => record(index + 1, { [field]: value }));
    const body: unknown = JSON.parse(JSON.stringify({ data: rows, meta }));
    const { assessments, quarantined } = pageOf(body);
    expect(quarantined).toEqual([]);
    const [withNull, without, ...others] = assessments;
    expect(withNull).toEqual(record(1, { [field]: null }));
    for (const [index, other] of others.entries())
      expect(other).toEqual(record(index + 3, { [field]: null }));
    // Each event has the identifiers.
    const isIdentifier = ['organization_id', 'assessment_name'].includes(field);
    expect(without).toStrictEqual(
      isIdentifier ? record(2, { [field]: null }) : JSON.parse(JSON.stringify(rows[1])),
    );
  });

  it.each(contentsOfParts)(
    'has a record with a part whose %s is null, absent or of another type',
    async (field) => {
      const [part] = record(1).results;
      const odd = [null, undefined, ['x'], 1.5];
      const rows = odd.map((value, index) =>
        record(index + 1, { results: [part, { ...part, [field]: value }] }),
      );
      const body: unknown = JSON.parse(JSON.stringify({ data: rows, meta }));
      const { assessments, quarantined } = pageOf(body);
      expect(quarantined).toEqual([]);
      const [withNull, without, ...others] = assessments.map(({ results }) => results);
      const nulled = [part, { ...part, [field]: null }];
      expect(withNull).toEqual(nulled);
      for (const other of others) expect(other).toEqual(nulled);
      expect(without).toStrictEqual(
        JSON.parse(JSON.stringify([part, { ...part, [field]: undefined }])),
      );
    },
  );

  it('has an empty part for a value that is no part', async () => {
    const [part] = record(1).results;
    const row = record(1, { results: [null, part, 'part', [part]] });
    const { assessments } = pageOf({ data: [row], meta });
    expect(assessments[0]?.results).toEqual([{}, part, {}, {}]);
  });

  it('does not change its input', async () => {
    const row = record(1, { email: 7, results: [{ proctor_id: 'x' }, 7] });
    const body = { data: [row], meta };
    const before = structuredClone(body);
    pageOf(body);
    expect(body).toEqual(before);
  });

  it.each([
    ['a string', 'Zuzana'],
    ['null', null],
    ['a record without an ID', { ...record(1), id: undefined }],
    ['an ID that JSON numbers cannot hold', { ...record(1), id: 2 ** 53 }],
  ])('quarantines %s without an ID', async (_, row) => {
    const result = pageOf({ data: [row], meta });
    expect(result.quarantined).toMatchObject([{ index: 0 }]);
    expect(result.quarantined[0]).not.toHaveProperty('id');
  });

  it('never puts a value into a problem', async () => {
    const secret = 'Zuzana-41';
    const rows = [
      record(1, { seid: [secret], name: { [secret]: secret }, certified_on: secret }),
      record(2, { id: secret, results: [{ certified_on: secret, [secret]: 1 }] }),
      record(3, { id: { [secret]: 1 }, results: secret }),
      secret,
      { [secret]: secret },
    ];
    const { quarantined } = pageOf({ data: rows, meta });
    expect(quarantined).toHaveLength(rows.length);
    expect(JSON.stringify(quarantined)).not.toContain(secret);
  });

  it('quarantines the second of two records with the same id', async () => {
    const rows = [record(1), record(5), record(1, { name: 'Other Nobody' })];
    const result = pageOf({ data: rows, meta });
    expect(result.assessments).toEqual([record(1), record(5)]);
    expect(result.quarantined).toEqual([
      { index: 2, id: 1, problems: ['id: the same as in a row before'] },
    ]);
  });

  it('omits values that are too deep or too large to walk over', async () => {
    const wide = Array.from({ length: 10_000 }, () => 0);
    const manyParts = Array.from({ length: 101 }, () => record(3).results[0]);
    const rows = [
      record(1, { deep: nested.placeholder }),
      record(2, { wide }),
      record(3, { results: manyParts }),
      record(4, { name: nested.placeholder, email: wide }),
      record(5, { results: [{ deep: nested.placeholder }] }),
      record(6, { deep: { badge: 1 } }),
    ];
    const results = rows.map((row) => pageOf({ data: [row], meta }));
    expect(results.flatMap(({ quarantined }) => quarantined)).toEqual([]);
    expect(results.flatMap(({ assessments }) => assessments)).toEqual([
      record(1, { deep: null }),
      record(2, { wide: null }),
      record(3, { results: null }),
      record(4, { name: null, email: null }),
      record(5, { results: [{ deep: null }] }),
      record(6, { deep: { badge: 1 } }),
    ]);
  });

  it('quarantines a record whose id or day is too deep', async () => {
    const { placeholder } = nested;
    for (const row of [
      record(1, { id: placeholder }),
      record(2, { certified_on: placeholder }),
      placeholder,
    ])
      expect(pageOf({ data: [row], meta }).quarantined).toHaveLength(1);
  });

  it('limits the problems of one record', () => {
    const results = Array.from({ length: 100 }, () => ({}));
    const { error } = documentedRecordSchema.safeParse(record(1, { results }));
    const problems = error && problemsOf(error);
    expect(problems).toHaveLength(11);
    expect(problems?.at(-1)).toBe('and 490 more');
  });

  it('does not let a record reach the prototype of all objects', async () => {
    const body = JSON.stringify({ data: [record(1)], meta }).replace(
      '"seid"',
      '"__proto__":{"polluted":true},"seid"',
    );
    const { assessments } = parsePage({ status: 200, headers: {}, body: Buffer.from(body) }, 0);
    expect(assessments).toHaveLength(1);
    expect(assessments[0]?.polluted).toBeUndefined();
    expect({}).not.toHaveProperty('polluted');
  });

  it.each([
    ['no data', { meta }],
    ['no meta', { data: [] }],
    ['a wrapped page', { page: { data: [], meta } }],
    ['data that is no list', { data: {}, meta }],
    ['more rows than a page can have', { data: Array.from({ length: 101 }, () => 0), meta }],
    ['a count in words', { data: [], meta: { ...meta, count: 'three' } }],
    ['a negative count', { data: [], meta: { ...meta, count: -1 } }],
    ['another offset than the requested one', { data: [], meta: { ...meta, offset: 50 } }],
    ['a list in its place', []],
    ['null', null],
  ])('with %s is an error', async (_, body) => {
    const { host, client } = await rig();
    host.script('list', json(200, body));
    expect(await rejection(client.list())).toMatchObject({ code: 'unexpected-response' });
    expect(host.of('list')).toHaveLength(1);
  });
});

describe('a single record', () => {
  it('is requested by its id', async () => {
    const { host, client } = await rig();
    host.script('get', json(200, record(41, { extra: 1 })));
    expect(await client.get(41)).toEqual(record(41, { extra: 1 }));
    expect(host.of('get')[0]?.url.pathname).toBe('/api/v1/ax/assessments/41');
  });

  it('is undefined on 404, with any body', async () => {
    const { host, client } = await rig();
    host.script('get', (response) => response.writeHead(404).end('<h1>not here</h1>'));
    expect(await client.get(41)).toBeUndefined();
  });

  it.each([
    ['without a day', json(200, record(41, { certified_on: null }))],
    ['wrapped in data', json(200, { data: record(41) })],
    ['another one', json(200, record(42))],
  ])('that is %s is an error with paths and no values', async (_, responder) => {
    const { host, client } = await rig();
    host.script('get', responder);
    const error = await rejection(client.get(41));
    expect(error).toMatchObject({ code: 'malformed-record' });
    expect(error).toMatchObject({
      retryHelps: false,
      message: expect.stringContaining('assessment 41'),
    });
    expect(String(error)).not.toContain('Zuzana');
  });

  it.each([0, -1, 1.5, 2 ** 53])(
    'with the ID %s is refused before anything is sent',
    async (id) => {
      const { host, client } = await rig();
      expect(await rejection(client.get(id))).toMatchObject({ code: 'invalid-call' });
      expect(host.received).toEqual([]);
    },
  );
});

describe('a body', () => {
  it.each([
    ['not JSON', raw('<html>maintenance</html>')],
    ['empty', raw('')],
    ['cut off', raw('{"data":[{"name":"Zuzana')],
    ['Latin-1', raw(Buffer.from(JSON.stringify({ data: [record(1)], meta }), 'latin1'))],
    ['UTF-16', raw(Buffer.from('{"data":[]}', 'utf16le'))],
    [
      'compressed',
      raw(gzipSync(JSON.stringify({ data: [], meta })), { 'content-encoding': 'gzip' }),
    ],
  ])('that is %s is an error that quotes nothing', async (_, responder) => {
    const { host, client } = await rig();
    host.script('list', responder);
    const error = await rejection(client.list());
    expect(error).toMatchObject({ code: 'unexpected-response' });
    expect(String(error)).not.toMatch(/Zuzana|html/);
    expect(error).not.toHaveProperty('cause');
  });

  it('that is compressed without a request for it is reported as such', async () => {
    const { host, client } = await rig();
    const body = gzipSync(JSON.stringify({ data: [], meta }));
    host.script('list', raw(body, { 'content-encoding': 'gzip' }));
    expect(String(await rejection(client.list()))).toContain('compressed, though not asked for');
  });

  it('may begin with a byte order mark', async () => {
    const { host, client } = await rig();
    host.script('list', raw(`\uFEFF${JSON.stringify({ data: [], meta })}`));
    expect(await client.list()).toMatchObject({ rows: 0 });
  });
});
