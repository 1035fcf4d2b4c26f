import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DocumentedRecord } from '../../local/documented-record.ts';
import { Deployment, integration, queues } from '../scaffold/deployment.ts';

const stage = new Deployment();
beforeAll(() => stage.build());
afterAll(() => stage.dismantle());
beforeEach(() => stage.raise());
afterEach(() => stage.strike());

type Fields = Readonly<Record<string, unknown>>;

const part = ({ results }: DocumentedRecord, change: Fields) => ({
  results: results.map((one) => ({ ...one, ...change })),
});

/** The partner's value in place of a field. Undefined: the field is absent. */
const odd: readonly [
  path: string,
  served: (record: DocumentedRecord) => Fields,
  announced?: Fields,
][] = [
  ['email', () => ({ email: null })],
  ['email', () => ({ email: undefined })],
  ['email', () => ({ email: 7 }), { email: null }],
  ['name', () => ({ name: null })],
  ['first_name', () => ({ first_name: undefined })],
  ['last_name', () => ({ last_name: ['Inkwell'] }), { last_name: null }],
  ['organization_name', () => ({ organization_name: null })],
  ['organization_name', () => ({ organization_name: undefined })],
  ['organization_name', () => ({ organization_name: {} }), { organization_name: null }],
  ['results[].proctor_name', (record) => part(record, { proctor_name: null })],
  ['results[].proctor_id', (record) => part(record, { proctor_id: undefined })],
  ['results[].certified_on', (record) => part(record, { certified_on: null })],
  ['results[].certified_on', (record) => part(record, { certified_on: undefined })],
];

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('records with undocumented contents', () => {
  it('are announced as they came, and ops are told once, by path', async () => {
    await stage.completedTick();
    await stage.notices();
    const { world } = stage.sandbox;
    const expected = new Map<string, unknown>();
    for (const [, served, announced] of odd) {
      const record = world.add();
      const shown = served(record);
      const omit = Object.keys(shown).filter((field) => shown[field] === undefined);
      world.spoil(record.id, {
        omit,
        set: Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined)),
      });
      expected.set(String(record.id), asJson({ ...record, ...shown, ...announced }));
    }
    const { quarantined, delivered, conditions } = await stage.completedTick();
    const paths = [...new Set(odd.map(([path]) => path))].sort();
    expect({ quarantined, delivered }).toEqual({ quarantined: 0, delivered: odd.length });
    expect(conditions).toEqual({ 'odd-fields': paths.length });
    const events = await stage.events(queues.everything);
    expect(new Map(events.map(({ subject, data }) => [subject, data.assessment]))).toEqual(
      expected,
    );

    const [notice, ...others] = await stage.notices();
    expect(others).toEqual([]);
    expect(notice?.subject).toBe(`${integration}: fields of records are not as documented`);
    const told = [...(notice?.text ?? '').matchAll(/^ {2}([\w.[\]]+): \d+ records?$/gm)];
    expect(told.map(([, path]) => path).sort()).toEqual(paths);
    expect(notice?.text).toContain('  email: 3 records\n');

    world.add();
    await stage.completedTick();
    await stage.completedTick();
    expect(await stage.notices()).toEqual([]);
  });

  it("are a share of the sandbox's records with the switch, and none is held", async () => {
    await stage.completedTick();
    stage.sandbox.set({ nulls: 1 });
    for (let n = 0; n < 30; n++) stage.sandbox.world.add();
    const { quarantined, created } = await stage.completedTick();
    expect({ quarantined, created }).toEqual({ quarantined: 0, created: 30 });
  });
});
