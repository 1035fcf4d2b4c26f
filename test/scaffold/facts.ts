import type { Seen } from '../../lambda/decisions/observations.ts';
import { unhurried } from '../../lambda/decisions/pace.ts';

/** The facts of a tick that has found nothing yet. */
export const nothingNoted = (): Seen => ({
  pace: { perMinute: 600, value: unhurried },
  quarantined: new Map(),
  oddFields: new Map(),
});
