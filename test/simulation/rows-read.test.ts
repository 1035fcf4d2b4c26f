import { expect, it } from 'vitest';
import { parsePage } from '../../lambda/partner/api.ts';
import { createPartnerClient } from '../../lambda/partner/client.ts';
import { ManualClock } from '../scaffold/clock.ts';
import { MemoryPartner } from '../scaffold/partner.ts';
import { assessment } from '../support/assessments.ts';
import { Random } from './random.ts';
import { rowsReadOnce } from './rows-read.ts';

it("a page of rows that were read before equals the client's own reader's page", async () => {
  const clock = new ManualClock();
  const partner = new MemoryPartner(clock);
  const random = new Random(1);
  // The order of the records changes with each answer.
  partner.tie = () => random.next();
  partner.addMany(1, 30, '2026-11-20');
  const remembered = rowsReadOnce();
  let [read, wrong] = [0, 0];
  const baseUrl = 'https://partner.example.org';
  const credentials = async () => partner.access.credentials;
  const { dispatcher } = partner;
  const client = createPartnerClient(
    { baseUrl, credentials, clock, dispatcher },
    (reply, offset) => {
      const page = remembered(reply, offset + wrong);
      expect(page).toEqual(parsePage(reply, offset));
      read += 1;
      return page;
    },
  );
  const pages = async () => {
    for (const offset of [0, 15, 100]) await client.list({ page: 20, offset });
  };
  await pages();
  partner.edit(3, { name: 'Iñaki ]},"meta":{"count":1}}', seid: null });
  await pages();
  partner.spoil(4);
  await pages();
  partner.spoil(4, false);
  partner.remove(5);
  await pages();
  await pages();
  expect(read).toBe(15);
  const [first, second] = [await client.list(), await client.list()];
  expect(second.assessments).toHaveLength(29);
  // The same objects, and so their fingerprints.
  expect(second.assessments.every((one) => first.assessments.includes(one))).toBe(true);
  wrong = 1;
  await expect(client.list()).rejects.toMatchObject({ code: 'unexpected-response' });
});

it('a page that shows a record twice is read as a whole', () => {
  const remembered = rowsReadOnce();
  const row = JSON.stringify(assessment({ id: 7 }));
  for (const rows of [row, `${row},${row}`]) {
    const body = Buffer.from(`{"data":[${rows}],"meta":{"count":1,"page":10,"offset":0}}`);
    const reply = { status: 200, headers: {}, body };
    expect(remembered(reply, 0)).toEqual(parsePage(reply, 0));
  }
});
