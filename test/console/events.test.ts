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
    expect((await visitor.opens(page)).text).toContain('No event of these days is as asked for.');
  });

  it('has each with the way to the life of its certification, and only those asked for', async () => {
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

  it('says what is wrong with what was asked for', async () => {
    expect((await visitor.opens(`${page}?organization=all`)).text).toMatch(/whole numbers from 1/);
  });
});
