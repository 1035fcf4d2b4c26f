import type { Provoking } from '../../console/index.ts';
import { Seen } from '../../local/seen.ts';
import { Integration } from '../scaffold/integration.ts';
import { assessment } from '../support/assessments.ts';

/** A foreign text that harms a page which takes it for markup. */
export const hostile = '<img src=x onerror="window.harm = 1">';

/**
 * An integration with a moved and removed, a refused, and three held certifications, a day without a
 * proof, and a failed self-check.
 */
export async function eventful(): Promise<Integration> {
  const story = new Integration();
  story.settings = { holdAbove: 2 };
  story.world = [assessment({ id: 1, certified_on: '2026-11-02' })];
  await story.baseline();
  story.add(assessment({ id: 2, assessment_name: hostile }));
  await story.minute();
  story.add(assessment({ id: 2, assessment_name: hostile, certified_on: '2026-11-19' }));
  await story.minute();
  story.host.remove(2);
  story.host.spoil(1, { certified_on: 5 });
  await story.minutes(30);
  story.subscribers.refuse = () => ({ code: 'InvalidParameter', forGood: true });
  story.add(assessment({ id: 3 }));
  await story.minute();
  story.subscribers.refuse = () => false;
  const held = { certified_on: '2026-11-18', organization_name: hostile };
  story.add(assessment({ id: 11, ...held }), assessment({ id: 13, ...held, organization_id: 8 }));
  story.add(assessment({ id: 12, ...held, certified_on: '2025-12-31' }));
  await story.minute();
  const at = story.clock.now().epochMilliseconds;
  const selfCheck = { at, failed: { 'alerts, email': 'gone' }, failures: 1 };
  await story.ledger.saveState({ selfCheck });
  return story;
}

/** The memory of `npm start`: a notice, a mail, an event and two provocations. */
export function seenOf({ name, clock }: Integration): Seen & { readonly provoking: Provoking } {
  const seen = new Seen({ clock, isReal: false });
  seen.notice({ subject: `${name}: a flood is held`, text: hostile });
  seen.notice({ subject: 'elsewhere: paused', text: 'because' });
  seen.mail({ subject: 'News', text: hostile });
  seen.event('queue', `${name}/2/1`, JSON.stringify({ type: 'certification.created', hostile }));
  const kill = { name: 'kill', title: 'Kill the tick', does: 'Ends it.', expected: 'None.' };
  const down = { ...kill, name: 'down', title: 'Partner down', isOn: true };
  const tally = { world: 9, subscribers: 5, baseline: 1, created: 4, updated: 0 };
  const done: { at: string; integration: string; title: string }[] = [];
  const provoking: Provoking = {
    provocations: () => [kill, down],
    provoke: async (integration, title) => {
      done.push({ at: clock.now().toString(), integration, title });
      seen.changed();
    },
    tally: async () => ({
      ...{ ...tally, withdrawn: 0, restored: 0, held: 3, owed: 2, discarded: 1, difference: 0 },
    }),
    failedTicks: 1,
    done,
  };
  return Object.assign(seen, { provoking });
}
