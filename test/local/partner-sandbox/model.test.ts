import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import { type DeviationName, deviate } from '../../../local/partner-sandbox/deviations.ts';
import { startPartnerSandbox } from '../../../local/partner-sandbox/index.ts';
import { readRawQuery } from '../../../local/partner-sandbox/query.ts';
import { documentRules } from '../../../local/partner-sandbox/rules.ts';
import { select } from '../../../local/partner-sandbox/select.ts';
import { World } from '../../../local/partner-sandbox/world.ts';
import { populate, population, query, zones } from './arbitraries.ts';
import { answer, type ModelRecord, type Parameters } from './naive-model.ts';
import { searchParams, visit } from './visitor.ts';

/** The query core's answer, in the model's terms. */
function ask({ records }: World, parameters: Parameters, tieSalt?: number, rules = documentRules) {
  const raw = readRawQuery(searchParams(parameters));
  const understood = rules.listQuery(raw);
  const matching = rules.matching(understood, records, raw);
  const { count, slots } = select(records, understood, matching, { userName: 'name', tieSalt });
  return {
    ids: slots.map((slot) => records.id(slot)),
    meta: rules.meta(count, understood, slots.length),
  };
}

interface Edit {
  readonly name: string;
  readonly day: string;
}

const emptyWorld = (timeZone: string) =>
  new World({ seed: 1, records: 0, timeZone, until: '2026-11-20', clock: systemClock });

describe('any records and any query', () => {
  it('are answered by the query core as by the naive model', () => {
    fc.assert(
      fc.property(
        population,
        fc.constantFrom(...zones),
        fc.array(query, { minLength: 5, maxLength: 10 }),
        (people, zone, queries) => {
          const world = emptyWorld(zone);
          const model = populate(world, people);
          for (const one of queries) expect(ask(world, one)).toEqual(answer(model, one));
        },
      ),
      { numRuns: 400 },
    );
  });

  it('are answered over HTTP as by the naive model', async () => {
    await fc.assert(
      fc.asyncProperty(
        population,
        fc.constantFrom(...zones),
        fc.array(query, { minLength: 5, maxLength: 10 }),
        async (people, timeZone, queries) => {
          const sandbox = await startPartnerSandbox({ records: 0, timeZone });
          try {
            const model = populate(sandbox.world, people);
            const { list } = await visit(sandbox);
            for (const one of queries) {
              const { data, meta } = await list(one);
              expect({ ids: data.map(({ id }) => id), meta }).toEqual(answer(model, one));
            }
          } finally {
            await sandbox.close();
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('return the same rows with unstable ties, apart from the order of ties', () => {
    fc.assert(
      fc.property(population, query, fc.integer({ min: 1, max: 1000 }), (people, one, salt) => {
        const world = emptyWorld('America/Chicago');
        const model = populate(world, people);
        const whole: Parameters = [...one, ['page', '100'], ['offset', '0']];
        const unstable = ask(world, whole, salt);
        const stable = answer(model, whole);
        expect(unstable.ids.toSorted()).toEqual(stable.ids.toSorted());
        expect(unstable.meta).toEqual(stable.meta);
      }),
      { numRuns: 200 },
    );
  });

  it('stay in agreement through edits, moves, removals, returns and changes of scope', () => {
    const edit = fc.record({
      kind: fc.constantFrom('rename', 'move', 'remove', 'restore', 'file', 'narrow', 'widen'),
      at: fc.nat(),
      // The second Öl is written with a combining mark: another string of the same rank.
      name: fc.constantFrom('Ada', 'Zz', 'Öl', 'O\u0308l', 'inkwell'),
      day: fc.constantFrom('2026-03-08', '2026-11-01', '2024-02-29'),
    });
    const edited = fc.oneof(
      query,
      // Orders by name are cached: the likeliest place for stale data.
      query.map((one): Parameters => [...one, ['sort', 'user_name'], ['page', '100']]),
      fc.constant<Parameters>([['sort', 'user_name']]),
    );
    fc.assert(
      fc.property(population, fc.array(edit, { maxLength: 12 }), edited, (people, edits, one) => {
        const world = emptyWorld('America/Chicago');
        const model = populate(world, people);
        const records = new Map(model.records.map((record) => [record.id, record]));
        const removed = new Set<number>();
        let organizationIds = model.organizationIds;
        const ofScope: Readonly<Record<string, () => void>> = {
          narrow: () => {
            world.narrowScope({ organization_ids: [301] });
            organizationIds = organizationIds.filter((id) => id !== 301);
          },
          widen: () => {
            world.widenScope({ organization_ids: [301] });
            organizationIds = [...organizationIds, 301];
          },
        };
        const ofRecords: Readonly<Record<string, (target: ModelRecord, edited: Edit) => unknown>> =
          {
            rename: ({ id, userId }, { name }) => {
              const named = { firstName: 'Öz', lastName: name };
              world.change(id, { first_name: named.firstName, last_name: named.lastName });
              const own = [...records.values()].filter((record) => record.userId === userId);
              for (const record of own) records.set(record.id, { ...record, ...named });
            },
            move: (target, { day }) => {
              world.moveTo(target.id, day);
              const completedAt = world.hidden(target.id).completed_at;
              records.set(target.id, { ...target, completedAt });
            },
            file: (target) => {
              world.change(target.id, { organization_id: 308, legacy: true });
              records.set(target.id, { ...target, organizationId: 308, legacy: true });
            },
            remove: ({ id }) => {
              world.remove(id);
              removed.add(id);
            },
            restore: ({ id }) => {
              world.restore(id);
              removed.delete(id);
            },
          };
        for (const edited of edits) {
          // The query comes in between, so that cached answers can become stale.
          ask(world, one);
          const target = [...records.values()][edited.at % Math.max(1, records.size)];
          ofScope[edited.kind]?.();
          if (target !== undefined) ofRecords[edited.kind]?.(target, edited);
        }
        const now = {
          ...model,
          organizationIds,
          records: [...records.values()].filter(({ id }) => !removed.has(id)),
        };
        expect(ask(world, one)).toEqual(answer(now, one));
      }),
      { numRuns: 300 },
    );
  });

  it.each<DeviationName>([
    'cap-of-200',
    'default-page-25',
    'page-is-a-number',
    'offset-ignored',
    'sort-ignored',
    'order-case-sensitive',
    'default-order-desc',
    'start-date-exclusive',
    'end-date-exclusive',
    'filters-or',
    'blank-filter-matches-nothing',
    'blank-seid-matches-null',
    'search-single-word',
    'search-case-sensitive',
    'legacy-both-nothing',
    'archived-hidden',
    'count-after-paging',
    'page-echo-requested',
  ])('distinguish a server with the deviation %s from the document', (name) => {
    const rules = deviate(documentRules, [name]);
    const result = fc.check(
      fc.property(
        population,
        fc.array(query, { minLength: 20, maxLength: 40 }),
        (people, asked) => {
          const world = emptyWorld('America/Chicago');
          const model = populate(world, people);
          return asked.every(
            (one) =>
              JSON.stringify(ask(world, one, undefined, rules)) ===
              JSON.stringify(answer(model, one)),
          );
        },
      ),
      { numRuns: 1000, endOnFailure: true },
    );
    expect(result.failed).toBe(true);
  });
});
