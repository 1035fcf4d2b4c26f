import { filledIn, runIn } from './command-form.ts';
import type { Door, LocalDoor } from './door.ts';
import { askedPath, page } from './layout.ts';
import type { Hono } from './library.ts';
import { type LocalPage, mailPage, payloadPage, payloadsPage } from './pages/local.ts';
import { provokePage } from './pages/provoke.ts';

const pages: readonly LocalPage[] = [mailPage, payloadsPage, payloadPage, provokePage];
/** Ids of sent forms that are remembered: a form that is sent twice counts once. */
const formsKept = 1_000;

interface LocalParts {
  readonly door: Door;
  readonly local: LocalDoor;
  readonly root: string;
}

/** Adds the pages that only `npm start` has. */
export function addLocalPages(console: Hono, { door, local, root }: LocalParts): void {
  for (const { path, under, title, content } of pages)
    console.get(path, async (c) => {
      const given = { ...c.req.query(), ...c.req.param() };
      const integrations = await door.integrations();
      const about = { door, integrations, at: under, root, path: askedPath(c.req.url) };
      const shown = await content({ door, local, given });
      return c.html(page({ ...about, title: title(given), content: shown }));
    });

  const sent = new Set<string>();
  console.post('provoke/:integration/:name', async (c) => {
    const { integration, name } = c.req.param();
    const filled = await filledIn(c);
    const run = runIn(filled);
    if (local.provoking && !sent.has(run)) {
      sent.add(run);
      const [oldest] = sent;
      if (sent.size > formsKept && oldest !== undefined) sent.delete(oldest);
      await local.provoking.provoke(integration, name, filled['wanted']);
    }
    return c.redirect(`${root}provoke`, 303);
  });
}
