import * as z from 'zod/mini';
import type { CertificationStory } from '../operations/ops-ledger.ts';
import { parseCertification, parseHistory } from './certification-item.ts';
import { parse } from './item.ts';
import { rawOutbox, waitsOf } from './outbox-item.ts';
import type { Plain } from './table.ts';

const storied = z.extend(rawOutbox, { first_seen: z.optional(z.iso.datetime()) });

/** @throws LedgerCorruptError */
export function parseStory(item: Plain): CertificationStory {
  const { first_seen, outbox } = parse(storied, item);
  const waiting = waitsOf(item);
  return {
    certification: parseCertification(item),
    ...(first_seen !== undefined && { firstSeen: first_seen }),
    revisions: parseHistory(item).map((revision) => {
      const waits = waiting.get(revision.revision);
      const entry = outbox[revision.revision];
      const code = entry?.undeliverable;
      return {
        ...revision,
        ...(waits && { waits }),
        ...(code !== undefined && { code }),
        isBehind: waits === 'held' && entry?.held !== true,
      };
    }),
  };
}
