import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readAssembly } from '../../local/aws/assembly.ts';
import { Resolver } from '../../local/aws/intrinsics.ts';
import { Deployment } from '../scaffold/deployment.ts';
import {
  type Alarm,
  alarmOf,
  metricName,
  metricOfAlarm,
  periodsLookedAt,
  valuesIn,
  Watch,
} from '../support/cloud-watch.ts';

/**
 * Compares the synthesized alarms with the output of the bundled functions. An alarm on a metric
 * without a writer, or one that silence does not end, fails here.
 */

const holdAbove = 5;
const stage = new Deployment();
let alarms: ReadonlyMap<string, Alarm> = new Map();
/** Seconds between two ticks. */
let every = 0;
let watch = new Watch();

beforeAll(() => stage.build({ integration: { holdAbove } }));
afterAll(() => stage.dismantle());
beforeEach(async () => {
  await stage.raise();
  watch = new Watch();
  const { stackName, region, accountId, endpoints } = stage.aws;
  const { template } = readAssembly(stage.assembly);
  const place = { stackName, region, accountId, sqsEndpoint: endpoints.sqs };
  const resolver = new Resolver(template, place);
  const resolved = (type: string) =>
    Object.entries(template.Resources)
      .filter(([, { Type }]) => Type === type)
      .map(([id, { Properties }]) => [id, resolver.resolve(Properties, id)] as const);
  alarms = new Map(
    resolved('AWS::CloudWatch::Alarm').map(([id, properties]) => [nameOf(id), alarmOf(properties)]),
  );
  const [[, minutes] = []] = JSON.stringify(resolved('AWS::Scheduler::Schedule')).matchAll(
    /rate\((\d+) minutes?\)/g,
  );
  every = Number(minutes) * 60;
});
afterEach(() => stage.strike());

/** The alarm's name within its integration, if it has one. */
function nameOf(id: string): string {
  return /^NotifierdistrictaAlarms(\w+)[0-9A-F]{8}$/.exec(id)?.[1] ?? id;
}

function alarm(name: string): Alarm {
  const found = alarms.get(name);
  if (found === undefined) throw new Error(`no alarm ${name}`);
  return found;
}

const ofLambda = (metric: string) =>
  metricName('AWS/Lambda', metric, [['FunctionName', stage.poll.name]]);

/** Starts ticks in a period, and records the resulting metrics. */
async function tick(started = 1): Promise<void> {
  stage.output.length = 0;
  const results = await Promise.all(Array.from({ length: started }, () => stage.tick()));
  for (const result of results) {
    const failed = result.outcome === 'failed' ? result.errorType : undefined;
    if (failed === 'TooManyRequestsException')
      watch.note({ metric: ofLambda('Throttles'), value: 1 });
    else watch.note({ metric: ofLambda('Errors'), value: failed === undefined ? 0 : 1 });
  }
  watch.note(...stage.output.flatMap(valuesIn));
  watch.pass(every);
}

async function ticks(count: number, started?: number): Promise<void> {
  for (let n = 0; n < count; n++) await tick(started);
}

async function discard(waiting: 'held' | 'undeliverable'): Promise<void> {
  await stage.operate.invoke({ command: 'discard', waiting });
}

const refused = (type: string, code: string) => async () => ({
  status: 200,
  type: 'text/xml',
  body: `<PublishBatchResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishBatchResult>
    <Successful/><Failed><member><Id>0</Id><Code>${code}</Code><SenderFault>${type}</SenderFault>
    </member></Failed></PublishBatchResult></PublishBatchResponse>`,
});

interface Story {
  /** Runs up to the period with which the alarm should be on. */
  readonly begins: () => Promise<void>;
  readonly ends?: () => void | Promise<void>;
  /** It reports a lasting condition: each tick counts it, and some lost ticks do not end it. */
  readonly lasts?: true;
}

/** The beginning and the end of each alarm of an integration. */
const stories: Readonly<Record<string, Story>> = {
  Failing: {
    begins: async () => {
      stage.sandbox.injectFaults({ kind: 'html', times: 'always', status: 200 });
      await ticks(3);
    },
    ends: () => stage.sandbox.clearFaults(),
  },
  NoCompletedTick: {
    begins: async () => watch.pass(periodsLookedAt(alarm('NoCompletedTick')) * every),
    ends: () => tick(),
  },
  Undelivered: {
    begins: async () => {
      stage.sandbox.world.add();
      stage.sns.always(refused('false', 'InternalError'));
      await ticks(20);
    },
    ends: () => stage.sns.reset(),
  },
  Undeliverable: {
    begins: async () => {
      // A topic that has never accepted anything is not believed.
      stage.sandbox.world.add();
      await tick();
      stage.sandbox.world.add();
      stage.sns.once('PublishBatch', refused('true', 'InvalidParameter'));
      await tick();
    },
    ends: () => discard('undeliverable'),
    lasts: true,
  },
  Held: {
    begins: async () => {
      for (let n = 0; n <= holdAbove; n++) stage.sandbox.world.add();
      await tick();
    },
    ends: () => discard('held'),
    lasts: true,
  },
  Quarantined: {
    begins: async () => {
      stage.sandbox.world.add();
      stage.sandbox.injectFaults({ kind: 'malformed-record' });
      await tick();
    },
    lasts: true,
  },
  Refused: {
    begins: async () => {
      stage.sandbox.rotateSecret();
      await stage.poll.kill();
      await tick();
    },
    ends: async () => {
      const { clientId, clientSecret } = stage.sandbox.credentials;
      stage.fillSecret(JSON.stringify({ client_id: clientId, client_secret: clientSecret }));
      await stage.backOffEnds();
    },
    lasts: true,
  },
  Unproven: {
    begins: async () => {
      await stage.conditionLasts('unproven');
      await tick();
    },
    lasts: true,
  },
  Unexplained: {
    begins: async () => {
      stage.sandbox.set({ countOffset: 1 });
      await tick();
      await stage.conditionLasts('unexplained');
      await tick();
    },
    ends: () => stage.sandbox.set({ countOffset: 0 }),
    lasts: true,
  },
  Throttled: { begins: () => ticks(3, 2) },
};

const on = () => [...alarms.keys()].filter((name) => watch.state(alarm(name)) === 'ALARM');

describe('the alarms of an integration', () => {
  it('each have a story here', () => {
    const ofIntegration = [...alarms.keys()].filter((name) => /^[A-Z][A-Za-z]+$/.test(name));
    expect(Object.keys(stories).sort()).toEqual(ofIntegration.sort());
  });

  it('are off while all is well', async () => {
    await ticks(5);
    expect(on()).toEqual([]);
  });

  it.each(Object.entries(stories))(
    "go off by the functions' output, and end when the metric stops: %s",
    async (name, { begins, ends, lasts }) => {
      await ticks(3);
      expect(on()).toEqual([]);
      await begins();
      expect(on()).toContain(name);
      const looked = alarm(name);
      expect([...watch.metrics]).toContain(metricOfAlarm(looked));

      if (lasts) {
        await ticks(periodsLookedAt(looked) + 1);
        expect(on(), 'after more ticks').toContain(name);
        watch.pass(4 * every);
        expect(on(), 'after lost ticks').toContain(name);
      }
      await ends?.();
      watch.pass(looked.Period * periodsLookedAt(looked));
      if (name === 'NoCompletedTick') await ticks(1);
      expect(on(), 'in silence').toEqual(name === 'NoCompletedTick' ? [] : ['NoCompletedTick']);
    },
  );

  it('use periods that each have a tick', () => {
    for (const [name, { Namespace, Period }] of alarms)
      if (Namespace === 'CertificationNotifier')
        expect({ name, rest: Period % every }).toEqual({ name, rest: 0 });
  });
});

it('all alarms of the stack end with silence, except the one about silence', () => {
  watch.pass(86_400);
  expect(on()).toEqual(['NoCompletedTick']);
});
