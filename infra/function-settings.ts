import type { IntegrationSettings } from './config.ts';

/** The settings of an integration for the functions: lambda/settings.ts reads them. */
export function integrationVariable(config: IntegrationSettings): string {
  const { name, baseUrl, timeZone, recentDays, every, tokenRequest, audit } = config;
  const { requestsPerMinute, holdAbove, withdrawAfter, silence, announce, baseline, fields } =
    config;
  return JSON.stringify({
    name,
    baseUrl,
    timeZone,
    recentDays,
    every,
    tokenRequest,
    audit,
    requestsPerMinute,
    holdAbove,
    withdrawAfter,
    ...(silence !== undefined && { silence }),
    announce,
    baseline,
    fields,
  });
}
