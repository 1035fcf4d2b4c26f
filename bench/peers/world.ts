import * as z from 'zod';
import { createPartnerClient } from '../../lambda/partner/client.ts';
import { ManualClock } from '../../test/scaffold/clock.ts';
import { partnerReady, startChild } from '../child.ts';
import { controlSandbox, requestsTo } from '../sandbox-control.ts';
import { allRows } from '../seed.ts';
import { now, today } from '../settings.ts';

const added = z.object({ ids: z.array(z.int()) });
const scope = z.array(z.object({ id: z.int(), in_scope: z.boolean() }));
const described = z.object({ organizations: scope });

export type PeerWorld = Awaited<ReturnType<typeof openPeerWorld>>;

/** The sandbox of one contender, in its own process. All contenders have the same seed and the same changes. */
export async function openPeerWorld(records: number) {
  const child = await startChild('partner-process.ts', { records, until: today }, partnerReady);
  const partner = child.ready;
  const client = createPartnerClient({
    baseUrl: partner.url,
    credentials: async () => partner.credentials,
    clock: new ManualClock(now),
  });
  const control = (method: string, path: string, body?: object) =>
    controlSandbox(partner, method, path, body);
  return {
    partner,
    control,
    /** All ids, oldest day first. */
    ids: async () => (await allRows(client, {})).map(({ id }) => id),
    /** @param count at least two */
    add: async (certified_on: string, count: number) =>
      added.parse(await control('POST', '/assessments', { count, certified_on })).ids,
    remove: (id: number) => control('DELETE', `/assessments/${id}`),
    edit: (id: number) =>
      control('POST', `/assessments/${id}/spoil`, { set: { email: 'changed@example.org' } }),
    move: (id: number, certified_on: string) =>
      control('POST', `/assessments/${id}/move`, { certified_on }),
    /** Empties the list until the returned function is called. */
    async hideAll(): Promise<() => Promise<unknown>> {
      const { organizations } = described.parse(await control('GET', ''));
      const organization_ids = organizations.flatMap(({ id, in_scope }) => (in_scope ? [id] : []));
      await control('PUT', '/scope', { organization_ids: [1] });
      return () => control('PUT', '/scope', { organization_ids });
    },
    requests: () => requestsTo(partner),
    async close(): Promise<void> {
      await client.close();
      await child.stop();
    },
  };
}
