import type { Credentials } from '../../../lambda/partner/token.ts';
import type { Grant } from '../host.ts';
import type { Section } from '../question.ts';
import { authentication, errors, lifetime, tokenRequests, tokenResponse } from './access.ts';
import { dates, filters, search, states } from './filters.ts';
import { metadata, pageLimits, paging, sorting } from './list.ts';
import { parts, records, singleRecord } from './records.ts';

/** The sections of docs/partner.md with statements that reading can check, in its order. */
export function sections(grants: readonly Grant[], credentials: Credentials): readonly Section[] {
  const list = { ...paging, ...sorting, ...search, ...dates, ...filters };
  const limits = { ...pageLimits, 'a token lives for 7200 seconds': lifetime(grants) };
  return [
    { id: '2.1', title: 'Access token response', checks: tokenResponse(grants) },
    { id: '2.2', title: 'Assessment record', checks: records },
    { id: '2.3', title: 'Result part', checks: parts },
    { id: '2.4', title: 'List metadata', checks: metadata },
    { id: '3', title: 'States', checks: states },
    { id: '4.1', title: 'POST /oauth/token', checks: tokenRequests(grants) },
    { id: '4.2', title: 'GET /api/v1/ax/assessments', checks: list },
    { id: '4.3', title: 'GET /api/v1/ax/assessments/:id', checks: singleRecord },
    { id: '5', title: 'Authentication', checks: authentication(grants) },
    { id: '7', title: 'Errors', checks: errors(credentials) },
    { id: '8', title: 'Limits', checks: limits },
  ];
}
