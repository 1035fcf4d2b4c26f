import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Temporal } from 'temporal-polyfill';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../lambda/clock.ts';
import type { FanOutLedger } from '../../lambda/fan-out/parts.ts';
import { dynamoFanOutLedger } from '../../lambda/ledger/dynamo-fan-out-ledger.ts';
import { dynamoLedger } from '../../lambda/ledger/dynamo-ledger.ts';
import { Table } from '../../lambda/ledger/table.ts';
import type { Ledger } from '../../lambda/ports/ledger.ts';
import type { PlannedRange } from '../../lambda/ports/planned-range.ts';
import type { LocalFunction } from '../../local/aws/index.ts';
import { Deployment, integration, queues } from '../scaffold/deployment.ts';
import { type Execution, execute } from '../support/state-machine.ts';

const journal = { warn: () => {} };
const records = 100;

const stage = new Deployment();
let dynamodb: DynamoDBClient;
let ledger: Ledger;
let fanOut: FanOutLedger;

beforeAll(() => stage.build({ integration: { baseline: { atOnce: 2 } }, records }));
afterAll(() => stage.dismantle());

beforeEach(async () => {
  await stage.raise();
  dynamodb = new DynamoDBClient(stage.aws.clientConfig('dynamodb'));
  const table = new Table(dynamodb, stage.aws.output('LedgerTableName'), systemClock);
  ledger = dynamoLedger(table, integration, journal);
  fanOut = dynamoFanOutLedger(table, integration);
});
afterEach(async () => {
  dynamodb.destroy();
  await stage.strike();
});

function theFunction(described: string): LocalFunction {
  const found = [...stage.aws.functions.values()].find(({ name }) => name.includes(described));
  if (found === undefined) throw new Error(`the stack has no function ${described}`);
  return found;
}

/** As many functions as are needed at once, and the highest number so far. */
class Functions implements Execution {
  readonly #free: LocalFunction[] = [];
  #withoutLedger: LocalFunction | undefined;
  readonly entered: string[] = [];
  readonly read: string[] = [];
  #busy = 0;
  mostAtOnce = 0;
  running = 1;
  /** The range, by its last day, whose tasks do not reach the ledger. */
  broken: string | undefined;
  beforeRead: () => Promise<unknown> = async () => {};

  async function(payload: Parameters<Execution['function']>[0]) {
    const { range } = payload;
    const last = JSON.stringify(range ?? '').match(/"to":"([^"]+)"/)?.[1];
    this.#busy += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#busy);
    if (last !== undefined) {
      this.read.push(last);
      await this.beforeRead();
    }
    const { name } = theFunction('Baseline');
    if (last !== undefined && last === this.broken) {
      this.#withoutLedger ??= stage.aws.startFunction(name, {
        endpoints: { ...stage.aws.endpoints, dynamodb: 'http://127.0.0.1:9' },
      });
      return this.#withoutLedger;
    }
    return this.#free.pop() ?? stage.aws.startFunction(name);
  }

  /** Waits for tasks that were under way when the execution ended. */
  idle(ranges: number) {
    return vi.waitFor(() => {
      expect(new Set(this.read).size).toBe(ranges);
      expect(this.#busy).toBe(0);
    }, 20_000);
  }

  done(local: LocalFunction) {
    this.#busy -= 1;
    if (local !== this.#withoutLedger) this.#free.push(local);
  }
}

function run(functions = new Functions()) {
  const [machine] = stage.aws.stateMachines;
  if (machine === undefined) throw new Error('the stack has no state machine');
  return execute(machine.definition, functions);
}

/** Plans five ranges of the small history. The first plan that was written stays valid. */
async function divide(): Promise<readonly PlannedRange[]> {
  const { before, begunAt } = (await ledger.state()).baseline;
  if (before === undefined || begunAt === undefined)
    throw new Error('no tick has read the start day');
  return fanOut.keepPlan(
    begunAt,
    [0, 90, 180, 270, 360].map((days) => ({
      begunAt,
      from: before.subtract({ days: days + 90 }),
      to: before.subtract({ days: days + 1 }),
      sliceDays: 30,
      ...(days === 360 && { isOldest: true }),
    })),
  );
}

describe('the state machine of the stack', () => {
  it('reads the history a few ranges at a time, while ticks announce new certifications', async () => {
    await stage.completedTick();
    const ranges = await divide();
    const functions = new Functions();
    const today = Temporal.Now.plainDateISO('UTC').toString();
    let added: number | undefined;
    functions.beforeRead = async () => {
      if (added !== undefined) return;
      added = stage.sandbox.world.add({ certified_on: today }).id;
      expect(await stage.completedTick()).toMatchObject({
        outcome: 'baseline',
        created: 1,
        delivered: 1,
      });
    };

    expect(await run(functions)).toEqual({ outcome: 'completed', ranges: 5 });
    expect(functions.read.toSorted()).toEqual(ranges.map(({ to }) => `${to}`).toSorted());
    expect(functions.mostAtOnce).toBe(2);

    expect(await ledger.state()).toMatchObject({
      expected: records + 1,
      baseline: { status: 'completed' },
    });
    expect(await stage.completedTick()).toMatchObject({
      outcome: 'completed',
      created: 0,
      unexplained: 0,
    });
    const [notice, ...more] = await stage.notices();
    expect(more).toEqual([]);
    expect(notice?.text).toContain('baseline.completed');
    expect(notice?.text).toContain(`${records + 1} certifications`);

    const { id } = stage.sandbox.world.add({ certified_on: '2020-02-29' });
    expect(await stage.completedTick()).toMatchObject({ created: 1 });
    const heard = (await stage.events(queues.everything)).map(({ subject }) => subject);
    expect(heard.sort()).toEqual([String(added), String(id)].sort());
  });

  it('reads all days again after a restart, and the ticks announce unknown certifications', async () => {
    await stage.completedTick();
    await divide();
    await run();
    const late = stage.sandbox.world.add({ certified_on: '2020-02-29' });
    const operate = theFunction('Operate');
    const restart = () => operate.invoke({ command: 'restart-baseline' });
    expect(await restart()).toMatchObject({ payload: { ok: true, result: { changed: true } } });
    const today = Temporal.Now.plainDateISO('UTC').toString();
    const fresh = stage.sandbox.world.add({ certified_on: today });
    expect(await stage.completedTick()).toMatchObject({
      outcome: 'baseline',
      created: 1,
      delivered: 1,
    });
    expect(await restart()).toMatchObject({ payload: { ok: true, result: { changed: false } } });

    const ranges = await divide();
    const functions = new Functions();
    expect(await run(functions)).toEqual({ outcome: 'completed', ranges: 5 });
    expect(functions.read.toSorted()).toEqual(ranges.map(({ to }) => `${to}`).toSorted());
    expect(await stage.completedTick()).toMatchObject({
      outcome: 'completed',
      created: 1,
      unexplained: 0,
    });
    expect((await ledger.state()).expected).toBe(records + 2);
    const heard = (await stage.events(queues.everything)).map(({ subject }) => subject);
    expect(heard.sort()).toEqual([String(late.id), String(fresh.id)].sort());
  });

  it('resumes a range for which the pace had no room, without a failure', async () => {
    await stage.completedTick();
    await divide();
    const functions = new Functions();
    const spent = { isDone: false, recorded: 0, waitSeconds: 0 };
    const refused = new Set<string>();
    const refusing: Execution['function'] = async (payload) => {
      const range = JSON.stringify(payload['range'] ?? '');
      if (range === '""' || refused.has(range)) return functions.function(payload);
      refused.add(range);
      const answer = { requestId: 'one', coldStart: false, outcome: 'returned' as const };
      return { invoke: async () => ({ ...answer, payload: spent }) };
    };
    const { definition } = stage.aws.stateMachines[0] ?? {};
    if (definition === undefined) throw new Error('the stack has no state machine');
    expect(await execute(definition, { function: refusing })).toMatchObject({
      outcome: 'completed',
    });
    expect(refused.size).toBe(5);
    expect(functions.read).toHaveLength(5);
    expect((await ledger.state()).expected).toBe(records);
  });

  it('fails with the name of the failed range, and the next execution reads the rest', async () => {
    await stage.completedTick();
    const ranges = await divide();
    const functions = new Functions();
    const failing = ranges[1];
    functions.broken = String(failing?.to);
    const failure: unknown = await run(functions).catch((error: unknown) => error);
    expect(String(failure)).toContain('ranges have not been read to their end');
    expect(String(failure)).toContain(`${failing?.from} to ${failing?.to}`);
    // The first attempt and four more.
    expect(functions.read.filter((last) => last === functions.broken)).toHaveLength(5);
    expect((await ledger.state()).baseline.status).toBe('running');
    expect(await stage.notices()).toEqual([]);

    // Step Functions would begin no further range. Here, all of them begin.
    await functions.idle(ranges.length);
    const done = (await fanOut.progressOf(ranges)).filter(({ isDone }) => isDone).length;
    expect(done).toBe(4);
    const again = new Functions();
    expect(await run(again)).toMatchObject({ outcome: 'completed' });
    expect(again.read).toHaveLength(ranges.length - done);
    expect(again.read).toContain(functions.broken);
    expect((await ledger.state()).expected).toBe(records);
  });

  it('does not retry refused credentials', async () => {
    await stage.completedTick();
    await divide();
    stage.sandbox.rotateSecret();
    const functions = new Functions();
    await expect(run(functions)).rejects.toThrow('ranges have not been read to their end');
    await functions.idle(5);
    expect(functions.read).toHaveLength(5);
  });

  it('has nothing to do before the first tick, beside another execution, and at the end', async () => {
    const before = new Functions();
    expect(await run(before)).toMatchObject({ outcome: 'not-begun' });
    await stage.completedTick();
    await divide();
    const second = new Functions();
    second.running = 2;
    await run(second);
    expect([...before.read, ...second.read]).toEqual([]);
    expect(await run()).toMatchObject({ outcome: 'completed' });
    const after = new Functions();
    expect(await run(after)).toMatchObject({ outcome: 'completed', ranges: 0 });
    expect(after.read).toEqual([]);
  });
});
