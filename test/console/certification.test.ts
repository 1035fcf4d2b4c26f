import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Duty, raisedEach } from '../ops/duty.ts';
import { Visitor } from './visitor.ts';

const duty = new Duty();
const { stage } = duty;
beforeAll(() => duty.build({ integration: { holdAbove: 2 } }));
afterAll(() => duty.dismantle());
raisedEach(duty, () => stage.completedTick());
let visitor: Visitor;
beforeEach(async () => {
  visitor = await Visitor.at(duty);
});
afterEach(() => visitor[Symbol.asyncDispose]());

const page = (id: number) => `i/district-a/certifications/${id}`;
const add = (more = {}) =>
  stage.sandbox.world.add({ organization_id: stage.filtered, certified_on: '2019-05-06', ...more });
/** The entries of the timeline, in order. */
const lived = (text: string) =>
  [...text.matchAll(/<li><p><strong>(.*?)<\/strong>/g)].map(([, what]) => what);

describe('the page of a certification', () => {
  it('has its life in order, with the changed fields and the fate of each event', async () => {
    const { world } = stage.sandbox;
    const { id } = add();
    await stage.completedTick();
    world.moveTo(id, '2020-03-04');
    await stage.completedTick();
    world.remove(id);
    await stage.completedTick();
    const { text, status } = await visitor.opens(page(id));
    expect(status).toBe(200);
    expect(text).toContain(`<h1>Assessment ${id}</h1>`);
    expect(text).toContain('announced: SNS has accepted its last event');
    const [seen, moved, withdrawn] = lived(text);
    expect(seen).toMatch(/^seen, long after/);
    expect([moved, withdrawn]).toEqual([
      'moved to another day',
      'withdrawn: two looks have lacked it',
    ]);
    expect(text).toMatch(/<dt>changed<\/dt><dd>certified_on\b/);
    expect(text).toContain(`<dd>district-a/${id}/2</dd>`);
    expect(text).toContain('has no such record (404)');
    expect(text).toContain('href="i/district-a/proof?from=2020-03-04&amp;to=2020-03-04"');
  });

  it('is found by its id, from any field for one', async () => {
    const { id } = add();
    await stage.completedTick();
    const { text } = await visitor.opens(`i/district-a/certifications?id=+${id}`);
    expect(text).toContain('announced: SNS has accepted its last event');
  });

  it('has the held events, and the decision about them', async () => {
    const [{ id }] = [add(), add(), add()];
    expect(await stage.completedTick()).toMatchObject({ held: 3 });
    const path = page(id);
    const { text } = await visitor.presses(path, `Release: assessment ${id}`);
    const run = /action="(i\/district-a\/runs\/[^"]+)"/.exec(text)?.[1] ?? '';
    await visitor.sees(run, /Release 1 event\?/);
    await visitor.sends(run, { answer: 'yes' });
    await visitor.sees(run, /It has ended/);
    await stage.completedTick();
    const after = (await visitor.opens(path)).text;
    expect(lived(after)).toContain('released by ops: revision 1');
    expect(after).not.toContain(`Release: assessment ${id}`);
  });

  it('says why an unknown one was not announced, and the obstacles', async () => {
    const { id } = add();
    await duty.run('pause --reason maintenance');
    const { text } = await visitor.opens(page(id));
    expect(text).toContain('not known here, and the partner could not be asked');
    expect(text).toMatch(/<dt>in the way<\/dt><dd>.*paused since .*: maintenance/);
    await duty.run('resume');
    expect((await visitor.opens(page(id))).text).toContain(
      'the partner has it, and no tick has found it yet',
    );
    expect((await visitor.opens(page(999_999))).text).toContain('unknown here and to the partner');
  });

  it('asks the partner once for each time that it is opened, and never by itself', async () => {
    const { id } = add();
    await stage.completedTick();
    const asked = () => stage.partner.calls.filter((call) => call.endsWith(`/${id}`)).length;
    const before = asked();
    const { text } = await visitor.opens(page(id));
    expect(asked()).toBe(before + 1);
    // A page with such a part is fetched again by itself.
    expect(text).not.toContain('data-live');
  });

  it.each(['certifications', 'certifications?id=', 'certifications?id=soon', 'certifications/0'])(
    'names the mistake in %s',
    async (path) => {
      const { status, text } = await visitor.opens(`i/district-a/${path}`);
      expect(status).toBe(400);
      expect(text).toMatch(/No assessment is named|id cannot be/);
    },
  );
});
