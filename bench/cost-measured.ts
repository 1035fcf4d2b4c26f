import * as z from 'zod';

/** Requests of a tick to AWS and to the partner. */
export const tickUnits = z.object({
  /** Certifications announced as created. */
  news: z.number(),
  /** Requests to the partner. */
  requests: z.number(),
  readUnits: z.number(),
  tableWriteUnits: z.number(),
  indexWriteUnits: z.number(),
  ledgerCalls: z.number(),
  /** Publish and PublishBatch. */
  publishes: z.number(),
  /** Of the lines that the function writes, metrics included. */
  logBytes: z.number(),
});
export type TickUnits = z.output<typeof tickUnits>;

/** `node bench/cost.ts` writes these figures; docs/measured/cost.md is calculated from them. */
export const costMeasured = z.object({
  /** `YYYY-MM-DD` */
  on: z.iso.date(),
  itemBytes: z.number(),
  worlds: z.array(
    z.object({
      perDay: z.int(),
      quiet: tickUnits,
      /** Ticks with this much news, in ascending order. */
      news: z.array(tickUnits),
      /** Sixty ticks, a minute apart, in which nothing changes: their sum. */
      hourOfAudits: tickUnits,
    }),
  ),
});
export type CostMeasured = z.output<typeof costMeasured>;
