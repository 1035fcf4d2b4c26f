import type * as z from 'zod';
import { alerts } from '../../infra/config/alerts.ts';
import { integration } from '../../infra/config/integration.ts';
import { integrationVariable } from '../../infra/function-settings.ts';
import { environment } from '../../lambda/names.ts';
import {
  parseFunctionSettings,
  tickSettings as settingsOfTicks,
  type TickSettings,
} from '../../lambda/settings.ts';

/** The required settings. All others are defaults. */
const leastConfig = {
  name: 'district-a',
  baseUrl: 'https://partner.example.org',
  timeZone: 'UTC',
};

/** The environment of a function, as the stack derives it from a configuration. */
export function functionEnvironment(changes: Partial<z.input<typeof integration>> = {}) {
  return {
    [environment.table]: 'ledger',
    [environment.eventsTopic]: 'events',
    [environment.alertsTopic]: 'alerts',
    [environment.operationsTopic]: 'operations',
    [environment.stack]: 'certification-notifier',
    [environment.secret]: 'credentials',
    [environment.integration]: integrationVariable(
      integration.parse({ ...leastConfig, ...changes }),
    ),
    [environment.alerts]: JSON.stringify(alerts.parse({})),
  };
}

const defaults = settingsOfTicks(parseFunctionSettings(functionEnvironment()));

/** The settings of ticks and commands: a deployment's defaults in UTC, with these changes. */
export function tickSettings(changes: Partial<TickSettings> = {}): TickSettings {
  return { ...defaults, ...changes };
}
