import type { Door } from './door.ts';
import type { Html } from './html.ts';
import { html } from './library.ts';

export interface Frame {
  readonly title: string;
  readonly door: Door;
  /** All of the deployment; none while it is not found yet. */
  readonly integrations: readonly string[];
  /** The integration of the page; absent: the page is about none. */
  readonly integration?: string;
  /** The page's entry in the navigation. */
  readonly at: string;
  /** `path`: the whole path of the page, with its query. `root`: the part that all pages share. */
  readonly path: string;
  readonly root: string;
  readonly content: Html;
}

/** Pages of each integration, in the order of the navigation. */
export const ofIntegration = [
  ['now', 'Now'],
  ['events', 'Events'],
  ['proof', 'Proof'],
  ['held', 'Held'],
  ['notices', 'Notices'],
  ['commands', 'Commands'],
] as const;

/** Pages of the instance of `npm start` as a whole. */
const ofLocal = [
  ['local/events', 'Payloads'],
  ['mail', 'Mail'],
  ['provoke', 'Provoke'],
] as const;

/** The whole page around its content. */
export function page(frame: Frame): Html {
  const { title, door, integrations, integration, at, path, root, content } = frame;
  const [shown = integration] = integration === undefined ? integrations : [integration];
  const links: (readonly [path: string, name: string, isHere: boolean])[] = [
    ...(shown === undefined
      ? []
      : ofIntegration.map(([path, name]) => [pathOf(shown, path), name, at === path] as const)),
    ...(door.local ? ofLocal.map(([path, name]) => [path, name, at === path] as const) : []),
  ];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<base href="${root}">
<title>${title} · ${door.title}</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="style.css">
<script src="live.js" defer></script>
</head>
<body>
<a class="skip" href="${path}#content">Skip to the content</a>
<header>
<p class="brand"><a href="${root}">${door.title}</a>${integrations.length === 1 ? html` <span class="faint">${integrations[0]}</span>` : ''}</p>
${integrations.length > 1 ? chooser(integrations, shown, ofIntegration.some(([path]) => path === at) ? at : 'now') : ''}
<nav aria-label="Pages"><ul>${links.map(([path, name, isHere]) => html`<li><a href="${path}"${isHere ? html` aria-current="page"` : ''}>${name}</a></li>`)}</ul></nav>
${shown === undefined ? '' : lookUp(shown)}
</header>
<main id="content" tabindex="-1">
<h1>${title}</h1>
${content}
</main>
</body>
</html>`;
}

function chooser(all: readonly string[], shown: string | undefined, at: string): Html {
  return html`<nav aria-label="Integrations"><ul>${all.map((name) => html`<li><a href="${pathOf(name, at)}"${name === shown ? html` aria-current="true"` : ''}>${name}</a></li>`)}</ul></nav>`;
}

function lookUp(integration: string): Html {
  return html`<form class="lookup" role="search" method="get" action="${pathOf(integration, 'certifications')}">
<label>Assessment <input name="id" inputmode="numeric" pattern="[0-9]+" required size="8"></label>
<button>Look up</button>
</form>`;
}

/** The path of a request, with its query. */
export function askedPath(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** The path of a page about an integration; relative to `root`, like all links. */
export const pathOf = (integration: string, path: string): string =>
  `i/${encodeURIComponent(integration)}/${path}`;
