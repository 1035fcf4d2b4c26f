import type { PulseRead } from '../decisions/partner-reads.ts';
import type { ExpectedSubscription } from '../names.ts';

/** Names that differ only in blanks, normal form or case look alike, and SNS tells them apart. */
const looks = (name: string) => name.normalize('NFC').replaceAll(/\s+/gu, ' ').trim().toLowerCase();

/**
 * Values of filters that the newest page does not show, each in words. A subscriber behind such a
 * filter may hear of nothing.
 *
 * @param integration filters for other integrations are not looked at
 */
export function unseenFilters(
  expected: readonly ExpectedSubscription[],
  integration: string,
  { assessments: shown }: PulseRead,
): string[] {
  const ids = new Set(shown.map(({ organization_id }) => organization_id));
  const names = new Set(shown.flatMap(({ assessment_name }) => assessment_name ?? []));
  const alike = new Map([...names].map((name) => [looks(name), name]));
  const nameTold = (name: string) => {
    const other = alike.get(looks(name));
    return other === undefined
      ? `"${name}"`
      : `"${name}", but "${other}", which differs in blanks, form or case`;
  };
  return expected.flatMap(({ organizations = [], assessments = [], integrations }, position) => {
    if (integrations !== undefined && !integrations.includes(integration)) return [];
    const lacking = [
      ...organizations.filter((id) => !ids.has(id)).map((id) => `the organization ${id}`),
      ...assessments.filter((name) => !names.has(name)).map(nameTold),
    ];
    return lacking.map((what) => `subscriptions[${position}] filters for ${what}`);
  });
}
