import { describe, expect, it } from 'vitest';
import { parsePage } from '../../lambda/partner/api.ts';
import { createPartnerClient } from '../../lambda/partner/client.ts';
import { ManualClock } from '../scaffold/clock.ts';
import { MemoryPartner } from '../scaffold/partner.ts';
import { assessment } from '../support/assessments.ts';
import { Random } from './random.ts';
import { rowsReadOnce } from './rows-read.ts';

/** A partner whose ties change with each answer, and a client with this reader. */
function integration(read: typeof parsePage) {
  const clock = new ManualClock();
  const partner = new MemoryPartner(clock);
  const random = new Random(1);
  partner.tie = () => random.next();
  partner.addMany(1, 30, '2026-11-20');
  const baseUrl = 'https://partner.example.org';
  const credentials = async () => partner.access.credentials;
  const { dispatcher } = partner;
  return {
    partner,
    client: createPartnerClient({ baseUrl, credentials, clock, dispatcher }, read),
  };
}

describe('a page of rows that were read before', () => {
  it("equals the client's own reader's page, after any changes of the records", async () => {
    const remembered = rowsReadOnce();
    let read = 0;
    const { partner, client } = integration((reply, offset) => {
      const page = remembered(reply, offset);
      expect(page).toEqual(parsePage(reply, offset));
      read += 1;
      return page;
    });
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
  });

  it('has the same record objects, and so their fingerprints', async () => {
    const { client } = integration(rowsReadOnce());
    const [first, second] = [await client.list(), await client.list()];
    expect(first.assessments.map(({ id }) => id)).not.toEqual(
      second.assessments.map(({ id }) => id),
    );
    expect(second.assessments).toHaveLength(30);
    expect(second.assessments.every((one) => first.assessments.includes(one))).toBe(true);
  });

  it('is parsed as a whole if it shows a record twice', async () => {
    const remembered = rowsReadOnce();
    const row = JSON.stringify(assessment({ id: 7 }));
    const reply = (rows: readonly string[]) => ({
      status: 200,
      headers: {},
      body: Buffer.from(`{"data":[${rows.join(',')}],"meta":{"count":1,"page":10,"offset":0}}`),
    });
    remembered(reply([row]), 0);
    const page = remembered(reply([row, row]), 0);
    expect(page).toEqual(parsePage(reply([row, row]), 0));
    expect(page.assessments).toHaveLength(1);
    expect(page.quarantined).toHaveLength(1);
  });

  it('is refused if it is the page of another offset', async () => {
    const remembered = rowsReadOnce();
    let wrong = 0;
    const { client } = integration((reply, offset) => remembered(reply, offset + wrong));
    await client.list();
    wrong = 1;
    await expect(client.list()).rejects.toThrow(
      expect.objectContaining({ code: 'unexpected-response' }),
    );
  });
});
