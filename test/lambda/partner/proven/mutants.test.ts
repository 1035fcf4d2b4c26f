import { afterEach, describe, expect, it, vi } from 'vitest';
import type { HostOrder } from '../../../scaffold/listing.ts';
import { POOLS, readOnce } from './simulation.ts';

/** What the rule of acceptance is for: each part of it, taken out, loses records. */
const SEAM = '../../../../lambda/detection/seam.ts';
const TIES = '../../../../lambda/detection/names-tied.ts';
const ORDER = '../../../../lambda/detection/name-order.ts';

type Seam = typeof import('../../../../lambda/detection/seam.ts');
type Order = typeof import('../../../../lambda/detection/name-order.ts');
type Ties = typeof import('../../../../lambda/detection/names-tied.ts');

async function lostWith(breakIt: () => void, hostOrder: HostOrder = 'last-name'): Promise<number> {
  vi.resetModules();
  breakIt();
  const { proveRange } = await import('../../../../lambda/partner/proven/proven-read.ts');
  let lost = 0;
  for (let seed = 1; seed <= 15; seed++) {
    const size = { records: 1000, perDay: 17, pool: POOLS.small, hostOrder };
    // Bursts, because single removals are absorbed by the slack.
    const outcome = await readOnce({ ...size, churn: 0.5, burst: 30 }, seed, proveRange);
    if (outcome.accepted) lost += outcome.lost;
  }
  return lost;
}

afterEach(() => {
  vi.doUnmock(SEAM);
  vi.doUnmock(TIES);
  vi.doUnmock(ORDER);
  vi.resetModules();
});

describe('a proven read, broken on purpose', () => {
  it('loses nothing as long as it is whole', async () => {
    expect(await lostWith(() => {})).toBe(0);
  });

  it('loses records if any page is accepted', async () => {
    const broken = () =>
      vi.doMock(SEAM, async (original) => ({
        ...(await original<Seam>()),
        holdsAnchor: () => true,
      }));
    expect(await lostWith(broken)).toBeGreaterThan(0);
  });

  it('loses records if any record that was seen before is an anchor', async () => {
    const broken = () =>
      vi.doMock(SEAM, async (original) => {
        const seam = await original<Seam>();
        return {
          ...seam,
          lastBelow: (rows: readonly unknown[]) => rows.length - 1,
          anchorsOf: (rows: readonly unknown[]) => rows,
          nextOffset: (offset: number, rows: readonly unknown[]) => offset + rows.length - 2,
        };
      });
    expect(await lostWith(broken)).toBeGreaterThan(0);
  });

  it('loses records if only equal records are taken for tied', async () => {
    const broken = () =>
      vi.doMock(TIES, async (original) => ({
        ...(await original<Ties>()),
        tieMarks: ({ id }: { id: number }) => [String(id)],
      }));
    expect(await lostWith(broken)).toBeGreaterThan(0);
  });

  it('loses records if a host that does not sort by name is believed to', async () => {
    const broken = () =>
      vi.doMock(ORDER, async (original) => ({
        ...(await original<Order>()),
        looksSorted: () => true,
      }));
    expect(await lostWith(broken, 'ignored')).toBeGreaterThan(0);
  });

  it('loses records if an order is believed before there is evidence', async () => {
    const broken = () =>
      vi.doMock(ORDER, async (original) => {
        const order = await original<Order>();
        class Gullible extends order.NameOrderEvidence {
          override get ties() {
            return { first_name: false, last_name: false };
          }
        }
        return { ...order, NameOrderEvidence: Gullible };
      });
    expect(await lostWith(broken)).toBeGreaterThan(0);
  });
});
