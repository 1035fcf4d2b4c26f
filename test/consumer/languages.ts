import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

type Command = readonly [string, ...string[]];

/**
 * An example in another language than ours. It runs as its README says, without a download. `local`
 * connects to the local instance. `failing` has a handler that fails on the first delivery of each
 * event, with an error that names a person.
 */
export type ForeignWorker = Readonly<Record<'local' | 'worker' | 'failing', () => Command>> & {
  readonly name: string;
  /** A requirement that this machine lacks. */
  readonly missing?: string;
  /** Runs once, before the commands. @returns a function that removes its files */
  prepare(): () => void;
};

const examples = join(import.meta.dirname, '../../examples');
const temporary = (name: string) => mkdtempSync(join(tmpdir(), `${name}-`));
const succeeds = (command: string, args: readonly string[]) =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

const failingInPython = `
import handle, runpy
seen = set()

def fail_once(event):
    if event.id not in seen:
        seen.add(event.id)
        raise RuntimeError("Odalys")
    print(event.type, event.id, flush=True)

handle.handle = fail_once
runpy.run_path("worker.py", run_name="__main__")
`;

function python(): ForeignWorker {
  // This writes no byte code.
  const run = (...args: readonly string[]): Command => ['python3', '-B', ...args];
  const required = 'import sys, boto3; sys.exit(sys.version_info < (3, 10))';
  return {
    name: 'python-worker',
    ...(!succeeds('python3', ['-c', required]) && { missing: 'Python 3.10 with boto3' }),
    prepare: () => () => {},
    local: () => run('local.py'),
    worker: () => run('worker.py'),
    failing: () => run('-c', failingInPython),
  };
}

const failingInJava = `
package worker;

final class Handle {
  private static final java.util.Set<String> SEEN = new java.util.HashSet<>();

  static void handle(Event event) {
    if (SEEN.add(event.id())) throw new IllegalStateException("Odalys");
    System.out.println(event.type() + " " + event.id());
  }
}
`;

// CI fetches the jars beside the first tests, holds a lock meanwhile, and then has their paths in a
// file.
const { JAVA_LOCK, JAVA_JARS } = process.env;
if (JAVA_LOCK) execFileSync('flock', ['-w', '300', JAVA_LOCK, 'true']);

/** The jars, in Maven's own folder. Absent: the jars or Maven are missing. */
function jarsOf(example: string): string | undefined {
  if (JAVA_JARS && existsSync(JAVA_JARS)) return readFileSync(JAVA_JARS, 'utf8').trim();
  // Maven takes seconds to fail.
  if (!existsSync(join(homedir(), '.m2/repository/software/amazon/awssdk/sqs'))) return;
  const folder = temporary('jars');
  const file = join(folder, 'classpath');
  const goal = ['dependency:build-classpath', `-Dmdep.outputFile=${file}`];
  const there = succeeds('mvn', ['-o', '-q', '-B', '-f', join(examples, example), ...goal]);
  const jars = there ? readFileSync(file, 'utf8').trim() : undefined;
  rmSync(folder, { recursive: true });
  return jars;
}

function java(): ForeignWorker {
  const name = 'java-worker';
  const hasCompiler = succeeds('javac', ['--release', '17', '-version']);
  const jars = hasCompiler ? jarsOf(name) : undefined;
  let made = '';
  const classpath = (...folders: readonly string[]) =>
    [...folders.map((folder) => join(made, folder)), jars].join(delimiter);
  const run = (main: string, ...folders: readonly string[]): Command =>
    // The first compiler alone starts sooner.
    ['java', '-XX:TieredStopAtLevel=1', '-cp', classpath(...folders), `worker.${main}`];
  return {
    name,
    ...(jars === undefined && {
      missing: hasCompiler ? 'what Maven fetches (dependency:build-classpath)' : 'JDK 17',
    }),
    prepare() {
      made = temporary('classes');
      const handler = join(made, 'Handle.java');
      writeFileSync(handler, failingInJava);
      const strict = ['-Xlint:all,-serial', '-Werror'];
      const compile = (to: string, seen: string, sources: readonly string[]) =>
        execFileSync('javac', [...strict, '-cp', seen, '-d', join(made, to), ...sources]);
      compile('classes', classpath(), globSync(join(examples, name, 'src/worker/*.java')));
      compile('failing', classpath('classes'), [handler]);
      return () => rmSync(made, { recursive: true });
    },
    local: () => run('Local', 'classes'),
    worker: () => run('Worker', 'classes'),
    failing: () => run('Worker', 'failing', 'classes'),
  };
}

export const foreignWorkers: readonly ForeignWorker[] = [python(), java()];
