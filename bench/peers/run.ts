import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { functionEnvironment } from '../../test/scaffold/settings.ts';
import { awsReady, startChild } from '../child.ts';
import {
  bundled,
  endBySignals,
  importTimes,
  inFreshProcess,
  inTemporaryFolder,
  medianOf,
  pollFunction,
  root,
} from '../deployed.ts';
import { type Case, casesOf, type Sizes } from './cases.ts';
import {
  environmentOf,
  findPython,
  importOf,
  installedBytes,
  type Peer,
  peers,
  productionBytes,
  type VirtualEnvironment,
} from './environments.ts';
import { ourContender } from './our-watcher.ts';
import { type Mode, modes, peerContender } from './peer-watcher.ts';
import {
  type ContenderFacts,
  type Result,
  tableOfFacts,
  tableOfResults,
  whereBetter,
  whereLighter,
} from './table.ts';
import { Trial } from './trial.ts';
import type { Enter } from './watcher.ts';
import { openPeerWorld } from './world.ts';

const whole: Sizes = { history: 5_000, firstSync: 20_000, unrest: 2_000, reads: 30, kills: 20 };
const quick: Sizes = { history: 500, firstSync: 500, unrest: 500, reads: 5, kills: 3 };
const imports = 7;
const names = { dlt: 'dlt', 'airbyte-cdk': 'Airbyte CDK', singer: 'Singer' };

const program = new Command('npm run bench:peers --')
  .description(
    'dlt, the Airbyte CDK, a Singer tap and ours: the same questions on the same worlds.',
  )
  .option('--quick', 'smaller sizes, in about four minutes')
  .option(
    '--only <case>',
    `one of ${casesOf(quick)
      .map(({ key }) => key)
      .join(', ')}`,
  )
  .option('--json <file>', 'write the figures there as well')
  .allowExcessArguments(false)
  .parse();
const options: { quick?: boolean; only?: string; json?: string } = program.opts();
const cases = casesOf(options.quick ? quick : whole).filter(
  ({ key }) => options.only === undefined || key === options.only,
);
if (cases.length === 0) program.error(`There is no case "${options.only}".`);

interface Contender {
  readonly name: string;
  readonly mode?: Mode;
  /** dlt compares its table with the new rows. A target that only upserts cannot notice a missing row. */
  readonly tellsWithdrawals: boolean;
  readonly enter: Enter;
}

const began = performance.now();
const progress = (text: string) =>
  console.error(`${Math.round((performance.now() - began) / 1000)} s: ${text}`);

endBySignals();
try {
  await compare();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function compare(): Promise<void> {
  const python = await findPython();
  const environments = new Map<Peer, VirtualEnvironment>();
  for (const peer of peers) environments.set(peer, await environmentOf(peer, python));
  const facts = options.only === undefined ? await factsOf(environments) : [];
  const aws = await startChild('aws-process.ts', {}, awsReady, ['--max-old-space-size=8000']);
  try {
    const results = await inTemporaryFolder(async (folder) => {
      const program = join(root, 'bench/memory-process.ts');
      const { url } = await bundled(folder, { entryPoints: [program] });
      const ours = ourContender(aws.ready, url, python, folder);
      const theirs = [...environments].flatMap(([peer, environment]) =>
        modes.map((mode) => ({
          name: `${names[peer]}, ${mode}`,
          mode,
          tellsWithdrawals: mode === 'full' || peer === 'dlt',
          enter: peerContender(peer, mode, environment, folder),
        })),
      );
      return resultsOf([{ name: 'ours', tellsWithdrawals: true, enter: ours }, ...theirs]);
    });
    report(facts, results);
  } finally {
    await aws.stop();
  }
}

async function resultsOf(contenders: readonly Contender[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const one of cases)
    for (const contender of contenders) {
      if (one.isOfFullReads && contender.mode === 'look-back') continue;
      results.push(await resultOf(one, contender));
      progress(`${one.text}: ${contender.name}`);
    }
  return results;
}

async function resultOf(one: Case, contender: Contender): Promise<Result> {
  const world = await openPeerWorld(one.records);
  const watcher = await contender.enter(world.partner, String(one.records));
  try {
    if (one.isStarted) await watcher.start();
    const trial = new Trial(world, watcher);
    const score = await one.act(trial);
    const isOffered = !one.isOfWithdrawals || contender.tellsWithdrawals;
    return {
      case: one.text,
      contender: contender.name,
      requests: trial.requests,
      failed: trial.failed,
      score: isOffered ? score : undefined,
      waiting: await watcher.waiting(),
      processorSeconds: trial.usages.reduce((sum, usage) => sum + usage.processorSeconds, 0),
      peakBytes: Math.max(0, ...trial.usages.map(({ peakBytes }) => peakBytes)),
    };
  } finally {
    await watcher.close();
    await world.close();
  }
}

async function factsOf(
  environments: ReadonlyMap<Peer, VirtualEnvironment>,
): Promise<ContenderFacts[]> {
  const facts: ContenderFacts[] = [];
  const version = 'this commit';
  await inTemporaryFolder(async (folder) => {
    const poll = await bundled(folder, pollFunction);
    const variables = functionEnvironment();
    await inFreshProcess(poll, 0, variables);
    const [importMs = 0] = await importTimes([poll], imports, variables);
    const name = 'ours, the deployed bundle';
    facts.push({ name, version, importMs, installedBytes: poll.bytes });
  });
  const packages = await productionBytes();
  facts.push({ name: 'ours, node_modules without dev', version, installedBytes: packages });
  for (const [peer, environment] of environments) {
    const { version } = await importOf(peer, environment);
    const times: number[] = [];
    for (let run = 0; run < imports; run++) times.push((await importOf(peer, environment)).ms);
    facts.push({
      name: peer,
      version,
      importMs: medianOf(times),
      installedBytes: await installedBytes(environment),
    });
  }
  return facts;
}

function report(facts: readonly ContenderFacts[], results: readonly Result[]): void {
  console.log('Where a peer is better:\n');
  for (const line of [...whereBetter(results), ...whereLighter(results)]) console.log(`- ${line}`);
  if (facts.length > 0) console.log(`\n${tableOfFacts(facts)}`);
  console.log(`\n${tableOfResults(results)}`);
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify({ facts, results }, null, 2)}\n`);
}
