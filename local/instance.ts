import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { StartError } from './errors.ts';

/**
 * What a running local instance tells other programs of this checkout (the operators' command
 * line): where it answers. It holds no credential.
 */
export const instanceSchema = z.object({
  pid: z.int(),
  startedAt: z.string(),
  /** Absent while the instance starts. */
  aws: z
    .object({
      region: z.string(),
      endpoints: z.record(z.string(), z.string()),
      /** Function name → everything in its environment: with it, AWS's own SDK reaches what runs here. */
      functions: z.record(z.string(), z.record(z.string(), z.string())),
    })
    .optional(),
});

type Instance = z.infer<typeof instanceSchema>;

/** The claim of one process to be the instance of a directory. */
export interface InstanceFile {
  /** Tells where the instance answers. */
  publish(aws: NonNullable<Instance['aws']>): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Claims `file` for this process. A file that a dead process left behind is taken over.
 *
 * @throws StartError when another instance runs
 */
export async function claimInstance(file: string, startedAt: string): Promise<InstanceFile> {
  const claim: Instance = { pid: process.pid, startedAt };
  await mkdir(dirname(file), { recursive: true });
  if (!(await createOnce(file, claim))) {
    const other = await readInstance(file);
    if (other && (await isRunning(other))) {
      throw new StartError(
        `Another instance runs already (process ${other.pid}, since ${other.startedAt}).`,
        'End it first: it would be asked for what this one does.',
      );
    }
    await rm(file, { force: true });
    if (!(await createOnce(file, claim))) {
      throw new StartError('Another instance has just been started.', 'Use that one.');
    }
  }
  return {
    publish: (aws) => writeFile(file, text({ ...claim, aws })),
    remove: () => rm(file, { force: true }),
  };
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

/** Undefined: there is none, or what is there is no instance file. */
async function readInstance(file: string): Promise<Instance | undefined> {
  const content = await readFile(file, 'utf8').catch((error) => {
    if (isSystemError(error, 'ENOENT')) return '';
    throw error;
  });
  try {
    return instanceSchema.safeParse(JSON.parse(content)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A process id can have been given to another program since: its endpoint must answer too. */
async function isRunning({ pid, aws }: Instance): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, and belongs to somebody else.
    if (!isSystemError(error, 'EPERM')) return false;
  }
  const endpoint = aws?.endpoints.dynamodb;
  if (endpoint === undefined) return true;
  return fetch(endpoint, { signal: AbortSignal.timeout(2000) }).then(
    () => true,
    () => false,
  );
}

function text(instance: Instance): string {
  return `${JSON.stringify(instance, null, 2)}\n`;
}

function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
