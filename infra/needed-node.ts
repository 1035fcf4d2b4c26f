import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as z from 'zod';

/**
 * An older Node is refused here, in the words of ops/launcher.mjs. npm only warns of it. The constructs would end in a
 * TypeError that names no version.
 */
const file = createRequire(import.meta.url).resolve('certification-notifier/package.json');
const { engines } = z
  .object({ engines: z.object({ node: z.string() }) })
  .parse(JSON.parse(readFileSync(file, 'utf8')));
const oldest = engines.node.replace('>=', '');
const running = process.versions.node;
if (running.localeCompare(oldest, 'en', { numeric: true }) < 0)
  throw new Error(
    `certification-notifier needs Node ${oldest} or later. This is Node ${running} (${process.execPath}).`,
  );
