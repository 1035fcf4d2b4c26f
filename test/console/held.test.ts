import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Rule } from '../../local/aws/gate.ts';
import { Duty, raisedEach } from '../ops/duty.ts';
import { queues } from '../scaffold/deployment.ts';
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

const page = 'i/district-a/held';
const runIn = (text: string) => /action="(i\/district-a\/runs\/[^"]+)"/.exec(text)?.[1] ?? '';
const other = () =>
  [...stage.sandbox.world.scope.organizationIds].find((id) => id !== stage.filtered) ?? 0;
const refused = {
  status: 200,
  type: 'text/xml',
  body: `<PublishBatchResponse><PublishBatchResult><Successful/><Failed><member><Id>0</Id>
    <Code>InvalidParameter</Code><SenderFault>true</SenderFault></member></Failed>
    </PublishBatchResult></PublishBatchResponse>`,
};

/** More certifications at once than the limit: two of 2019 and one of 2020, of two organizations. */
async function flood(): Promise<number[]> {
  const { world } = stage.sandbox;
  const added = [
    world.add({ organization_id: stage.filtered, certified_on: '2019-05-06' }),
    world.add({ organization_id: stage.filtered, certified_on: '2020-05-07' }),
    world.add({ organization_id: other(), certified_on: '2019-05-08' }),
  ];
  expect(await stage.completedTick()).toMatchObject({ held: 3 });
  return added.map(({ id }) => id);
}

const asked = z.looseObject({ command: z.string(), after: z.string().optional() });
const answered = z.looseObject({ result: z.looseObject({}) });

/** The first answer has one certification, the next one the others, as with more than ten thousand. */
const inTwoParts =
  ([first = 0, ...others]: readonly number[]): Rule =>
  async ({ body, forward }) => {
    const { after, ...command } = asked.parse(JSON.parse(body));
    if (command.command !== 'holds') return forward();
    const ids = after === undefined ? [first] : others;
    const reply = await forward(JSON.stringify({ ...command, ids }));
    // A busy function answers the next request.
    if (after !== undefined || reply.status !== 200) return reply;
    const { result, ...answer } = answered.parse(JSON.parse(reply.body));
    // The command continues after this place, which only this gate reads.
    const next = { ...command, after: `held/2026-11-25T00:00:00Z/${first}` };
    return { ...reply, body: JSON.stringify({ ...answer, result: { ...result, next } }) };
  };

/** Presses a button, and confirms the question. */
async function decides(name: string, question: RegExp, on = page): Promise<string> {
  const run = runIn((await visitor.presses(on, name)).text);
  await visitor.sees(run, question);
  await visitor.sends(run, { answer: 'yes' });
  return visitor.sees(run, /It has ended/);
}

describe('the page of held events', () => {
  it('says that none is held', async () => {
    const { text } = await visitor.opens(page);
    expect(text).toContain('Nothing is held.');
    expect(text).toContain('Nothing is undeliverable.');
    expect(text).not.toContain('<button aria-label');
  });

  it('counts them by organization with its name, by year and by type, and lists them', async () => {
    const [id = 0] = await flood();
    const { text } = await visitor.opens(page);
    expect(text).toContain('<strong>3 events held</strong>, of 3 assessments: 3 created');
    const name = stage.sandbox.world.organizations.find(({ id }) => id === stage.filtered)?.name;
    expect(text).toContain(`organization=${stage.filtered}">${stage.filtered}</a> ${name}`);
    expect(text).toMatch(/year=2019">2019<\/a><\/td><td class="number">2</);
    expect(text).toMatch(/type=created">created<\/a><\/td><td class="number">3</);
    expect(text).toContain(`href="i/district-a/certifications/${id}"`);
  });

  it('shows only the requested ones, and says that others wait if none matches', async () => {
    await flood();
    const { text } = await visitor.opens(`${page}?year=2019&organization=${other()}`);
    expect(text).toContain('1 event held');
    const none = await visitor.opens(`${page}?year=1999`);
    expect(none.text).toContain('3 events held, and none of them matches.');
  });

  it('says that one answer is incomplete, counts all on request, and decides on all', async () => {
    const ids = await flood();
    duty.lambda.always(inTwoParts(ids));
    const { text } = await visitor.opens(page);
    expect(text).toContain('<strong>1 event held</strong>');
    expect(text).toContain('these are the first. A decision covers all of them.');
    const { path } = await visitor.presses(page, 'Count all');
    expect(await visitor.sees(path, /It has ended\./)).toContain('3 events held');
    await decides('Discard: all events', /Tell nobody, ever, of 3 events\?/);
    duty.lambda.reset();
    expect((await visitor.opens(page)).text).toContain('Nothing is held.');
  });

  it('does not say of the first part alone that nothing matches', async () => {
    duty.lambda.always(inTwoParts(await flood()));
    const { text } = await visitor.opens(`${page}?year=1999`);
    expect(text).toContain('these are the first');
    expect(text).not.toContain('none of them matches');
    const { path } = await visitor.presses(`${page}?year=1999`, 'Count all');
    expect(await visitor.sees(path, /It has ended\./)).toContain('--year=1999');
  });

  it('names the mistake in a filter', async () => {
    const { status, text } = await visitor.opens(`${page}?year=soon`);
    expect(status).toBe(400);
    expect(text).toContain('--year &lt;years&gt; cannot be soon.');
    expect(text).toContain('Allowed: years, such as 2026');
  });

  it('releases exactly the events of a row', async () => {
    await flood();
    await decides('Release: certified in 2019', /Release 2 events\?/);
    await stage.completedTick();
    const events = await stage.events(queues.everything);
    expect(events.map(({ data }) => data.assessment.certified_on).sort()).toEqual([
      '2019-05-06',
      '2019-05-08',
    ]);
    expect((await visitor.opens(page)).text).toContain('1 event held');
  });

  it('discards one of a filtered list, and people hear only of the others', async () => {
    await flood();
    const of2019 = `${page}?year=2019`;
    await decides(`Discard: organization ${other()}`, /Tell nobody, ever, of 1 event\?/, of2019);
    await decides('As digest: all events', /Tell people, and people only, of 2 events\?/);
    await stage.completedTick();
    expect(await stage.events(queues.everything)).toEqual([]);
    expect((await visitor.opens(page)).text).toContain('Nothing is held.');
  });

  it('shows an event that SNS has refused for good with its code, and retries it', async () => {
    // A topic that has never accepted anything is not believed.
    stage.sandbox.world.add({ organization_id: stage.filtered, certified_on: '2019-05-05' });
    await stage.completedTick();
    stage.sns.once('PublishBatch', async () => refused);
    stage.sandbox.world.add({ organization_id: stage.filtered, certified_on: '2019-05-06' });
    expect(await stage.completedTick()).toMatchObject({ undeliverable: 1 });
    const { text } = await visitor.opens(page);
    expect(text).toContain('Nothing is held.');
    expect(text).toContain('1 event undeliverable');
    expect(text).toContain('<td class="">InvalidParameter</td>');
    await decides('Try again: all events', /Try again 1 event\?/);
    await stage.completedTick();
    expect(await stage.events(queues.everything)).toHaveLength(2);
  });
});
