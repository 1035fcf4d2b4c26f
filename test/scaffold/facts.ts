import type { TickFacts } from '../../lambda/detection/conditions.ts';
import { unhurried } from '../../lambda/detection/pace.ts';

/** The facts of a tick that has found nothing yet. */
export const nothingNoted = (): TickFacts => ({
  pace: { perMinute: 600, value: unhurried },
  quarantined: new Map(),
  oddFields: new Map(),
});
