import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../lambda/clock.ts';
import {
  InvalidQueryError,
  MalformedRecordError,
  UnexpectedResponseError,
} from '../../../lambda/partner/index.ts';
import { parsePage } from '../../../lambda/partner/records.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { json, page, raw, record, rejection, rig } from './scripted-host.ts';

const meta = { count: 3, offset: 0, page: 50 };
const clock = new ManualClock();

describe('a page', () => {
  it('keeps the order, the meta and the fields that the document does not name', async () => {
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

  it('quarantines a malformed record with its place, its ID and the paths, and goes on', async () => {
    const bad = record(2, { email: 5, certified_on: '2026-02-30', results: [{ proctor_id: 'x' }] });
    const result = await parsePage({ data: [record(1), bad, record(3)], meta }, 0, clock);
    expect(result.assessments.map(({ id }) => id)).toEqual([1, 3]);
    expect(result.rows).toBe(3);
    expect(result.quarantined).toHaveLength(1);
    expect(result.quarantined[0]).toMatchObject({ index: 1, id: 2 });
    expect(result.quarantined[0]?.problems.map((problem) => problem.split(':')[0])).toEqual([
      'email',
      'certified_on',
      'results.0.assessment_id',
      'results.0.assessment_name',
      'results.0.certified_on',
      'results.0.proctor_id',
      'results.0.proctor_name',
    ]);
  });

  it.each([
    ['a string', 'Zuzana'],
    ['null', null],
    ['a record without an ID', { ...record(1), id: undefined }],
    ['an ID that JSON numbers cannot hold', { ...record(1), id: 2 ** 53 }],
  ])('quarantines %s without an ID', async (_, row) => {
    const result = await parsePage({ data: [row], meta }, 0, clock);
    expect(result.quarantined).toMatchObject([{ index: 0 }]);
    expect(result.quarantined[0]).not.toHaveProperty('id');
  });

  it('never puts a value into a problem', async () => {
    const secret = 'Zuzana-41';
    const rows = [
      record(1, { seid: [secret], name: { [secret]: secret }, certified_on: secret }),
      record(2, { results: [{ assessment_name: 4, certified_on: secret, [secret]: 1 }] }),
      record(3, { results: secret }),
      secret,
      { [secret]: secret },
    ];
    const { quarantined } = await parsePage({ data: rows, meta }, 0, clock);
    expect(quarantined).toHaveLength(rows.length);
    expect(JSON.stringify(quarantined)).not.toContain(secret);
  });

  it('quarantines the second of two records with the same ID', async () => {
    const rows = [record(1), record(5), record(1, { name: 'Other Nobody' })];
    const result = await parsePage({ data: rows, meta }, 0, clock);
    expect(result.assessments).toEqual([record(1), record(5)]);
    expect(result.quarantined).toEqual([
      { index: 2, id: 1, problems: ['id: the same as in row 0'] },
    ]);
  });

  it('quarantines what would be too deep or too large for those who walk over it', async () => {
    const nested = JSON.parse(`${'['.repeat(10_000)}${']'.repeat(10_000)}`);
    const rows = [
      record(1, { nested }),
      record(2, { wide: Array.from({ length: 10_000 }, () => 0) }),
      record(3, { results: Array.from({ length: 101 }, () => record(3).results[0]) }),
      record(4),
    ];
    const result = await parsePage({ data: rows, meta }, 0, clock);
    expect(result.assessments.map(({ id }) => id)).toEqual([4]);
    expect(result.quarantined.map(({ index }) => index)).toEqual([0, 1, 2]);
  });

  it('limits the problems that one record can make', async () => {
    const results = Array.from({ length: 100 }, () => ({}));
    const [bad] = (await parsePage({ data: [record(1, { results })], meta }, 0, clock)).quarantined;
    expect(bad?.problems).toHaveLength(11);
    expect(bad?.problems.at(-1)).toBe('and 490 more');
  });

  it('of many malformed records lets others have their turn', async () => {
    const data = Array.from({ length: 100 }, () => ({ results: [{}] }));
    let now = clock.now();
    // As if each record took 30 ms, on however fast a machine.
    const hurried: Clock = {
      ...systemClock,
      now: () => {
        now = now.add({ milliseconds: 30 });
        return now;
      },
    };
    let turns = 0;
    const others = setImmediate(function count() {
      turns += 1;
      if (turns < 50) setImmediate(count);
    });
    expect((await parsePage({ data, meta }, 0, hurried)).quarantined).toHaveLength(100);
    clearImmediate(others);
    expect(turns).toBe(50);
  });

  it('does not let a record reach the prototype of all objects', async () => {
    const body = JSON.stringify({ data: [record(1)], meta }).replace(
      '"seid"',
      '"__proto__":{"polluted":true},"seid"',
    );
    const { assessments } = await parsePage(JSON.parse(body), 0, clock);
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
    ['another offset than the one asked for', { data: [], meta: { ...meta, offset: 50 } }],
    ['a list in its place', []],
    ['null', null],
  ])('with %s is an error', async (_, body) => {
    const { host, client } = await rig();
    host.script('list', json(200, body));
    expect(await rejection(client.list())).toBeInstanceOf(UnexpectedResponseError);
    expect(host.of('list')).toHaveLength(1);
  });
});

describe('a single record', () => {
  it('is asked for by its ID', async () => {
    const { host, client } = await rig();
    host.script('get', json(200, record(41, { extra: 1 })));
    expect(await client.get(41)).toEqual(record(41, { extra: 1 }));
    expect(host.of('get')[0]?.url.pathname).toBe('/api/v1/ax/assessments/41');
  });

  it('is undefined on 404, whatever the body', async () => {
    const { host, client } = await rig();
    host.script('get', (response) => response.writeHead(404).end('<h1>not here</h1>'));
    expect(await client.get(41)).toBeUndefined();
  });

  it.each([
    ['malformed', json(200, record(41, { email: null }))],
    ['wrapped in data', json(200, { data: record(41) })],
    ['another one', json(200, record(42))],
  ])('that is %s is an error with paths and no values', async (_, responder) => {
    const { host, client } = await rig();
    host.script('get', responder);
    const error = await rejection(client.get(41));
    expect(error).toBeInstanceOf(MalformedRecordError);
    expect(error).toMatchObject({ id: 41, retryHelps: false });
    expect(String(error)).not.toContain('Zuzana');
  });

  it.each([0, -1, 1.5, 2 ** 53])(
    'with the ID %s is refused before anything is sent',
    async (id) => {
      const { host, client } = await rig();
      expect(await rejection(client.get(id))).toBeInstanceOf(InvalidQueryError);
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
    ['compressed', raw(JSON.stringify({ data: [], meta }), { 'content-encoding': 'gzip' })],
  ])('that is %s is an error that quotes nothing', async (_, responder) => {
    const { host, client } = await rig();
    host.script('list', responder);
    const error = await rejection(client.list());
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(String(error)).not.toMatch(/Zuzana|html/);
    expect(error).not.toHaveProperty('cause');
  });

  it('may begin with a byte order mark', async () => {
    const { host, client } = await rig();
    host.script('list', raw(`\uFEFF${JSON.stringify({ data: [], meta })}`));
    expect(await client.list()).toMatchObject({ rows: 0 });
  });
});
