import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Duty, raisedEach } from '../ops/duty.ts';
import { Visitor } from './visitor.ts';

const duty = new Duty();
const { stage } = duty;
beforeAll(() => duty.build({ integration: { holdAbove: 2 } }));
afterAll(() => duty.dismantle());
/** The id of a record on a day that is proven from the start. */
let id = 0;
raisedEach(duty, async () => {
  ({ id } = stage.sandbox.world.add({ certified_on: '2019-05-06' }));
  await stage.completedTick();
});
let visitor: Visitor;
beforeEach(async () => {
  visitor = await Visitor.at(duty);
});
afterEach(() => visitor[Symbol.asyncDispose]());

const page = 'i/district-a/proof';
const days = 'from=2019-05-05&to=2019-05-07';
/** The command line's text, escaped as on a page. */
const escaped = (text: string) => text.replaceAll("'", '&#39;');

describe('the page of proof', () => {
  it('shows each day of all years with certifications, and the proven days by month', async () => {
    const { text } = await visitor.opens(page);
    const first = Number(/Proof of each day, (\d+) to/.exec(text)?.[1]);
    expect(first).toBeLessThanOrEqual(2019);
    expect(text).toContain(`href="${page}?until=${first - 1}"`);
    expect(text).toContain(
      `<a href="${page}?from=2019-05-01&amp;to=2019-05-31"><span class="good">31/31</span></a>`,
    );
    expect(text).toMatch(/<path class="proven" d="M/);
    expect(text).toMatch(/complete so far: [\d,]+ of [\d,]+ days proven/);
  });

  it('continues with earlier years', async () => {
    const { text } = await visitor.opens(`${page}?until=1980`);
    expect(text).toContain('Proof of 1980');
    expect(text).toContain(`<a href="${page}">The latest years</a>`);
    expect(text).toContain(`href="${page}?until=1979"`);
  });

  it('has the certificate of the chosen days, in the words of prove', async () => {
    const { text } = await visitor.opens(`${page}?${days}`);
    const { stdout } = await duty.run('prove --from 2019-05-05 --to 2019-05-07');
    const [gist = ''] = /^complete.*$/m.exec(stdout) ?? [];
    expect(text).toContain(`<p class="verdict good">${escaped(gist)}</p>`);
    const [row = ''] = /^2019-05-06.*$/m.exec(stdout) ?? [];
    for (const cell of row.split(/ {2,}/)) expect(text).toContain(cell);
    expect(text).toContain('name="from" value="2019-05-05"');
  });

  it('offers the CSV of prove for download', async () => {
    const { text } = await visitor.opens(`${page}?${days}`);
    expect(text).toContain(`href="${page}.csv?from=2019-05-05&amp;to=2019-05-07"`);
    const file = await visitor.opens(`${page}.csv?${days}`);
    const { stdout } = await duty.run('prove --from 2019-05-05 --to 2019-05-07 --csv');
    expect(file.text).toBe(stdout);
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(file.headers.get('content-disposition')).toBe(
      'attachment; filename="district-a-2019-05-05-2019-05-07.csv"',
    );
  });

  it('reads the days again, and shows why one is unproven', async () => {
    stage.sandbox.world.spoil(id, { set: { certified_on: 5 } });
    const { path } = await visitor.presses(`${page}?${days}`, 'Read these days again now');
    const ended = await visitor.sees(path, /It has ended with 1/);
    expect(ended).toContain('prove --from=2019-05-05 --to=2019-05-07 --now');
    const { text } = await visitor.opens(`${page}?${days}`);
    expect(text).toMatch(/<title>2019-05-06: unproven: read without a proof/);
    expect(text).toMatch(/<span class="bad">\d+\/31<\/span>/);
    expect(text).toContain('<p class="verdict bad">not complete');
    expect((await duty.json('status --history')).result).toMatchObject([
      { history: [{ command: 'prove', settings: { from: '2019-05-05', now: true } }] },
    ]);
  });

  it('shows a day that no tick has read yet as due', async () => {
    stage.sandbox.world.add({ certified_on: '2019-05-20' });
    await stage.completedTick();
    const { text } = await visitor.opens(page);
    expect(text).toContain('<title>2019-05-20: unproven: never read</title>');
    expect(text).toContain('class="due"');
    expect(text).not.toContain('class="unproven" d="M3');
    expect(text).toMatch(/<span class="warning">\d+\/31<\/span>/);
  });

  it.each([
    ['from=2019-05-07&to=2019-05-05', '--from 2019-05-07 is after --to 2019-05-05.'],
    ['from=2019-05-07', 'The days are missing.'],
    ['from=yesterday&to=2019-05-05', 'cannot be yesterday.'],
    ['from=1900-01-01&to=2019-05-05', 'A certificate covers 30 years at most.'],
    ['until=soon', 'There is no year soon.'],
  ])('names the mistake in %s', async (given, why) => {
    const { status, text } = await visitor.opens(`${page}?${given}`);
    expect(status).toBe(400);
    expect(text).toContain(why);
  });
});
