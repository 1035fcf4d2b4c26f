import { NotifierError } from '../lambda/errors.ts';
import { NotFoundError, UnexpectedError, UsageError } from '../ops/errors.ts';
import { filledIn, runIn } from './command-form.ts';
import type { Door } from './door.ts';
import { argvOf, formOf, inputOf } from './forms.ts';
import type { Html } from './html.ts';
import { askedPath, page, pathOf } from './layout.ts';
import { type Context, Hono, html } from './library.ts';
import { addLocalPages } from './local-pages.ts';
import type { ConsolePage, Download, PageRequest } from './page.ts';
import { certificationPage, certificationSearchPage } from './pages/certification.ts';
import { commandListPage, commandPage } from './pages/commands.ts';
import { eventsPage } from './pages/events.ts';
import { heldPage } from './pages/held.ts';
import { noticesPage } from './pages/notices.ts';
import { nowPage } from './pages/now.ts';
import { proofCsv, proofPage } from './pages/proof.ts';
import { runPage } from './pages/run.ts';
import { Runs, type RunsOptions, runPath } from './runs.ts';
import { spoken } from './view.ts';

/** The pages of each integration. */
const pages: readonly ConsolePage[] = [
  nowPage,
  eventsPage,
  proofPage,
  heldPage,
  noticesPage,
  certificationPage,
  certificationSearchPage,
  commandListPage,
  commandPage,
  runPage,
];

const downloads: readonly Download[] = [proofCsv];

/**
 * All pages and forms of the console.
 *
 * @param root the part of every path that they share
 * @param changed called with the page of a command when that has progressed, and without a page when it has ended
 * @param ending aborts when the console ends, and all commands with it
 */
export function app(door: Door, root: string, { changed, ending }: RunsOptions): Hono {
  const whole = new Hono();
  const runs = new Runs(door, { changed, ending });
  const console = whole.basePath(root);

  const leadTo = (c: Context, path: string) => c.redirect(root + path, 303);
  console.get('/', async (c) => {
    const [first = ''] = await door.integrations();
    return leadTo(c, pathOf(first, 'now'));
  });
  const askedIn = (c: Context): PageRequest => ({
    door,
    integration: c.req.param('integration') ?? '',
    given: { ...c.req.query(), ...c.req.param() },
    runs,
  });
  for (const { path, under = path, title, content } of pages)
    console.get(`i/:integration/${path}`, async (c) => {
      const asked = askedIn(c);
      const { integration, given } = asked;
      const integrations = await known(door, integration);
      const about = {
        door,
        integrations,
        integration,
        at: under,
        root,
        path: askedPath(c.req.url),
      };
      return c.html(page({ ...about, title: title(given), content: await content(asked) }));
    });

  for (const { path, content } of downloads)
    console.get(`i/:integration/${path}`, async (c) => {
      const asked = askedIn(c);
      await known(door, asked.integration);
      const { name, type, text } = await content(asked);
      const disposition = `attachment; filename="${name}"`;
      return c.body(text, 200, { 'Content-Type': type, 'Content-Disposition': disposition });
    });

  console.post('i/:integration/commands/:command', async (c) => {
    const { integration, given } = askedIn(c);
    await known(door, integration);
    const form = formOf(given['command']);
    const filled = await filledIn(c);
    const { id } = runs.start(runIn(filled), {
      integration,
      argv: argvOf(form, filled),
      input: inputOf(form, filled),
    });
    return leadTo(c, runPath({ integration, id }));
  });
  console.post('i/:integration/runs/:id', async (c) => {
    const { integration, given } = askedIn(c);
    const { id = '' } = given;
    const { answer } = await filledIn(c);
    if (answer === 'stop') runs.stop(id);
    else runs.answer(id, answer === 'yes');
    return leadTo(c, runPath({ integration, id }));
  });
  if (door.local) addLocalPages(console, { door, local: door.local, root });
  const failed = (c: Context, thrown: unknown) => failure(c, door, root, thrown);
  console.get('*', (c) =>
    failed(c, new NotFoundError('There is no such page.', 'Choose one above.')),
  );
  whole.onError((error, c) => failed(c, error));
  return whole;
}

/** @throws NotFoundError */
async function known(door: Door, integration: string): Promise<readonly string[]> {
  const all = await door.integrations();
  if (all.includes(integration)) return all;
  throw new NotFoundError(
    `The deployment watches no integration ${integration}.`,
    `It watches ${all.join(', ')}.`,
  );
}

/** Every error becomes a page with its advice. An unknown error is a defect of this program. */
async function failure(c: Context, door: Door, root: string, thrown: unknown): Promise<Response> {
  const error = thrown instanceof NotifierError ? thrown : new UnexpectedError(thrown);
  const integrations = await door.integrations().catch(() => []);
  const status = statusOf(error);
  const about = { door, integrations, at: '', root, path: askedPath(c.req.url) };
  const title = 'This cannot be shown';
  return c.html(page({ ...about, title, content: problem(error) }), status);
}

function statusOf(error: NotifierError): 400 | 404 | 500 | 502 {
  if (error instanceof UsageError) return 400;
  if (error instanceof UnexpectedError) return 500;
  return error instanceof NotFoundError ? 404 : 502;
}

function problem({ message, whatToDo }: NotifierError): Html {
  return html`<div id="problem" data-live><p class="verdict bad">${spoken(message)}</p><p>${spoken(whatToDo)}</p></div>`;
}
