import { detectionColumns, detectionRows, statusFacts, verdict } from '../../ops/render/status.ts';
import { live, table } from '../html.ts';
import { html } from '../library.ts';
import type { ConsolePage } from '../page.ts';
import { factsShown, viewOf } from '../view.ts';
import { nextTick, recentActivity } from './activity.ts';
import { openNotices } from './open-notices.ts';

/** The verdict in a sentence, the advice, the numbers of `status`, and the work of the ticks. */
export const nowPage: ConsolePage = {
  path: 'now',
  title: () => 'Now',
  async content({ door, integration }) {
    const view = viewOf(door);
    const status = await door.status(integration, { partner: false, activity: true });
    const [tone, told] = verdict(view, status);
    const known = statusFacts(view, status).flatMap((fact) =>
      fact[0] === 'last tick' ? [fact, ['next tick', nextTick(view, status)] as const] : [fact],
    );
    return html`${live('verdict', html`<p class="verdict ${tone}" role="status">${told}</p>`)}
${live('numbers', html`${openNotices(view, status)}${factsShown(integration, known)}${recentActivity(view, status)}`)}
${table('How long it takes at worst until a change is found', detectionColumns, detectionRows(status))}`;
  },
};
