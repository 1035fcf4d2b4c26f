import * as z from 'zod';
import { parseExactly } from '../../lambda/json-text.ts';
import { NotFoundError } from '../../ops/errors.ts';
import { amount } from '../../ops/render/text.ts';
import { moment } from '../../ops/render/time.ts';
import type { DeliveredEvent, Door, LocalDoor } from '../door.ts';
import { facts, type Html, live, table } from '../html.ts';
import { pathOf } from '../layout.ts';
import { html } from '../library.ts';
import { viewOf } from '../view.ts';

export interface AskedLocally {
  readonly door: Door;
  readonly local: LocalDoor;
  readonly given: Readonly<Record<string, string>>;
}

/** A page about the instance of `npm start` as a whole. */
export interface LocalPage {
  readonly path: string;
  /** The entry of the navigation that it belongs to. */
  readonly under: string;
  title(given: AskedLocally['given']): string;
  content(asked: AskedLocally): Promise<Html> | Html;
}

const notKept = html`<p>The partner is a real one. Events and mails name people, so this page keeps none of them; the terminal has shown them.</p>`;

/** The mails that people get, the newest first. */
export const mailPage: LocalPage = {
  path: 'mail',
  under: 'mail',
  title: () => 'Mail',
  content({ door, local }) {
    if (local.isReal) return notKept;
    const view = viewOf(door);
    const mails = local.mails.map(
      ({ subject, text, receivedAt }) => html`<article class="panel">
<h2>${subject}</h2><p class="faint">${moment(receivedAt, view)}</p><pre>${text}</pre></article>`,
    );
    return html`<p>Each digest as e-mail subscribers of the alerts topic get it. The last hundred are shown, from memory only.</p>
${live('mails', mails.length === 0 ? html`<p>No mail has been sent yet.</p>` : html`${mails}`)}`;
  },
};

export const payloadPath = (id: string): string =>
  `local/events/${id.split('/').map(encodeURIComponent).join('/')}`;

/** The part of an event that the list shows. */
const gist = z.object({ type: z.string() });

/** The events that subscribers got, the newest first. */
export const payloadsPage: LocalPage = {
  path: 'local/events',
  under: 'local/events',
  title: () => 'Payloads',
  content({ door, local }) {
    if (local.isReal) return notKept;
    const view = viewOf(door);
    const rows = local.events.map(({ id, body, receivedAt, by }) => [
      moment(receivedAt, view),
      gist.parse(JSON.parse(body)).type,
      html`<a href="${payloadPath(id)}">${id}</a>`,
      by.join(', '),
    ]);
    const columns = ['received', 'type', 'event', 'got by'].map((title) => ({ title }));
    return html`<p>The last 500 events as subscribers got them, in memory only.</p>
${live('payloads', table(`${amount(rows.length)} events`, columns, rows))}`;
  },
};

/** One event as subscribers got it, with the subscriptions whose filter let it through. */
export const payloadPage: LocalPage = {
  path: 'local/events/:integration/:subject/:revision',
  under: 'local/events',
  title: (given) => idIn(given),
  content({ door, local, given }) {
    if (local.isReal) return notKept;
    const id = idIn(given);
    const event = local.events.find((one) => one.id === id);
    if (event === undefined)
      throw new NotFoundError(
        `The event ${id} is not among the last that subscribers got.`,
        'The page of its certification says whether there is such an event.',
      );
    return html`${live('payload', shown(event, door))}
<p><a href="${pathOf(given['integration'] ?? '', `certifications/${given['subject']}`)}">The life of this certification</a></p>`;
  },
};

function shown({ body, receivedAt, by }: DeliveredEvent, door: Door): Html {
  return html`${facts([
    ['received', moment(receivedAt, viewOf(door))],
    ['got by', by.join(', ')],
  ])}<pre>${JSON.stringify(parseExactly(body), null, 2)}</pre>`;
}

const idIn = ({ integration, subject, revision }: AskedLocally['given']) =>
  [integration, subject, revision].join('/');
