import * as fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import type { World } from '../../../local/partner-sandbox/world.ts';
import type { ModelRecord, ModelWorld, Parameters } from './naive-model.ts';

/** The values are few, so records tie and filters match. */
const firstNames = ['Ada', 'ada', 'Zoë', 'Zoe', "Ka'imi", '花子', 'Mary Jo', 'Ирина'];
const lastNames = ["O'Inkpot", 'Inkwell', 'inkwell', 'Överst', 'Margin', '例山', 'de la Regla'];
const userIds = [500_001, 500_002, 500_003, 500_004, 500_005];
const outsideOrganization = 392;
const organizations = [301, 308, 315, outsideOrganization];
const products = [11, 14, 17, 20, 38];
const proctors = [1001, 1002, 1003];
export const zones = ['America/Chicago', 'Europe/London', 'Australia/Lord_Howe', 'UTC'];

/** Days around clock changes and a leap day. All records and most bounds are in them. */
const days = [
  ...['2026-03-07', '2026-03-08', '2026-03-09', '2026-03-28', '2026-03-29', '2026-03-30'],
  ...['2026-10-31', '2026-11-01', '2026-11-02', '2026-10-04', '2026-04-05', '2024-02-29'],
];

const educator = fc.record({
  first_name: fc.constantFrom(...firstNames),
  last_name: fc.constantFrom(...lastNames),
  seid: fc.constantFrom(null, 'XX1', 'XX2', 'xx1', ' '),
  status: fc.constantFrom('active' as const, 'archived' as const),
});

/** Instants within two days of a clock change, often exactly at a zone's midnight. */
const instant = fc
  .tuple(
    fc.constantFrom(...days),
    fc.constantFrom(...zones),
    fc.oneof(fc.constantFrom(-1, 0, 1), fc.integer({ min: -86_400_000, max: 86_400_000 })),
  )
  .map(([day, zone, milliseconds]) =>
    Temporal.PlainDate.from(day).toZonedDateTime(zone).toInstant().add({ milliseconds }).toString(),
  );

const completion = fc.record({
  user_id: fc.constantFrom(...userIds),
  organization_id: fc.constantFrom(...organizations),
  product_id: fc.constantFrom(...products),
  legacy: fc.boolean(),
  completed_at: instant,
  proctor_ids: fc.array(fc.constantFrom(...proctors), { minLength: 1, maxLength: 3 }),
});

export const population = fc.record({
  educators: fc.tuple(...userIds.map(() => educator)),
  completions: fc.array(completion, { maxLength: 40 }),
});
export type Population = typeof population extends fc.Arbitrary<infer T> ? T : never;

const blank = fc.constantFrom('', ' ');
const values = (name: string, ...known: readonly string[]) =>
  fc
    .array(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...known) }, blank), {
      minLength: 1,
      maxLength: 3,
    })
    .map((list) => list.map((value): [string, string] => [`filter[${name}][]`, value]));
const one = (name: string, ...known: readonly string[]) =>
  fc
    .oneof({ weight: 6, arbitrary: fc.constantFrom(...known) }, blank)
    .map((value): [string, string][] => [[name, value]]);

/** Any query, sensible or not. */
export const query: fc.Arbitrary<Parameters> = fc
  .tuple(
    ...[
      one(
        'filter[search]',
        'a',
        'INK',
        'zoë',
        'ada inkwell',
        'mary jo',
        'jo  margin',
        'literacy',
        'o i',
        '花',
        'x y z',
        '%',
      ),
      one('filter[start_date]', ...days, '2026-02-31', 'soon', '20260308'),
      one('filter[end_date]', ...days, '2026-02-31', 'soon'),
      values('product_ids', '11', '14', '38', '999', 'eleven', '11x'),
      values('user_ids', ...userIds.map(String), '7'),
      values('seids', 'XX1', 'XX2', 'xx1', 'null'),
      values('proctor_ids', ...proctors.map(String), '4'),
      values('organization_ids', ...organizations.map(String), '5'),
      values('user_record_status', 'active', 'archived', 'asleep'),
      values('legacy_record', 'true', 'false', 'both'),
      one('sort', 'certified_on', 'user_name', 'proctor_name', 'product_name', 'id', 'USER_NAME'),
      one('order', 'ASC', 'asc', 'DESC', 'desc', 'dEsC', 'down'),
      one('page', '1', '2', '7', '50', '100', '101', '1000', '0', '-1', 'many', '3rd'),
      one('offset', '0', '1', '5', '39', '1000', '-1', 'far'),
    ].map((parameter) =>
      // Most parameters are left out, or hardly any query would find a record.
      fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: parameter }),
    ),
  )
  .map((parameters) => parameters.flat());

/** Adds the population to an empty sandbox. @returns the same world for the model */
export function populate(world: World, { educators, completions }: Population): ModelWorld {
  world.narrowScope({ organization_ids: [outsideOrganization], product_ids: [38] });
  const byUserId = new Map(userIds.map((id, index) => [id, educators[index]]));
  const proctorNames = new Map(Array.from(world.proctors, ({ id, name }) => [id, name]));
  const records = completions.map((completed): ModelRecord => {
    const person = byUserId.get(completed.user_id);
    if (person === undefined) throw new RangeError('every user id has an educator');
    const { id, assessment_name, results } = world.add({ ...completed, ...person });
    return {
      id,
      userId: completed.user_id,
      seid: person.seid,
      firstName: person.first_name,
      lastName: person.last_name,
      status: person.status,
      organizationId: completed.organization_id,
      productId: completed.product_id,
      productName: assessment_name,
      legacy: completed.legacy,
      completedAt: completed.completed_at,
      proctors: results.map((_, part) => {
        const proctor = completed.proctor_ids[part] ?? completed.proctor_ids.at(-1) ?? 0;
        return { id: proctor, name: proctorNames.get(proctor) ?? '' };
      }),
    };
  });
  return {
    records,
    timeZone: world.timeZone,
    organizationIds: organizations.filter((id) => id !== outsideOrganization),
    productIds: products.filter((id) => id !== 38),
  };
}
