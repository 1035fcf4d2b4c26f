import { Temporal } from 'temporal-polyfill';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formFilled } from '../../console/forms.ts';
import { systemClock } from '../../lambda/clock.ts';
import { noticed } from '../../lambda/condition-table.ts';
import { Seen } from '../../local/seen.ts';
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

const page = 'i/district-a/notices';

describe('the page of notices', () => {
  it('says that none is open, and that there was no self-check', async () => {
    const { text } = await visitor.opens(page);
    expect(text).toContain('No notice is open.');
    expect(text).toContain('None yet.');
  });

  it('has the words of a condition, its number, and whether it was told', async () => {
    for (const certified_on of ['2019-05-06', '2019-05-07', '2019-05-08'])
      stage.sandbox.world.add({ organization_id: stage.filtered, certified_on });
    await stage.completedTick();
    const { text } = await visitor.opens(page);
    const { title, happened, impact, counts, toDo } = noticed.held;
    for (const words of [title, `${happened} ${impact}`, toDo]) expect(text).toContain(words);
    expect(text).toContain(`<dt>${counts}</dt><dd>3</dd>`);
    expect(text).toMatch(/told to operations<\/dt><dd>\d{4}-/);
    expect(text).toContain('<a href="i/district-a/held">holds</a>');
    expect(text).toContain(`holds --stack ${duty.stack} --integration district-a`);
  });

  it('leads to the form of its command, filled in', async () => {
    await stage.conditionLasts('check-failed');
    const { text } = await visitor.opens(page);
    expect(text).toContain('href="i/district-a/commands/check?note=yes"');
    const form = await visitor.opens('i/district-a/commands/check?note=yes');
    expect(form.text).toMatch(/name="note" value="yes" checked/);
  });

  it('has the failures of the last self-check, and leads to another one', async () => {
    const endpoint = 'office@district-a.example';
    const gone = { topic: 'alerts', protocol: 'email', endpoint, name: 'email' };
    await stage.operate.invoke({ command: 'check', note: true, subscriptions: [gone] });
    const { text } = await visitor.opens(page);
    expect(text).toContain('<span class="bad">1 failed</span>');
    expect(text).toContain('alerts, email: gone');
    expect(text).toContain('href="i/district-a/commands/check"');
    await duty.run('check --note');
    expect((await visitor.opens(page)).text).toContain('<span class="good">passed</span>');
  });

  it('has the notices sent so far, which npm start knows', async () => {
    const local = new Seen({ clock: systemClock, isReal: false });
    local.notice({ subject: 'district-a: a flood of changes is held', text: 'So <much> at once' });
    local.notice({ subject: 'district-b: paused', text: 'elsewhere' });
    await using beside = await Visitor.at(duty, local);
    const { text } = await beside.opens(page);
    expect(text).toContain('<h3>district-a: a flood of changes is held</h3>');
    expect(text).toContain('<pre>So &lt;much&gt; at once</pre>');
    expect(text).not.toContain('elsewhere');
    expect((await visitor.opens(page)).text).not.toContain('Notices that operations got');
  });

  it('has a reason that causes no notice', async () => {
    await stage.lastTickWas(Temporal.Now.instant().subtract({ hours: 1 }));
    const { text } = await visitor.opens(page);
    expect(text).toContain('not up to date: ticks do not come to their end');
  });
});

it('each command named in advice has a form with exactly its meaning', () => {
  const named = Object.values(noticed).flatMap(({ command }) =>
    command && 'ops' in command ? [command.ops] : [],
  );
  expect(named).not.toEqual([]);
  expect(formFilled('holds --undeliverable')).toEqual({
    path: 'holds',
    fields: { undeliverable: 'yes' },
  });
  expect(formFilled('credentials set')).toEqual({ path: 'credentials-set', fields: {} });
  for (const line of named) {
    const { path, fields } = formFilled(line);
    const options = line.split(' ').filter((word) => word.startsWith('--'));
    expect(line.startsWith(path.replaceAll('-', ' '))).toBe(true);
    expect(Object.keys(fields)).toHaveLength(options.length);
  }
});
