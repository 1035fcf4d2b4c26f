import { afterAll, expect, it } from 'vitest';
import { IndexWrites } from '../../bench/index-writes.ts';
import { systemClock } from '../../lambda/clock.ts';
import { dynamoLedger } from '../../lambda/ledger/dynamo-ledger.ts';
import { dynamoOpsLedger } from '../../lambda/ledger/dynamo-ops-ledger.ts';
import { Table } from '../../lambda/ledger/table.ts';
import { LedgerInUse, later, now } from '../lambda/ledger/ledgers.ts';
import { startLedgerTable } from '../scaffold/ledger-table.ts';
import { assessment } from '../support/assessments.ts';

const name = 'district-a';
// A separate database: the counter stays on the client.
const database = await startLedgerTable();
afterAll(() => database.close());

it('a first event writes by-day once, undelivered four times and by-event once; a later one writes by-event twice', async () => {
  const { client } = database;
  const writes = new IndexWrites(client, client, database.name);
  const table = new Table(client, database.name, systemClock);
  const ledger = dynamoLedger(table, name, { warn: () => undefined });
  const opsLedger = dynamoOpsLedger(table, name);
  const used = new LedgerInUse({ ledger, opsLedger }, name);
  const { id } = assessment();
  const unitsOf = async (revision: number) => {
    await ledger.settle([{ certificationId: id, revision }], 'digest');
    await ledger.settle([{ certificationId: id, revision }], 'nothing');
    return writes.take();
  };
  await used.create(assessment(), now);
  expect(await unitsOf(1)).toBe(1 + 4 + 1);
  await used.update(assessment({ email: 'anew@example.org' }), later);
  expect(await unitsOf(2)).toBe(1 + 4 + 2);
});
