import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Duty, raisedEach } from '../ops/duty.ts';
import { Visitor } from './visitor.ts';

const duty = new Duty();
const { stage } = duty;
beforeAll(() => duty.build());
afterAll(() => duty.dismantle());
raisedEach(duty, () => stage.completedTick());
let visitor: Visitor;
beforeEach(async () => {
  visitor = await Visitor.at(duty);
});
afterEach(() => visitor[Symbol.asyncDispose]());

const page = 'i/district-a/events';

describe('the page of events', () => {
  it('says that there are none', async () => {
    expect((await visitor.opens(page)).text).toContain('No event of these days matches.');
  });

  it("has each event with a link to its certification's life, and only the requested ones", async () => {
    const { id } = stage.sandbox.world.add({ organization_id: stage.filtered });
    await stage.completedTick();
    const link = `certifications/${id}"`;
    expect((await visitor.opens(page)).text).toContain(link);
    const { filtered } = stage;
    const same = await visitor.opens(`${page}?type=created&organization=${filtered}`);
    expect(same.text).toContain(link);
    expect((await visitor.opens(`${page}?type=withdrawn`)).text).not.toContain(link);
    expect((await visitor.opens(`${page}?delivery=held`)).text).not.toContain(link);
  });

  it('has older ones on further pages, each once', async () => {
    const ids = Array.from({ length: 103 }, () => stage.sandbox.world.add().id);
    expect(await stage.completedTick()).toMatchObject({ created: 103 });
    const idsOn = (text: string) =>
      [...text.matchAll(/certifications\/(\d+)"/g)].map(([, id]) => Number(id));
    const first = await visitor.opens(`${page}?type=created`);
    const [, older = ''] = /href="([^"]+)">Older events/.exec(first.text) ?? [];
    expect(older).toMatch(/type=created&amp;from=\d{4}-\d\d-\d\d&amp;after=/);
    const second = await visitor.opens(older.replaceAll('&amp;', '&'));
    expect(second.text).not.toContain('Older events');
    const all = [...idsOn(first.text), ...idsOn(second.text)];
    expect(all.toSorted((a, b) => a - b)).toEqual(ids.toSorted((a, b) => a - b));
  });

  it('has late ones only, on request', async () => {
    const late = stage.sandbox.world.add({ certified_on: '2019-05-06' });
    const fresh = stage.sandbox.world.add();
    await stage.completedTick();
    const { text } = await visitor.opens(`${page}?late=yes`);
    expect(text).toContain(`certifications/${late.id}"`);
    expect(text).toContain('created, late');
    expect(text).not.toContain(`certifications/${fresh.id}"`);
  });

  it('names the mistake in a filter', async () => {
    expect((await visitor.opens(`${page}?organization=all`)).text).toMatch(/whole numbers from 1/);
  });
});
