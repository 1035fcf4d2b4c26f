import * as z from 'zod';
import { createPartnerClient, type PartnerClient } from '../../lambda/partner/client.ts';
import { ManualClock } from '../../test/scaffold/clock.ts';
import { type Child, type PartnerReady, partnerReady, startChild } from '../child.ts';
import { controlSandbox, requestsTo } from '../sandbox-control.ts';
import { now, today } from '../settings.ts';

const added = z.object({ ids: z.array(z.int()) });
const scope = z.array(z.object({ id: z.int(), in_scope: z.boolean() }));
const described = z.object({ organizations: scope });
const pageSize = 100;

/** The sandbox of one contender, in its own process. All contenders have the same seed and the same changes. */
export class PeerWorld {
  readonly partner: PartnerReady;
  readonly #child: Child<PartnerReady>;
  readonly #client: PartnerClient;

  private constructor(child: Child<PartnerReady>) {
    this.#child = child;
    this.partner = child.ready;
    this.#client = createPartnerClient({
      baseUrl: child.ready.url,
      credentials: async () => child.ready.credentials,
      clock: new ManualClock(now),
    });
  }

  static async open(records: number): Promise<PeerWorld> {
    const wanted = { records, until: today };
    return new PeerWorld(await startChild('partner-process.ts', wanted, partnerReady));
  }

  /** All ids, oldest day first. */
  async ids(): Promise<number[]> {
    const ids: number[] = [];
    for (let count = 1; ids.length < count; ) {
      const query = { sort: 'certified_on', page: pageSize, offset: ids.length } as const;
      const { meta, assessments, rows } = await this.#client.list(query);
      if (rows === 0) break;
      count = meta.count;
      for (const { id } of assessments) ids.push(id);
    }
    return ids;
  }

  /** @param count at least two */
  async add(certified_on: string, count: number): Promise<number[]> {
    return added.parse(await this.#control('POST', '/assessments', { count, certified_on })).ids;
  }

  async remove(id: number): Promise<void> {
    await this.#control('DELETE', `/assessments/${id}`);
  }

  async edit(id: number): Promise<void> {
    const set = { email: 'changed@example.org' };
    await this.#control('POST', `/assessments/${id}/spoil`, { set });
  }

  async move(id: number, certified_on: string): Promise<void> {
    await this.#control('POST', `/assessments/${id}/move`, { certified_on });
  }

  /** Empties the list until the returned function is called. */
  async hideAll(): Promise<() => Promise<void>> {
    const { organizations } = described.parse(await this.#control('GET', ''));
    const organization_ids = organizations.flatMap(({ id, in_scope }) => (in_scope ? [id] : []));
    await this.#control('PUT', '/scope', { organization_ids: [1] });
    return async () => void (await this.#control('PUT', '/scope', { organization_ids }));
  }

  async set(switches: {
    readonly churn: number;
    readonly backdated: number;
    readonly unstableTies: boolean;
  }): Promise<void> {
    await this.#control('PATCH', '/switches', switches);
  }

  requests(): Promise<number> {
    return requestsTo(this.partner);
  }

  async forgetRequests(): Promise<void> {
    await this.#control('DELETE', '/requests');
  }

  async close(): Promise<void> {
    await this.#client.close();
    await this.#child.stop();
  }

  #control(method: string, path: string, body?: object): Promise<unknown> {
    return controlSandbox(this.partner, method, path, body);
  }
}
