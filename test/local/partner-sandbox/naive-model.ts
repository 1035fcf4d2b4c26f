import { Temporal } from 'temporal-polyfill';

/**
 * Section 4.2 of partner-api.md, read aloud over plain objects: one filter after the other, one
 * sort, one slice. It shares no code with the sandbox and is as slow as it looks. Where the
 * document is silent it follows docs/sandbox.md ("Where the document is silent").
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
  // Filter rule 1: AND, so each filter narrows what the one before left.
  const narrow = (keep: (record: ModelRecord) => boolean) => {
    records = records.filter(keep);
  };

  const search = scalar('search')?.toLowerCase();
  if (search !== undefined) {
    const words = search.split(/\s+/);
    narrow(({ productName, firstName, lastName }) => {
      const [first, family] = [firstName.toLowerCase(), lastName.toLowerCase()];
      return (
        productName.toLowerCase().includes(search) ||
        first.includes(search) ||
        family.includes(search) ||
        (words.length === 2 && first.includes(words[0] ?? '') && family.includes(words[1] ?? ''))
      );
    });
  }

  const date = (name: string) => {
    try {
      const text = scalar(name);
      return text === undefined || !/^\d{4}-\d\d-\d\d$/.test(text)
        ? undefined
        : Temporal.PlainDate.from(text);
    } catch {
      return undefined;
    }
  };
  // Filter rule 3: the start of the first day, and the end of the last, in the platform's zone.
  const start = date('start_date')?.toZonedDateTime(world.timeZone).toInstant();
  const end = date('end_date')?.add({ days: 1 }).toZonedDateTime(world.timeZone).toInstant();
  if (start) narrow((r) => Temporal.Instant.compare(r.completedAt, start) >= 0);
  if (end) narrow((r) => Temporal.Instant.compare(r.completedAt, end) < 0);

  const integers = (name: string) => list(name)?.map((value) => Number.parseInt(value, 10) || 0);
  const products = integers('product_ids');
  if (products) narrow(({ productId }) => products.includes(productId));
  const users = integers('user_ids');
  if (users) narrow(({ userId }) => users.includes(userId));
  const seids = list('seids');
  if (seids) narrow(({ seid }) => seid !== null && seids.includes(seid));
  const proctorIds = integers('proctor_ids');
  if (proctorIds) narrow(({ proctors }) => proctors.some(({ id }) => proctorIds.includes(id)));
  const organizations = integers('organization_ids');
  if (organizations) narrow(({ organizationId }) => organizations.includes(organizationId));
  const statuses = list('user_record_status');
  if (statuses) narrow(({ status }) => statuses.includes(status));
  const legacy = list('legacy_record');
  if (legacy && !legacy.includes('both')) {
    narrow((record) => legacy.includes(record.legacy ? 'true' : 'false'));
  }

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

  const size = Number.parseInt(last('page') ?? '', 10);
  const page = Number.isNaN(size) || size < 1 ? 50 : Math.min(100, size);
  const skip = Number.parseInt(last('offset') ?? '', 10);
  const offset = Number.isNaN(skip) || skip < 0 ? 0 : skip;
  return {
    ids: sorted.slice(offset, offset + page).map(({ id }) => id),
    meta: { count: sorted.length, offset, page },
  };
}
