import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pack } from '../../../lambda/delivery/pack.ts';

const sizes = fc.array(fc.integer({ min: 1, max: 300_000 }));
const size = (bytes: number) => bytes;

describe('packing entries into batches', () => {
  it('keeps every entry, in order', () => {
    fc.assert(
      fc.property(sizes, (all) => {
        expect(pack(all, size).flat()).toEqual(all);
      }),
    );
  });

  it('never exceeds ten entries or 262,144 bytes, but for an entry that is larger by itself', () => {
    fc.assert(
      fc.property(sizes, (all) => {
        for (const batch of pack(all, size)) {
          expect(batch.length).toBeLessThanOrEqual(10);
          const bytes = batch.reduce((sum, one) => sum + one, 0);
          if (batch.length > 1) expect(bytes).toBeLessThanOrEqual(262_144);
        }
      }),
    );
  });

  it('opens a batch only when the next entry does not fit the one before', () => {
    fc.assert(
      fc.property(sizes, (all) => {
        const batches = pack(all, size);
        batches.slice(1).forEach((batch, index) => {
          const before = batches[index] ?? [];
          const [next = 0] = batch;
          const bytes = before.reduce((sum, one) => sum + one, 0);
          expect(before.length === 10 || bytes + next > 262_144).toBe(true);
        });
      }),
    );
  });
});
