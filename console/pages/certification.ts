import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import type { ResultOf } from '../../lambda/commands/contract.ts';
import { explain } from '../../ops/commands/explain.ts';
import { OpsError, UsageError } from '../../ops/errors.ts';
import {
  decisionTold,
  deliveryTold,
  explainFacts,
  explainVerdict,
  foundBy,
  isSettled,
} from '../../ops/render/explain.ts';
import type { View } from '../../ops/render/layout.ts';
import type { AdvisedStatus } from '../../ops/render/status.ts';
import { count } from '../../ops/render/text.ts';
import { momentAndDistance } from '../../ops/render/time.ts';
import { addressOf, commandPath } from '../command-form.ts';
import { decisionForm } from '../decisions.ts';
import { settingsGiven } from '../forms.ts';
import { facts, type Html } from '../html.ts';
import { pathOf } from '../layout.ts';
import { html } from '../library.ts';
import type { ConsolePage, PageRequest } from '../page.ts';
import { cell, factsShown, viewOf } from '../view.ts';
import { payloadPath } from './local.ts';

type Explanation = ResultOf<'explain'>;
type Known = NonNullable<Explanation['known']>;
type Revision = Known['revisions'][number];

const settings = z.object({ id: z.int().optional() });

/**
 * The life of one assessment, or the reason why it was not announced. No part of the page is live, since each look asks
 * the partner.
 */
const life: Omit<ConsolePage, 'path'> = {
  under: '',
  title: ({ id = '' }) => `Assessment ${id}`.trim(),
  async content(asked) {
    const { door, integration, given } = asked;
    const { id } = settings.parse(settingsGiven(explain, given));
    if (id === undefined) throw new UsageError('No assessment is named.', 'Type its id above.');
    const view = viewOf(door);
    const explanation = await door.ask(integration, 'explain', { id });
    const status = isSettled(explanation) ? undefined : await statusIfTold(asked);
    const verdict = explainVerdict(explanation);
    const [tone, text] = typeof verdict === 'string' ? ['plain', verdict] : verdict;
    return html`<p class="verdict ${tone}">${text}</p>
${factsShown(integration, explainFacts(view, explanation, status))}
${toDo(explanation, integration)}
${explanation.known === undefined ? '' : lived(view, explanation.known)}
${received(door, `${integration}/${id}/`)}`;
  },
};

/** On `npm start`: its events as subscribers got them. */
function received({ local }: PageRequest['door'], prefix: string): Html {
  const ids = (local?.events ?? []).map(({ id }) => id).filter((id) => id.startsWith(prefix));
  if (ids.length === 0) return html``;
  return html`<h2>As subscribers got it</h2>
<ul class="plain">${ids.map((id) => html`<li><a href="${payloadPath(id)}">${id}</a></li>`)}</ul>`;
}

export const certificationPage: ConsolePage = { ...life, path: 'certifications/:id' };
/** The address that the search form leads to. */
export const certificationSearchPage: ConsolePage = { ...life, path: 'certifications' };

/** A failed status must not hide the answer. */
async function statusIfTold({
  door,
  integration,
}: PageRequest): Promise<AdvisedStatus | undefined> {
  try {
    return await door.status(integration, { partner: false });
  } catch (error) {
    if (error instanceof OpsError) return undefined;
    throw error;
  }
}

function toDo({ id, verdict, known, day, partner }: Explanation, integration: string): Html {
  const revisions = known?.revisions ?? [];
  const waits = (['held', 'undeliverable'] as const).filter((waits) =>
    revisions.some(({ delivery }) => delivery === waits),
  );
  const path = pathOf(integration, `certifications/${id}`);
  const date = known?.day ?? day?.day ?? (partner.has === 'record' ? partner.day : undefined);
  const links: (readonly [path: string, text: string])[] = [
    [path, 'Ask the partner again'],
    ...(date === undefined
      ? []
      : [
          [
            addressOf(pathOf(integration, 'proof'), { from: date, to: date }),
            `Proof of ${date}`,
          ] as const,
        ]),
    ...(verdict === 'announced'
      ? [
          [
            addressOf(commandPath(integration, 'replay'), { id: String(id) }),
            'Send its last event again',
          ] as const,
        ]
      : []),
    ...(verdict === 'not-yet-seen'
      ? [[commandPath(integration, 'tick'), 'Run a tick now'] as const]
      : []),
  ];
  const decisions = waits.map((waits) =>
    decisionForm(integration, { waits, selected: { id: String(id) }, of: `assessment ${id}` }),
  );
  return html`${decisions}<ul class="key">${links.map(([path, text]) => html`<li><a href="${path}">${text}</a></li>`)}</ul>`;
}

interface Moment {
  readonly at: string;
  readonly what: string;
  readonly more?: Html;
}

function lived(view: View, known: Known): Html {
  const { firstSeen, revision, revisions } = known;
  const [first] = revisions;
  const isWhole = first?.revision === 1;
  const left = revision - revisions.length;
  const moments: readonly Moment[] = [
    ...(isWhole || firstSeen === undefined ? [] : [{ at: firstSeen, what: 'seen' }]),
    ...revisions.flatMap((one): Moment[] => [
      { at: one.at, what: happened(one), more: detail(one) },
      ...one.decisions.map(({ at, decision }) => ({
        at,
        what: `${decisionTold(decision)} by ops: revision ${one.revision}`,
      })),
    ]),
  ];
  const inOrder = moments.toSorted((a, b) => Temporal.Instant.compare(a.at, b.at));
  return html`<section aria-labelledby="life"><h2 id="life">Its life</h2>
${left > 0 ? html`<p class="faint">Of ${count(left, 'revision')} before these, there is no history.</p>` : ''}
<ol class="timeline">${inOrder.map(
    ({ at, what, more = '' }) =>
      html`<li><p><strong>${what}</strong> <time datetime="${at}">${momentAndDistance(at, view)}</time></p>${more}</li>`,
  )}</ol></section>`;
}

function happened({ kind, changed, late }: Revision): string {
  switch (kind) {
    case 'baseline':
      return 'recorded by the baseline';
    case 'created':
      return late ? 'seen, long after its day was over' : 'seen';
    case 'updated':
      return changed.includes('certified_on') ? 'moved to another day' : 'edited';
    case 'withdrawn':
      return 'withdrawn: two looks have lacked it';
    case 'restored':
      return 'back at the partner';
  }
}

function detail(revision: Revision): Html {
  const { changed, event } = revision;
  return facts([
    ['revision', String(revision.revision)],
    ['changed', changed.length === 0 ? undefined : changed.join(', ')],
    ['found by', foundBy(revision) || undefined],
    ['event', event],
    ['delivery', cell(deliveryTold(revision))],
  ]);
}
