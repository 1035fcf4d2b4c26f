import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { jsonText } from '../lambda/json-text.ts';
import { isSystemError, StartError } from './errors.ts';

/** The depth differs between sources and compiled files. */
const packageFile = createRequire(import.meta.url).resolve('certification-notifier/package.json');

/** The folder of a checkout's one instance. Tests and read-only checkouts name another one. */
export const localDirectory = ({ NOTIFIER_LOCAL: named }: NodeJS.ProcessEnv): string =>
  resolve(named || join(dirname(packageFile), '.local'));

/**
 * The addresses of a running local instance, for other programs of this checkout (the command line). It holds no
 * credential.
 */
export const instanceSchema = z.object({
  pid: z.int(),
  startedAt: z.iso.datetime(),
  /** Absent while the instance is starting. */
  aws: z
    .object({
      region: z.string(),
      endpoints: z.record(z.string(), z.string()),
      /** Function name → its environment. With it, AWS's own SDK reaches the embedded services. */
      functions: z.record(z.string(), z.record(z.string(), z.string())),
    })
    .optional(),
});

type Instance = z.infer<typeof instanceSchema>;

/** The claim of one process on a directory: it is the instance there. */
export interface ClaimedInstance {
  /** Writes the addresses of the instance. */
  publish(aws: NonNullable<Instance['aws']>): Promise<void>;
  /** Removes the file. */
  remove(): Promise<void>;
}

/** An instance answers within seconds. A claim without an answer after this time was left by a dead process. */
const startLimit = Temporal.Duration.from({ minutes: 2 });

/**
 * Claims `instance.json` of a directory for this process. A file of a dead process is taken over.
 *
 * @throws StartError when another instance runs, or the directory cannot be written
 */
export async function claimInstance(
  directory: string,
  now: Temporal.Instant,
): Promise<ClaimedInstance> {
  const file = join(directory, 'instance.json');
  const claim: Instance = { pid: process.pid, startedAt: now.toString() };
  try {
    await mkdir(directory, { recursive: true });
    await claimFile(file, claim, now);
    return {
      publish: (aws) => writeFile(file, text({ ...claim, aws })),
      remove: () => rm(file, { force: true }),
    };
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause && 'code' in cause)) throw cause;
    throw new StartError(
      `${file} cannot be written (${cause.code}).`,
      'It has to be a file in a folder that can be written; NOTIFIER_LOCAL=<folder> names another folder.',
      { cause },
    );
  }
}

async function claimFile(file: string, claim: Instance, now: Temporal.Instant): Promise<void> {
  if (await createOnce(file, claim)) return;
  const other = await readInstance(file);
  if (other && (await isRunning(other, now))) {
    throw new StartError(
      `Another instance runs already (process ${other.pid}, since ${other.startedAt}, says ${file}).`,
      'End it first; if that process is something else, delete that file.',
    );
  }
  await rm(file, { force: true });
  if (!(await createOnce(file, claim))) {
    throw new StartError('Another instance has just been started.', 'Use that one.');
  }
}

async function createOnce(file: string, instance: Instance): Promise<boolean> {
  try {
    await using handle = await open(file, 'wx');
    await handle.writeFile(text(instance));
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Undefined: there is no file, or it is no instance file. */
export async function readInstance(file: string): Promise<Instance | undefined> {
  const content = await readFile(file, 'utf8').catch((error) => {
    if (isSystemError(error, 'ENOENT')) return '';
    throw error;
  });
  return z.pipe(jsonText, instanceSchema).safeParse(content).data;
}

/**
 * The id of a dead process may belong to another program by now, even to this one. So the endpoint must answer, too,
 * soon after the start.
 */
async function isRunning({ pid, startedAt, aws }: Instance, now: Temporal.Instant) {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process lives and belongs to another user.
    if (!isSystemError(error, 'EPERM')) return false;
  }
  const endpoint = aws?.endpoints.dynamodb;
  if (endpoint === undefined) {
    const age = now.since(Temporal.Instant.from(startedAt)).abs();
    return Temporal.Duration.compare(age, startLimit) < 0;
  }
  return answers(endpoint);
}

/** Whether an embedded service answers there. */
export const answers = (endpoint: string): Promise<boolean> =>
  fetch(endpoint, { signal: AbortSignal.timeout(2000) }).then(
    () => true,
    () => false,
  );

function text(instance: Instance): string {
  return `${JSON.stringify(instance, null, 2)}\n`;
}
