import type { TickSettings } from '../lambda/settings.ts';
import { tickSettings } from '../test/scaffold/settings.ts';

export const timeZone = 'America/New_York';
/** Today in every world: a Friday afternoon. */
export const now = '2026-11-20T21:00:00Z';
export const today = '2026-11-20';
/** The function's time-out, see infra/constructs/integration.ts. */
export const timeoutSeconds = 55;
export const integration = 'district-a';
/** The defaults of notifier.config.ts. */
export const settings: TickSettings = tickSettings({ name: integration, timeZone });
