import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { systemClock } from '../../lambda/clock.ts';
import type { CertificationEvent } from '../../lambda/events/event.ts';
import { Faults } from '../../local/provoking/faults.ts';
import { Provoker } from '../../local/provoking/provoker.ts';
import { Seen } from '../../local/seen.ts';
import { Visitor } from '../console/visitor.ts';
import { Duty } from '../ops/duty.ts';
import { type DeploymentConfig, integration, queues } from '../scaffold/deployment.ts';

/** Events of one assessment that repeat an earlier event under another id. */
function toldTwice(events: readonly CertificationEvent[]): readonly string[] {
  const all = [...new Map(events.map((event) => [event.id, event])).values()];
  all.sort((a, b) => Number(a.sequence) - Number(b.sequence));
  return all.flatMap(({ id, subject, type, data }, at) => {
    const before = all.slice(0, at).findLast((one) => one.subject === subject);
    const isSame =
      type === before?.type && isDeepStrictEqual(data.assessment, before.data.assessment);
    return isSame ? [id] : [];
  });
}

/** A deployment whose console can provoke failures, raised again for each test. */
export function provokedEach(config: DeploymentConfig) {
  const duty = new Duty();
  const { stage } = duty;
  let faults: Faults;
  let provoker: Provoker;
  let visitor: Visitor;
  let seen: Seen;
  let told: readonly CertificationEvent[];

  /** Runs one tick. @returns its result, and the new events of the subscriber to everything */
  async function tick() {
    const result = await stage.tick();
    const outcome = result.outcome === 'returned' ? Object(result.payload).outcome : 'failed';
    const isExplained = provoker.ended(integration, outcome);
    const events = await stage.events(queues.everything);
    for (const event of events) provoker.hears(event);
    told = [...told, ...events];
    return { outcome, isExplained, events };
  }

  beforeAll(() => duty.build(config));
  afterAll(() => duty.dismantle());
  beforeEach(async () => {
    await duty.raise();
    told = [];
    faults = new Faults();
    const open = await faults.open({ ...stage.aws.endpoints, kms: '' });
    // These are behind the deployment's gates, which the functions call.
    stage.dynamodb.target = open.dynamodb;
    stage.sns.target = open.sns;
    const { aws, sandbox, poll, operate } = stage;
    const clock = systemClock;
    seen = new Seen({ clock, isReal: false });
    const changed = () => seen.changed();
    const parts = { aws, faults, clock, changed };
    provoker = new Provoker([{ integration, sandbox, poll, operate }], parts);
    seen.provoking = provoker;
    await tick();
    await tick();
    visitor = await Visitor.at(duty, seen);
  });
  afterEach(async () => {
    await visitor[Symbol.asyncDispose]();
    // A function that was misled by a provocation must not stay warm.
    await stage.poll.kill();
    await stage.operate.kill();
    await duty.strike();
    await faults[Symbol.asyncDispose]();
  });

  // This holds after each provocation.
  afterEach(() => expect(toldTwice(told)).toEqual([]));

  const provocation = (name: string) => `provoke/${integration}/${name}`;
  return {
    duty,
    stage,
    tick,
    provocation,
    provoke: (name: string) => visitor.sends('provoke', {}, provocation(name)),
    tally: () => provoker.tally(integration),
    get failedTicks() {
      return provoker.failedTicks;
    },
    get visitor() {
      return visitor;
    },
    get seen() {
      return seen;
    },
  };
}
