import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../lambda/clock.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import { Faults } from '../../local/provoking/faults.ts';
import { Provoker } from '../../local/provoking/provoker.ts';
import { Seen } from '../../local/seen.ts';
import { Visitor } from '../console/visitor.ts';
import { Duty } from '../ops/duty.ts';
import { integration, queues } from '../scaffold/deployment.ts';

/** Events of one assessment that repeat an earlier event under another id. */
function toldTwice(events: readonly CertificationEvent[]): readonly string[] {
  const all = [...new Map(events.map((event) => [event.id, event])).values()];
  all.sort((a, b) => Number(a.sequence) - Number(b.sequence));
  return all.flatMap(({ id, subject, type, data }, at) => {
    const before = all.slice(0, at).findLast((one) => one.subject === subject);
    const isSame =
      type === before?.type && isDeepStrictEqual(data.assessment, before.data.assessment);
    return isSame ? [id] : [];
  });
}

/** A deployment whose console can provoke failures, raised again for each test. */
const duty = new Duty();
const { stage } = duty;
let faults: Faults;
let provoker: Provoker;
let visitor: Visitor;
let told: readonly CertificationEvent[];

/** Runs one tick. @returns its result, and the new events of the subscriber to everything */
async function tick() {
  const result = await stage.tick();
  const outcome = result.outcome === 'returned' ? Object(result.payload).outcome : 'failed';
  const isExplained = provoker.ended(integration, outcome);
  const events = await stage.events(queues.everything);
  for (const event of events) provoker.hears(event);
  told = [...told, ...events];
  return { outcome, isExplained, events };
}

beforeAll(() => duty.build({ integration: { holdAbove: 50 } }));
afterAll(() => duty.dismantle());
beforeEach(async () => {
  await duty.raise();
  told = [];
  faults = new Faults();
  const open = await faults.open({ ...stage.aws.endpoints, kms: '' });
  // These are behind the deployment's gates, which the functions call.
  stage.dynamodb.target = open.dynamodb;
  stage.sns.target = open.sns;
  const { aws, sandbox, poll, operate } = stage;
  const clock = systemClock;
  const seen = new Seen({ clock, isReal: false });
  const changed = () => seen.changed();
  const parts = { aws, faults, clock, changed };
  provoker = new Provoker([{ integration, sandbox, poll, operate }], parts);
  seen.provoking = provoker;
  await tick();
  await tick();
  visitor = await Visitor.at(duty, seen);
});
afterEach(async () => {
  await visitor[Symbol.asyncDispose]();
  // A function that was misled by a provocation must not stay warm.
  await stage.poll.kill();
  await stage.operate.kill();
  await duty.strike();
  await faults[Symbol.asyncDispose]();
});

// This holds after each provocation.
afterEach(() => expect(toldTwice(told)).toEqual([]));

const provocation = (name: string) => `provoke/${integration}/${name}`;
const provoke = (name: string) => visitor.sends('provoke', {}, provocation(name));
const tally = () => provoker.tally(integration);

describe('a provocation', () => {
  const created = { type: 'certification.created' };
  it.each([
    [['certify'], 1, created],
    [['backdate'], 1, created],
    [['edit'], 1, { type: 'certification.updated', data: { changed: ['results'] } }],
    [['remove'], 2, { type: 'certification.withdrawn' }],
    [['lose-partner', 'certify'], 2, created],
    [['lose-ledger', 'certify'], 2, created],
    [['lose-sns'], 2, created],
  ])('%j: it is told within %i ticks, under one id', async (names, ticks, event) => {
    for (const name of names) await provoke(name);
    expect(await tally()).toMatchObject({ difference: 1 });
    const told = new Map<string, object>();
    for (let n = 0; n < ticks; n++) for (const one of (await tick()).events) told.set(one.id, one);
    expect([...told.values()]).toMatchObject([event]);
    const kind = event.type.replace('certification.', '');
    expect(await tally()).toMatchObject({ difference: 0, owed: 0, [kind]: 1 });
  });

  it('many: all are held, and none is announced', async () => {
    await provoke('many');
    for (let waiting = 1; waiting > 0; waiting = (await tally())?.difference ?? 0) await tick();
    expect(await tally()).toMatchObject({ held: 2_000, owed: 0, difference: 0 });
    expect((await visitor.opens('provoke')).text).toContain('2,000</a>');
    // A count with each tick would delay the function's other work.
    const { text } = await visitor.opens('i/district-a/held');
    expect(text).toContain('So many events are not counted anew automatically.');
    expect(text).not.toContain('data-live');
  }, 120_000);

  it('kill-publishing: the tick dies, and nothing is lost', async () => {
    await provoke('kill-publishing');
    const killed = await tick();
    expect(killed).toMatchObject({ outcome: 'failed', isExplained: true });
    expect(provoker.failedTicks).toBe(1);
    await stage.leaseRunsOut();
    const { events } = await tick();
    // SNS had accepted it: the event comes again under the same id.
    const ids = [...killed.events, ...events].map(({ id }) => id);
    expect({ count: ids.length, different: new Set(ids).size }).toEqual({ count: 2, different: 1 });
    expect(await tally()).toMatchObject({ difference: 0, owed: 0, created: 1 });
    expect((await tick()).isExplained).toBe(false);
  });

  it.each([
    ['refuse-sns', 'SNS refuses: on', { owed: 1, difference: 0 }],
    ['credentials', 'Refuse the credentials: on', { owed: 0, difference: 1 }],
  ])(
    '%s: nothing comes until it is ended, and then nothing is lost',
    async (name, notice, waiting) => {
      await provoke(name);
      await provoke('certify');
      expect(await tick()).toMatchObject({ isExplained: true, events: [] });
      expect(await tally()).toMatchObject(waiting);
      expect((await visitor.opens('provoke')).text).toContain(notice);
      await provoke(name);
      expect((await tick()).events).toHaveLength(1);
      expect(await tally()).toMatchObject({ difference: 0, owed: 0 });
    },
  );

  it('lasts until it is ended, also if another page has begun it meanwhile', async () => {
    const { text } = await visitor.opens('provoke');
    const [, ofTies = ''] = text.split(`action="${provocation('ties')}"`);
    const [form = ''] = ofTies.split('</form>');
    const fields = [...form.matchAll(/name="(\w+)" value="([^"]+)"/g)];
    const wanted = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
    await visitor.sends('provoke', { wanted: 'on' }, provocation('ties'));
    await visitor.sends('provoke', wanted, provocation('ties'));
    expect(stage.sandbox.switches.unstableTies).toBe(true);
    await visitor.sends('provoke', { wanted: 'off' }, provocation('ties'));
    expect(stage.sandbox.switches.unstableTies).toBe(false);
  });
});

describe('the pages that only the console of npm start has', () => {
  it('hold no personal data of a real partner, and say so', async () => {
    const real = new Seen({ clock: systemClock, isReal: true });
    real.event('demo-events', 'district-a/1/1', '{}');
    real.mail({ subject: 'somebody', text: '' });
    expect({ events: real.events, mails: real.mails }).toEqual({ events: [], mails: [] });
    await using other = await Visitor.at(duty, real);
    expect((await other.opens('mail')).text).toContain('this page keeps none of them');
    expect((await other.opens('provoke')).text).toContain('nothing can be provoked there');
  });
});
