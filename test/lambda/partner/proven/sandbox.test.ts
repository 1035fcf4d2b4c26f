import { Temporal } from 'temporal-polyfill';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../lambda/clock.ts';
import { createPartnerClient } from '../../../../lambda/partner/index.ts';
import { proveRange } from '../../../../lambda/partner/proven/proven-read.ts';
import { startPartnerSandbox } from '../../../../local/partner-sandbox/index.ts';

describe('a proven read over HTTP', () => {
  it.each(['name', 'last_name'] as const)(
    "returns the sandbox's records, with unstable ties, ordered by %s",
    async (userNameOrder) => {
      const sandbox = await startPartnerSandbox({
        records: 2500,
        unstableTies: true,
        userNameOrder,
      });
      onTestFinished(() => sandbox.close());
      const client = createPartnerClient({
        baseUrl: sandbox.url,
        credentials: async () => sandbox.credentials,
      });
      onTestFinished(() => client.close());
      const deadline = systemClock.now().add({ minutes: 1 });

      const read = await proveRange(client, {}, deadline);
      const { assessments, requests } = read;
      const { meta } = await client.list({ page: 1 });
      expect(new Set(assessments.map(({ id }) => id)).size).toBe(meta.count);
      expect(read).toMatchObject({ proof: 'key-seam', count: meta.count });
      expect(requests).toBeLessThanOrEqual(1.3 * Math.ceil(meta.count / 100));

      const [newest] = assessments
        .map(({ certified_on }) => certified_on)
        .toSorted()
        .reverse();
      const day = Temporal.PlainDate.from(newest ?? '');
      const ofDay = await proveRange(client, { from: day, to: day }, deadline);
      expect(ofDay).toMatchObject({ proof: 'single-page', requests: 1 });
      expect(ofDay.assessments.every(({ certified_on }) => certified_on === newest)).toBe(true);
    },
  );
});
