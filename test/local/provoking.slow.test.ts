import { describe, expect, it } from 'vitest';
import { systemClock } from '../../lambda/clock.ts';
import { Seen } from '../../local/seen.ts';
import { Visitor } from '../console/visitor.ts';
import { provokedEach } from './provoked.ts';

const provoked = provokedEach({ integration: { holdAbove: 50 } });
const { duty, stage, tick, tally, provoke, provocation } = provoked;

describe('a provocation', () => {
  it.each(['certify', 'backdate'])('%s: the event comes with the next tick', async (name) => {
    await provoke(name);
    expect(await tally()).toMatchObject({ difference: 1 });
    const { events } = await tick();
    expect(events).toMatchObject([{ type: 'certification.created' }]);
    expect(await tally()).toMatchObject({ difference: 0, created: 1 });
  });

  it('edit: the newest one is announced as changed', async () => {
    await provoke('edit');
    expect(await tally()).toMatchObject({ difference: 1 });
    expect((await tick()).events).toMatchObject([{ data: { changed: ['results'] } }]);
    expect(await tally()).toMatchObject({ difference: 0, updated: 1 });
  });

  it('remove: one is withdrawn after two looks', async () => {
    await provoke('remove');
    const looks = [await tick(), await tick()];
    expect(looks.flatMap(({ events }) => events)).toMatchObject([
      { type: 'certification.withdrawn' },
    ]);
    expect(await tally()).toMatchObject({ difference: 0, withdrawn: 1 });
  });

  it('many: all are held, and none is announced', async () => {
    await provoke('many');
    for (let waiting = 1; waiting > 0; waiting = (await tally())?.difference ?? 0) await tick();
    expect(await tally()).toMatchObject({ held: 2_000, owed: 0, difference: 0 });
    expect((await provoked.visitor.opens('provoke')).text).toContain('2,000</a>');
    // A count with each tick would delay the function's other work.
    const { text } = await provoked.visitor.opens('i/district-a/held');
    expect(text).toContain('So many events are not counted anew automatically.');
    expect(text).not.toContain('data-live');
  }, 120_000);

  it('kill-publishing: the tick dies, and nothing is lost', async () => {
    await provoke('kill-publishing');
    const killed = await tick();
    expect(killed).toMatchObject({ outcome: 'failed', isExplained: true });
    expect(provoked.failedTicks).toBe(1);
    await stage.leaseRunsOut();
    const { events } = await tick();
    // SNS had accepted it: the event comes again under the same id.
    const ids = [...killed.events, ...events].map(({ id }) => id);
    expect({ count: ids.length, different: new Set(ids).size }).toEqual({ count: 2, different: 1 });
    expect(await tally()).toMatchObject({ difference: 0, owed: 0, created: 1 });
    expect((await tick()).isExplained).toBe(false);
  });

  it('kill: the running tick dies at once, and nothing is lost', async () => {
    stage.sandbox.injectFaults({ kind: 'slow-headers', ms: 60_000 });
    await provoke('certify');
    const dying = tick();
    await expect.poll(() => stage.poll.isBusy).toBe(true);
    await provoke('kill');
    expect(await dying).toMatchObject({ outcome: 'failed', isExplained: true });
    stage.sandbox.clearFaults();
    expect((await tick()).events).toHaveLength(1);
    expect(await tally()).toMatchObject({ difference: 0 });
  });

  it.each(['lose-partner', 'lose-ledger'])('%s: the tick continues all the same', async (name) => {
    await provoke(name);
    await provoke('certify');
    await tick();
    await tick();
    expect(await tally()).toMatchObject({ difference: 0, owed: 0, created: 1 });
  });

  it('lose-sns: the event comes again under the same id, if at all', async () => {
    await provoke('lose-sns');
    const ids = [await tick(), await tick()].flatMap(({ events }) => events.map(({ id }) => id));
    expect(new Set(ids).size).toBe(1);
    expect(await tally()).toMatchObject({ difference: 0, owed: 0 });
  });

  it('refuse-sns: events are owed until it accepts again', async () => {
    await provoke('refuse-sns');
    await provoke('certify');
    expect((await tick()).isExplained).toBe(true);
    expect(await tally()).toMatchObject({ difference: 0, owed: 1 });
    expect((await provoked.visitor.opens('provoke')).text).toContain('SNS refuses: on');
    await provoke('refuse-sns');
    expect((await tick()).events).toHaveLength(1);
    expect(await tally()).toMatchObject({ difference: 0, owed: 0 });
  });

  it('credentials: the partner refuses them until the new ones are stored', async () => {
    await provoke('credentials');
    await provoke('certify');
    expect(await tick()).toMatchObject({ outcome: 'failed', isExplained: true, events: [] });
    await provoke('credentials');
    expect((await tick()).events).toHaveLength(1);
    expect(await tally()).toMatchObject({ difference: 0 });
  });

  it('lasts until it is ended, also if another page has begun it meanwhile', async () => {
    const { text } = await provoked.visitor.opens('provoke');
    const [, ofTies = ''] = text.split(`action="${provocation('ties')}"`);
    const [form = ''] = ofTies.split('</form>');
    const fields = [...form.matchAll(/name="(\w+)" value="([^"]+)"/g)];
    const wanted = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
    await provoked.visitor.sends('provoke', { wanted: 'on' }, provocation('ties'));
    await provoked.visitor.sends('provoke', wanted, provocation('ties'));
    expect(stage.sandbox.switches.unstableTies).toBe(true);
    await provoked.visitor.sends('provoke', { wanted: 'off' }, provocation('ties'));
    expect(stage.sandbox.switches.unstableTies).toBe(false);
  });

  it('is refused from a form of another origin', async () => {
    const { visitor } = provoked;
    const made = { method: 'POST', headers: { origin: visitor.origin }, body: 'wanted=on' };
    expect((await visitor.raw(visitor.at(provocation('certify')), made)).status).toBe(400);
    expect(await tally()).toMatchObject({ difference: 0 });
  });
});

describe('the pages that only the console of npm start has', () => {
  const attack = '<img src=x onerror=alert(1)>';

  it('show foreign names as text, in Mail, in Payloads and in Provoke', async () => {
    stage.sandbox.world.add({ first_name: attack });
    const [event] = (await tick()).events;
    const { id = '' } = event ?? {};
    provoked.seen.event('demo-events', id, JSON.stringify(event));
    provoked.seen.event(attack, id, JSON.stringify(event));
    for (const text of await stage.mails()) provoked.seen.mail({ subject: attack, text });
    for (const page of ['mail', 'local/events', `local/events/${id}`, 'provoke']) {
      const { text, status } = await provoked.visitor.opens(page);
      expect({ page, status }).toEqual({ page, status: 200 });
      expect(text).not.toContain('<img');
    }
    expect((await provoked.visitor.opens(`local/events/${id}`)).text).toContain('&lt;img src=x');
    expect((await provoked.visitor.opens('mail')).text).toContain('&lt;img src=x');
  });

  it('name the subscriptions whose filters passed each event', async () => {
    await provoke('certify');
    const [event] = (await tick()).events;
    const { id = '' } = event ?? {};
    for (const by of ['sqs payroll', 'demo-events', 'sqs payroll'])
      provoked.seen.event(by, id, JSON.stringify(event));
    expect((await provoked.visitor.opens(`local/events/${id}`)).text).toContain(
      '<dd>demo-events, sqs payroll</dd>',
    );
    expect((await provoked.visitor.opens('local/events/district-a/1/1')).status).toBe(404);
    await provoke('certify');
    await tick();
    const { text } = await provoked.visitor.opens('i/district-a/events');
    expect(text).toContain(', got by demo-events, sqs payroll</td>');
    // No subscriber has the other event, so it has no payload.
    expect(text.match(/">payload<\/a>/g)).toHaveLength(1);
  });

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
