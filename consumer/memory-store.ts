import { Temporal } from 'temporal-polyfill';
import type { Claim, HandledStore } from './store.ts';

interface Entry {
  handled: number;
  owner: string;
  until: Temporal.Instant;
  forget: Temporal.Instant | undefined;
}

/**
 * A store in this process only: for tests, for trying things out, for events that may be handled
 * again after a restart. Each consumer needs one of its own.
 */
export function memoryStore(): HandledStore {
  const entries = new Map<string, Entry>();
  const isHandled = (entry: Entry | undefined, { position, again }: Claim) =>
    entry !== undefined && (again ? entry.handled > position : entry.handled >= position);
  return {
    async claim(claim) {
      const forget = entries.get(claim.key)?.forget;
      if (forget && Temporal.Instant.compare(forget, claim.now) <= 0) entries.delete(claim.key);
      const entry = entries.get(claim.key);
      const isFree =
        entry === undefined ||
        entry.owner === claim.owner ||
        Temporal.Instant.compare(entry.until, claim.now) <= 0;
      if (isHandled(entry, claim)) return 'handled';
      if (!isFree) return 'in-hand';
      const { key, owner, until } = claim;
      entries.set(key, {
        handled: entry?.handled ?? 0,
        owner,
        until,
        forget: claim.forget ?? entry?.forget,
      });
      return 'granted';
    },
    async settle(claim, outcome) {
      const entry = entries.get(claim.key);
      if (entry?.owner !== claim.owner) return false;
      if (outcome === 'handled') entry.handled = claim.position;
      entry.until = claim.now;
      return true;
    },
  };
}
