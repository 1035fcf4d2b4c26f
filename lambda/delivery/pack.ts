/** AWS limits of PublishBatch: entries a request, and bytes of all their bodies and attributes. */
const batchEntries = 10;
const batchBytes = 262_144;

/**
 * Splits entries, in order, into batches that PublishBatch takes: at most `maxEntries` entries and
 * `maxBytes` bytes each. An entry that is larger by itself goes alone: SNS refuses it by name, and
 * the others do not suffer.
 */
export function pack<Entry>(
  entries: readonly Entry[],
  bytesOf: (entry: Entry) => number,
  maxEntries = batchEntries,
  maxBytes = batchBytes,
): Entry[][] {
  const batches: Entry[][] = [];
  let batch: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = bytesOf(entry);
    if (batch.length > 0 && (batch.length === maxEntries || bytes + size > maxBytes)) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(entry);
    bytes += size;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
