import type { Temporal } from 'temporal-polyfill';
import type { Clock } from '../clock.ts';
import type { DayRange } from '../detection/days.ts';
import type { Assessment } from '../events/assessment.ts';
import type { QuarantinedRecord, RangeRead } from '../ports.ts';
import type { PartnerClient } from './client.ts';

const fold = (s: string) =>
  s
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
const tied = (a: Assessment, b: Assessment) =>
  fold(a.name) === fold(b.name) ||
  fold(a.first_name) === fold(b.first_name) ||
  fold(a.last_name) === fold(b.last_name);

export async function proveRange(
  client: Pick<PartnerClient, 'list'>,
  { from, to }: DayRange,
  { deadline }: { clock: Clock; deadline: Temporal.Instant },
): Promise<RangeRead> {
  const seen = new Map<number, Assessment>();
  const quarantined: QuarantinedRecord[] = [];
  let offset = 0;
  let requests = 0;
  let anchors: Set<number> | undefined;
  let back = 1;
  for (;;) {
    const page = await client.list(
      {
        filter: { ...(from && { start_date: from }), ...(to && { end_date: to }) },
        sort: 'user_name',
        order: 'ASC',
        page: 100,
        offset,
      },
      { deadline },
    );
    requests += 1;
    for (const one of page.assessments) seen.set(one.id, one);
    quarantined.push(...page.quarantined);
    const { count } = page.meta;
    const base = { assessments: [...seen.values()], quarantined, count, requests };
    if (quarantined.length > 0 || requests > 30) return base;
    if (offset > 0 && !page.assessments.some(({ id }) => anchors?.has(id))) {
      offset = Math.max(0, offset - 5 * back);
      back *= 2;
      continue;
    }
    back = 1;
    if (page.rows < 100 && offset + page.rows === count)
      return { ...base, proof: requests === 1 ? 'single-page' : 'key-seam' };
    const last = page.assessments.at(-1);
    if (last === undefined) return base;
    const free = page.assessments.filter((one) => !tied(one, last));
    if (free.length === 0) return base;
    anchors = new Set(free.map(({ id }) => id));
    const anchor = page.assessments.findLastIndex((one) => !tied(one, last));
    offset += Math.max(1, anchor - 1);
  }
}
