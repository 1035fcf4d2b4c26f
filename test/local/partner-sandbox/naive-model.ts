import { Temporal } from 'temporal-polyfill';

/**
 * Section 4.2 of docs/partner.md, literally over plain objects: one filter after the other, one
 * sort, one cut. It shares no code with the sandbox and is slow. Where the document is silent, it
 * follows docs/partner.md#silent-points.
 */
export interface ModelRecord {
  readonly id: number;
  readonly userId: number;
  readonly seid: string | null;
  readonly firstName: string;
  readonly lastName: string;
  readonly status: 'active' | 'archived';
  readonly organizationId: number;
  readonly productId: number;
  readonly productName: string;
  readonly legacy: boolean;
  /** ISO instant. */
  readonly completedAt: string;
  /** In the order of `results`. */
  readonly proctors: readonly { readonly id: number; readonly name: string }[];
}

export interface ModelWorld {
  readonly records: readonly ModelRecord[];
  readonly timeZone: string;
  readonly organizationIds: readonly number[];
  readonly productIds: readonly number[];
}

export interface ModelAnswer {
  readonly ids: readonly number[];
  readonly meta: { readonly count: number; readonly offset: number; readonly page: number };
}

/** Query parameters in the order sent. */
export type Parameters = readonly (readonly [string, string])[];

function certifiedOn(record: ModelRecord, timeZone: string): string {
  return Temporal.Instant.from(record.completedAt)
    .toZonedDateTimeISO(timeZone)
    .toPlainDate()
    .toString();
}

function date(text = ''): Temporal.PlainDate | undefined {
  try {
    return /^\d{4}-\d\d-\d\d$/.test(text) ? Temporal.PlainDate.from(text) : undefined;
  } catch {
    return undefined;
  }
}

function wholeFrom(least: number, text = ''): number | undefined {
  const number = Number.parseInt(text, 10);
  return number >= least ? number : undefined;
}

/** Matches a part of a name, or two words as first name and last name. */
function isFound({ productName, firstName, lastName }: ModelRecord, search: string): boolean {
  const words = search.split(/\s+/);
  const [first, family] = [firstName.toLowerCase(), lastName.toLowerCase()];
  return (
    productName.toLowerCase().includes(search) ||
    first.includes(search) ||
    family.includes(search) ||
    (words.length === 2 && first.includes(words[0] ?? '') && family.includes(words[1] ?? ''))
  );
}

export function answer(world: ModelWorld, parameters: Parameters): ModelAnswer {
  const last = (key: string) => parameters.filter(([name]) => name === key).at(-1)?.[1];
  // Filter rule 2: empty values are dropped.
  const scalar = (name: string) => last(`filter[${name}]`)?.trim() || undefined;
  const list = (name: string) => {
    const values = parameters
      .filter(([key]) => key === `filter[${name}][]`)
      .map(([, value]) => value)
      .filter((value) => value.trim() !== '');
    return values.length > 0 ? values : undefined;
  };

  let records = world.records.filter(
    ({ organizationId, productId }) =>
      world.organizationIds.includes(organizationId) && world.productIds.includes(productId),
  );
  // Filter rule 1: AND, so each filter narrows the result of the one before.
  const narrow = <Wanted>(
    wanted: Wanted | undefined,
    keep: (record: ModelRecord, wanted: Wanted) => boolean,
  ) => {
    if (wanted !== undefined) records = records.filter((record) => keep(record, wanted));
  };

  narrow(scalar('search')?.toLowerCase(), isFound);
  // Filter rule 3: the start of the first day and the end of the last, in the partner's zone.
  const start = date(scalar('start_date'))?.toZonedDateTime(world.timeZone).toInstant();
  const end = date(scalar('end_date'))
    ?.add({ days: 1 })
    .toZonedDateTime(world.timeZone)
    .toInstant();
  narrow(start, (r, from) => Temporal.Instant.compare(r.completedAt, from) >= 0);
  narrow(end, (r, until) => Temporal.Instant.compare(r.completedAt, until) < 0);

  const integers = (name: string) => list(name)?.map((value) => Number.parseInt(value, 10) || 0);
  narrow(integers('product_ids'), ({ productId }, ids) => ids.includes(productId));
  narrow(integers('user_ids'), ({ userId }, ids) => ids.includes(userId));
  narrow(list('seids'), ({ seid }, seids) => seid !== null && seids.includes(seid));
  narrow(integers('proctor_ids'), ({ proctors }, ids) =>
    proctors.some(({ id }) => ids.includes(id)),
  );
  narrow(integers('organization_ids'), ({ organizationId }, ids) => ids.includes(organizationId));
  narrow(list('user_record_status'), ({ status }, statuses) => statuses.includes(status));
  narrow(
    list('legacy_record'),
    ({ legacy }, wanted) => wanted.includes('both') || wanted.includes(legacy ? 'true' : 'false'),
  );

  const { compare } = new Intl.Collator('en');
  const keys: Record<string, (record: ModelRecord) => string> = {
    user_name: ({ firstName, lastName }) => `${firstName} ${lastName}`,
    proctor_name: ({ proctors }) => proctors[0]?.name ?? '',
    product_name: ({ productName }) => productName,
  };
  const key = keys[last('sort') ?? ''];
  const direction = last('order')?.toUpperCase() === 'DESC' ? -1 : 1;
  const sorted = [...records].sort((a, b) => {
    const byKey =
      key === undefined
        ? Temporal.PlainDate.compare(certifiedOn(a, world.timeZone), certifiedOn(b, world.timeZone))
        : compare(key(a), key(b));
    return direction * byKey || a.id - b.id;
  });

  const page = Math.min(100, wholeFrom(1, last('page')) ?? 50);
  const offset = wholeFrom(0, last('offset')) ?? 0;
  return {
    ids: sorted.slice(offset, offset + page).map(({ id }) => id),
    meta: { count: sorted.length, offset, page },
  };
}
