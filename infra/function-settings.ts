import type { IntegrationSettings } from './config.ts';

/** What the functions are told of their integration: lambda/settings.ts reads it. */
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
    ...(baseline !== 'tick' && { baseline: 'fan-out' }),
    fields,
  });
}
