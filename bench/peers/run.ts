import { Command } from 'commander';
import { awsReady, startChild } from '../child.ts';
import { bundled, temporaryFolder } from '../deployed.ts';
import { type Case, casesOf, type Sizes } from './cases.ts';
import { environmentOf, findPython, peers } from './environments.ts';
import { ourContender } from './our-watcher.ts';
import { type Mode, modes, peerContender } from './peer-watcher.ts';
import { type Result, tableOfResults } from './table.ts';
import { Trial } from './trial.ts';
import type { Enter } from './watcher.ts';
import { openPeerWorld } from './world.ts';

const whole: Sizes = { history: 5_000, firstSync: 20_000, unrest: 2_000, reads: 30, kills: 20 };
const quick: Sizes = { history: 500, firstSync: 500, unrest: 500, reads: 5, kills: 3 };
const names = { dlt: 'dlt', 'airbyte-cdk': 'Airbyte CDK', singer: 'Singer' };
const keys = casesOf(quick).map(({ key }) => key);

const program = new Command('npm run bench:peers --')
  .description(
    'dlt, the Airbyte CDK, a Singer tap and ours: the same questions on the same worlds.',
  )
  .option('--quick', 'smaller sizes, in about four minutes')
  .option('--only <case>', `one of ${keys.join(', ')}`)
  .allowExcessArguments(false)
  .parse();
const options: { quick?: boolean; only?: string } = program.opts();
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

// At a signal, Node ends without the event `exit`, whose handlers end the measured processes.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => process.exit(130));
const began = performance.now();
const python = await findPython();
const aws = await startChild('aws-process.ts', {}, awsReady, ['--max-old-space-size=8000']);
{
  await using folder = await temporaryFolder();
  const bundle = await bundled(folder.path, 'memory-process.ts');
  const enter = ourContender(aws.ready, bundle, python, folder.path);
  const contenders: Contender[] = [{ name: 'ours', tellsWithdrawals: true, enter }];
  for (const peer of peers) {
    const environment = await environmentOf(peer, python);
    for (const mode of modes)
      contenders.push({
        name: `${names[peer]}, ${mode}`,
        mode,
        tellsWithdrawals: mode === 'full' || peer === 'dlt',
        enter: peerContender(peer, mode, environment, folder.path),
      });
  }
  const results: Result[] = [];
  for (const one of cases)
    for (const contender of contenders) {
      if (one.isOfFullReads && contender.mode === 'look-back') continue;
      results.push(await resultOf(one, contender));
      const seconds = Math.round((performance.now() - began) / 1000);
      console.error(`${seconds} s: ${one.text}: ${contender.name}`);
    }
  console.log(tableOfResults(results));
}
await aws.stop();

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
