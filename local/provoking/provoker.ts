import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { LocalTally, Provocation, Provoking } from '../../console/index.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import { idIn, parseLife } from '../../lambda/ledger/certification-item.ts';
import { readAll } from '../../lambda/ledger/item.ts';
import { Table } from '../../lambda/ledger/table.ts';
import { ledgerKeys, ledgerTable } from '../../lambda/names.ts';
import { NotFoundError } from '../../ops/errors.ts';
import type { PartnerSandbox } from '../partner-sandbox/index.ts';
import { acts, type Parts, type Provoked } from './acts.ts';
import { baselineOf, differing, type Fields, hears, type NewestEvent, tallyOf } from './tally.ts';

/** With more certifications, each look would take seconds. */
const mostCompared = 20_000;
const doneKept = 50;

interface Side extends Provoked {
  readonly heard: Map<number, NewestEvent>;
  /** The ledger's records without an event. Undefined: they could not be read. */
  baseline: Promise<ReadonlyMap<number, Fields> | undefined> | undefined;
  isBaselineRead: boolean;
  /** Whether the tick that ends next was disturbed. */
  isDisturbed: boolean;
  /** Whether the partner has other credentials than the secret. */
  refusesCredentials: boolean;
}

/** Provokes trouble around the notifier on request, and counts the results. */
export class Provoker implements Provoking {
  readonly #parts: Parts;
  readonly #sides: ReadonlyMap<string, Side>;
  failedTicks = 0;
  done: Provoking['done'] = [];

  constructor(all: readonly Provoked[], parts: Parts) {
    this.#parts = parts;
    this.#sides = new Map(
      all.map((one): [string, Side] => [
        one.integration,
        {
          ...one,
          heard: new Map(),
          baseline: undefined,
          isBaselineRead: false,
          isDisturbed: false,
          refusesCredentials: false,
        },
      ]),
    );
  }

  provocations(integration: string): readonly Provocation[] {
    const side = this.#side(integration);
    return acts.map(({ isOn, provoke: _, ...told }) => ({
      ...told,
      ...(isOn && { isOn: isOn(side, this.#parts) }),
    }));
  }

  async provoke(integration: string, name: string, wanted?: string): Promise<void> {
    const side = this.#side(integration);
    const act = acts.find((one) => one.name === name);
    if (act === undefined)
      throw new NotFoundError('There is no such provocation.', 'The page has all of them.');
    const wasOn = act.isOn?.(side, this.#parts) ?? false;
    if (act.isOn !== undefined && wanted === (wasOn ? 'on' : 'off')) return;
    side.isDisturbed = true;
    await act.provoke(side, this.#parts);
    const title = wasOn ? `${act.title}: no longer` : act.title;
    const at = this.#parts.clock.now().toString();
    this.done = [{ at, integration, title }, ...this.done].slice(0, doneKept);
    this.#parts.changed();
  }

  async tally(integration: string): Promise<LocalTally | undefined> {
    const { heard, sandbox, ...side } = this.#side(integration);
    const baseline = await side.baseline;
    if (baseline === undefined || sandbox.world.count > mostCompared) return undefined;
    return this.#inLedger(async (table) => {
      // Read before the events that were heard: an event that is delivered meanwhile must not count twice.
      const [held = [], undeliverable = [], owed = []] = await Promise.all(
        (['held', 'undeliverable', 'pending'] as const).map((wait) =>
          waiting(table, integration, wait),
        ),
      );
      const compared = { world: recordsOf(sandbox), baseline, heard };
      const reasons = { held: new Set([...held, ...undeliverable]), owed: new Set(owed) };
      const others = differing(compared).filter(
        (id) => !reasons.held.has(id) && !reasons.owed.has(id),
      );
      const discarded = new Set(await discardedOf(table, integration, others));
      return tallyOf(compared, { ...reasons, discarded });
    });
  }

  /** Records an event that a subscriber got. */
  hears({ source, sequence, type, data }: CertificationEvent): void {
    const integration = source.split(':').at(-1) ?? '';
    const kind = kindIn(type);
    const side = this.#sides.get(integration);
    if (side === undefined || kind === undefined) return;
    const { assessment } = data;
    hears(side.heard, assessment.id, { revision: Number(sequence), kind, assessment });
  }

  /** Records the end of a tick. @returns whether its failure was expected */
  ended(integration: string, outcome: string): boolean {
    const side = this.#sides.get(integration);
    if (side === undefined) return false;
    if (
      outcome === 'baseline' &&
      !side.isBaselineRead &&
      side.sandbox.world.count <= mostCompared
    ) {
      const world = recordsOf(side.sandbox);
      side.baseline = this.#recorded(integration).then(
        (recorded) => baselineOf(recorded, world),
        () => undefined,
      );
    }
    side.isBaselineRead ||= outcome === 'completed';
    const isExplained = side.isDisturbed || this.#isInForce(side);
    side.isDisturbed = this.#isInForce(side);
    const hasFailed = outcome === 'failed' || outcome === 'disturbed';
    if (isExplained && hasFailed) this.failedTicks += 1;
    return isExplained;
  }

  #isInForce(side: Side): boolean {
    const { sandbox, poll, refusesCredentials } = side;
    const { faults } = this.#parts;
    return (
      refusesCredentials ||
      sandbox.faults.length > 0 ||
      faults.refuses(poll.name) ||
      faults.awaits(poll.name)
    );
  }

  /** The certifications that the baseline has recorded without an event. */
  async #recorded(integration: string): Promise<readonly number[]> {
    return this.#inLedger(async (_, client) => {
      const pages = paginateScan(
        { client },
        {
          TableName: this.#parts.aws.tables[0],
          FilterExpression: 'begins_with(#key, :key) AND #first.#kind = :baseline',
          ExpressionAttributeNames: {
            '#key': ledgerTable.partitionKey,
            '#first': 'revision:1',
            '#kind': 'kind',
          },
          ExpressionAttributeValues: {
            ':key': { S: ledgerKeys.certification(integration, '*').slice(0, -1) },
            ':baseline': { S: 'baseline' },
          },
        },
      );
      const ids: number[] = [];
      for await (const { Items = [] } of pages)
        for (const item of Items) ids.push(idIn(unmarshall(item)));
      return ids;
    });
  }

  async #inLedger<T>(read: (table: Table, client: DynamoDBClient) => Promise<T>): Promise<T> {
    const { aws, clock } = this.#parts;
    const client = new DynamoDBClient(aws.clientConfig('dynamodb'));
    try {
      return await read(new Table(client, aws.tables[0] ?? '', clock), client);
    } finally {
      client.destroy();
    }
  }

  #side(integration: string): Side {
    const side = this.#sides.get(integration);
    if (side !== undefined) return side;
    throw new NotFoundError(
      `No integration ${integration} is watched here.`,
      `Those are: ${[...this.#sides.keys()].join(', ')}.`,
    );
  }
}

/** The certifications whose events wait for this. */
async function waiting(table: Table, integration: string, wait: string): Promise<number[]> {
  const pages = table.query(ledgerTable.undelivered, ledgerKeys.indexed(integration, wait));
  return (await Array.fromAsync(pages)).flat().map(idIn);
}

/** Those whose newest event ops have discarded. */
async function discardedOf(table: Table, integration: string, ids: readonly number[]) {
  const items = await table.getAll(ids.map((id) => ledgerKeys.certification(integration, id)));
  return readAll(items, parseLife).flatMap(({ certification: { id }, revisions }) =>
    revisions.at(-1)?.decisions.at(-1)?.decision === 'discarded' ? id : [],
  );
}

function recordsOf({ world }: PartnerSandbox): ReadonlyMap<number, Fields> {
  return new Map([...world.assessments()].map((record) => [record.id, { ...record }]));
}

function kindIn(type: CertificationEvent['type']): NewestEvent['kind'] | undefined {
  const [, kind] = type.split('.');
  return (['created', 'updated', 'withdrawn', 'restored'] as const).find((one) => one === kind);
}
