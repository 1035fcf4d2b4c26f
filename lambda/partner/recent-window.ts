import type { Assessment } from '../events/assessment.ts';
import type { PartnerReader, QuarantinedRecord } from '../ports.ts';
import type { PartnerClient } from './client.ts';
import type { Page } from './records.ts';

/** Maximum page size (partner-api.md, 8). */
const pageSize = 100;

/**
 * Reads the recent window page by page, with a fixed sort and order, until `offset >= count`
 * (partner-api.md, 4.2, paging rules 1 and 2).
 *
 * This proves nothing: a record that moves across a page boundary between two requests can be
 * seen twice or not at all. The window is read anew by every tick, so what one overlooks the next
 * finds, as long as it stays within the window.
 */
export function recentWindowReader(client: Pick<PartnerClient, 'list'>): PartnerReader {
  return {
    async readWindow(window, deadline) {
      const assessments: Assessment[] = [];
      const quarantined: QuarantinedRecord[] = [];
      let offset = 0;
      let page: Page;
      do {
        page = await client.list(
          {
            sort: 'certified_on',
            order: 'ASC',
            page: pageSize,
            offset,
            filter: { start_date: window.from },
          },
          { deadline },
        );
        assessments.push(...page.assessments);
        quarantined.push(...page.quarantined);
        offset += page.rows;
        // An empty page before `count` is reached ends the read too: there is nothing to go on from.
      } while (page.rows > 0 && offset < page.meta.count);
      return { assessments, quarantined };
    },
  };
}
