declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** An in-memory DynamoDB over HTTP; `createTableMs` is how long a table stays CREATING. */
  export default function dynalite(options?: { createTableMs?: number }): Server;
}
