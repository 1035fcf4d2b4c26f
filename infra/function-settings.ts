import type { IntegrationSettings } from './config.ts';

/** The settings of an integration for the functions, which are all but those of its secret: lambda/settings.ts reads them. */
export function integrationVariable(config: IntegrationSettings): string {
  const { secret: _, secretName: _name, secretKeyArn: _key, ...settings } = config;
  return JSON.stringify(settings);
}
