import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Integration } from '../scaffold/integration.ts';
import { assessment } from '../support/assessments.ts';
import { eventful, hostile, seenOf } from './eventful.ts';
import { IntegrationDoor } from './integration-door.ts';
import { Visitor } from './visitor.ts';

let story: Integration;
let door: IntegrationDoor;
let visitor: Visitor;
beforeAll(async () => {
  story = await eventful();
  door = new IntegrationDoor(story, seenOf(story));
  visitor = await Visitor.before(door);
});
afterAll(() => visitor[Symbol.asyncDispose]());

const opens = (page: string, at = visitor) => at.opens(`i/${story.name}/${page}`);

const idsOn = (text: string) =>
  [...text.matchAll(/certifications\/(\d+)"/g)].map(([, id]) => Number(id));

/** The main part of a page, each element in its own line, without the ids that differ with each run. */
const outline = (text: string) =>
  text
    .replace(/.*<main[^>]*>\n|<\/main>.*/gs, '')
    .replaceAll(/<\/?(thead|tbody)>|<caption>.*?<\/caption>\n?/g, '')
    .replaceAll(/\n?<(tr|p|li|dt|h\d|section|form|label|path|button|option|input|ul)\b/g, '\n<$1')
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, '<run>')
    .replaceAll(story.name, 'district-a');

it.each([
  ['now', 'now'],
  ['events', 'events'],
  ['proof', 'proof?from=2026-11-17&to=2026-11-18'],
  ['held', 'held?year=2026'],
  ['notices', 'notices'],
  ['certification', 'certifications/2'],
  ['command', 'commands/release?year=2026'],
  ['credentials', 'commands/credentials-set'],
  ['provoke', '../../provoke'],
  ['mail', '../../mail'],
  ['payloads', '../../local/events'],
  ['payload', '../../local/events/NAME/2/1'],
])('the page %s of an eventful integration at npm start is as approved', async (name, path) => {
  const { status, text } = await opens(path.replace('NAME', story.name));
  expect(status).toBe(200);
  expect(text).not.toContain(hostile);
  await expect(outline(text)).toMatchFileSnapshot(`approved/${name}.txt`);
});

it.each([
  ['events?type=created', [2, 3, 11, 12, 13]],
  ['events?type=created&organization=8', [13]],
  ['events?delivery=held', [11, 12, 13]],
  ['events?late=yes', [12]],
  ['held?organization=8', [13]],
  ['held?year=2025', [12]],
])('the page %s has exactly the requested ones', async (path, ids) => {
  const { text } = await opens(path);
  expect([...new Set(idsOn(text))].sort((a, b) => a - b)).toEqual(ids);
});

it.each<[path: string, why: string, status?: number]>([
  ['proof?from=2019-05-07&to=2019-05-05', '“from” 2019-05-07 is after “to” 2019-05-05.'],
  ['proof?from=2019-05-07', 'The days are missing.'],
  ['proof?from=yesterday&to=2019-05-05', 'cannot be yesterday.'],
  ['proof?from=1900-01-01&to=2019-05-05', 'A certificate covers 30 years at most.'],
  ['proof?until=soon', 'There is no year soon.'],
  ['held?year=soon', 'year cannot be soon.'],
  ['events?organization=all', 'whole numbers from 1'],
  ['certifications', 'No assessment is named'],
  ['certifications?id=', 'No assessment is named'],
  ['certifications?id=soon', 'id cannot be'],
  ['certifications/0', 'id cannot be'],
  ['nowhere', 'There is no such page.', 404],
  ['commands/watch', 'There is no such command.', 404],
  ['runs/unknown', 'does not remember that command', 404],
  ['../nobody/now', 'watches no integration nobody', 404],
])('the page %s names the mistake', async (path, why, expected = 400) => {
  const { status, text } = await opens(path);
  expect({ status, text }).toEqual({ status: expected, text: expect.stringContaining(why) });
});

it.each([
  ['held', 'Release: all events', 'release'],
  ['held', 'As digest: all events', 'release --digest'],
  ['held', 'Release: certified in 2025', 'release --year=2025'],
  ['held?year=2026', 'Discard: organization 8', 'discard --organization=8 --year=2026'],
  ['held', 'Try again: all events', 'release --undeliverable'],
  ['held', 'Discard: assessment 3', 'discard --id=3 --undeliverable'],
  ['certifications/11', 'Release: assessment 11', 'release --id=11'],
  [
    'proof?from=2026-11-17&to=2026-11-18',
    'Read these days again now',
    'prove --from=2026-11-17 --to=2026-11-18 --now',
  ],
])('on the page %s, the button "%s" gives the command %s', async (path, name, line) => {
  await visitor.presses(`i/${story.name}/${path}`, name);
  expect(door.given.at(-1)?.toSorted()).toEqual(line.split(' ').toSorted());
});

it.each([
  [
    'prove',
    { from: '2026-11-17', to: '2026-11-18' },
    ['prove', '--from=2026-11-17', '--to=2026-11-18'],
  ],
  ['pause', { reason: '--stack=other --yes' }, ['pause', '--reason=--stack=other --yes']],
  ['explain', { id: '--help' }, ['explain', '--', '--help']],
])(
  'the form of %s takes typed text as a value, and never as an option',
  async (command, typed, argv) => {
    await visitor.sends(`i/${story.name}/commands/${command}`, { ...typed });
    expect(door.given.at(-1)).toEqual(argv);
  },
);

it.each([
  ['certifications?id=+2', 'withdrawn: two looks have lacked it'],
  [
    'events?type=created&late=yes',
    '/events?type=created&amp;late=yes#content">Skip to the content',
  ],
  ['proof?until=1980', 'Proof of 1980'],
  ['proof?until=1980', 'proof?until=1979">Years before 1980</a>'],
  ['proof?until=1980', 'proof">The latest years</a>'],
])('the page %s has: %s', async (path, told) => {
  expect((await opens(path)).text).toContain(told);
});

describe('the page of a certification', () => {
  it('asks the partner once for each time that it is opened, and never by itself', async () => {
    const asked = () => story.requests.filter((request) => request === 'get 3').length;
    const before = asked();
    const { text } = await opens('certifications/3');
    expect(asked()).toBe(before + 1);
    // A page with such a part is fetched again by itself.
    expect(text).not.toContain('data-live');
  });

  it('says why an unknown one was not announced, and the obstacles', async () => {
    const other = new Integration();
    await other.baseline();
    other.add(assessment({ id: 5 }));
    await using beside = await Visitor.before(new IntegrationDoor(other));
    const page = async (id: number) =>
      (await beside.opens(`i/${other.name}/certifications/${id}`)).text;
    expect(await page(5)).toContain('the partner has it, and no tick has found it yet');
    expect(await page(999)).toContain('unknown here and to the partner');
    await other.operate({ command: 'pause', by: 'arn:aws:iam::1:user/ann', reason: 'maintenance' });
    expect(await page(5)).toMatch(/<dt>in the way<\/dt><dd>.*paused since .*: maintenance/);
    const { text } = await beside.opens(`i/${other.name}/now`);
    expect(text).toContain('<dt>next tick</dt><dd>none, it is paused</dd>');
  });
});

it('the pages of a quiet integration say that there is nothing, and why it is not up to date', async () => {
  const quiet = new Integration();
  await quiet.baseline();
  await using beside = await Visitor.before(new IntegrationDoor(quiet));
  const told = async (page: string) => (await beside.opens(`i/${quiet.name}/${page}`)).text;
  expect(await told('events')).toContain('No event of these days matches.');
  expect(await told('held')).toMatch(/Nothing is held\..*Nothing is undeliverable\./s);
  expect(await told('notices')).toContain('No notice is open.');
  expect(await told('notices')).not.toContain('Notices that operations got');
  expect(await told('commands')).toContain('No command has changed anything yet.');
  quiet.clock.advance({ hours: 1 });
  expect(await told('notices')).toContain('not up to date: ticks do not come to their end');
  expect(await told('now')).toContain('<dt>next tick</dt><dd>now</dd>');
});

it('older events are on further pages, each once', async () => {
  const large = new Integration();
  await large.baseline();
  const ids = Array.from({ length: 103 }, (_, n) => n + 1);
  large.settings = { holdAbove: 1_000 };
  large.add(...ids.map((id) => assessment({ id })));
  expect(await large.minute()).toMatchObject({ created: 103 });
  await using beside = await Visitor.before(new IntegrationDoor(large));
  const first = (await beside.opens(`i/${large.name}/events?type=created`)).text;
  const [, older = ''] = /href="([^"]+)">Older events/.exec(first) ?? [];
  expect(older).toMatch(/type=created&amp;from=\d{4}-\d\d-\d\d&amp;after=/);
  const second = (await beside.opens(older.replaceAll('&amp;', '&'))).text;
  expect(second).not.toContain('Older events');
  expect([...idsOn(first), ...idsOn(second)].sort((a, b) => a - b)).toEqual(ids);
});

it('the page Held says that one answer is incomplete, and counts all on request', async () => {
  const partly = new IntegrationDoor(story);
  const ask = partly.ask.bind(partly);
  Object.assign(partly, {
    ask: async (...asked: Parameters<typeof ask>) => ({
      ...(await ask(...asked)),
      next: { command: 'holds', after: 'held/2026-11-25T00:00:00Z/11' },
    }),
  });
  await using beside = await Visitor.before(partly);
  const { text } = await opens('held?year=1999', beside);
  expect(text).toContain('these are the first. A decision covers all of them.');
  expect(text).not.toContain('none of them matches');
  await beside.presses(`i/${story.name}/held?year=1999`, 'Count all');
  expect(partly.given).toEqual([['holds', '--year=1999']]);
  expect((await opens('held?year=1999')).text).toContain('and none of them matches.');
});

it('the certificate is a file of CSV', async () => {
  const { headers, text } = await opens('proof.csv?from=2026-11-17&to=2026-11-18');
  expect(text).toMatch(/^day,.*\n2026-11-17,.*\n2026-11-18,.*\n$/);
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  // A byte order mark, which `text` leaves out.
  expect(headers.get('content-length')).toBe(String(text.length + 3));
  expect(headers.get('content-disposition')).toBe(
    `attachment; filename="${story.name}-2026-11-17-2026-11-18.csv"`,
  );
});
