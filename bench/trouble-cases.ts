import * as z from 'zod';
import { startPartnerSandbox } from '../local/partner-sandbox/index.ts';
import { ManualClock } from '../test/scaffold/clock.ts';
import { type Arena, contenders, type Measured } from './arena.ts';
import type { AwsReady } from './child.ts';
import { Meter } from './meter.ts';
import { isFaultless, type ScoreRow, scoreOf, sumOf } from './score.ts';
import { now, timeZone, today } from './settings.ts';
import { Subscriber } from './subscriber.ts';
import { createTicker, type TickerOptions } from './ticker.ts';

/** Runs our ticks, one a minute. */
export async function minutes(arena: Arena, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) {
    await arena.run('ours');
    arena.clock.advance({ minutes: 1 });
  }
}

/** Changes e-mail addresses at random in the history. Neither the total nor the newest page shows that. */
export async function historyEdits(
  arena: Arena,
  label: string,
  edits: number,
): Promise<ScoreRow[]> {
  const before = await arena.ticker.client.list({ sort: 'certified_on', order: 'ASC', page: 1 });
  const { count } = before.meta;
  const edited: number[] = [];
  for (let n = 0; n < edits; n++) {
    const offset = Math.floor(((n + 0.5) * count) / edits);
    const page = await arena.ticker.client.list({ sort: 'certified_on', page: 1, offset });
    for (const { id } of page.assessments) edited.push(id);
  }
  for (const id of edited)
    await arena.control('POST', `/assessments/${id}/spoil`, {
      set: { email: 'changed@example.org' },
    });
  const truth = edited.map((id) => ({ type: 'certification.updated', subject: String(id) }));
  const runs = new Map(contenders.map((contender) => [contender, [] as Measured[]] as const));
  for (let minute = 0; minute < 60; minute++) {
    for (const contender of contenders) runs.get(contender)?.push(await arena.measure(contender));
    arena.clock.advance({ minutes: 1 });
  }
  // An hour has five or six batches of audits.
  const longer = await arena.measure('ours', () => minutes(arena, 120));
  return contenders.map((contender) => {
    const measured = sumOf(runs.get(contender) ?? []);
    const score = scoreOf(truth, measured.heard);
    const perMinute = (measured.requests + longer.requests) / 180;
    const passed = perMinute <= mostPerMinute && isFaultless(score);
    return {
      case: `${edits} edits anywhere in a history of ${label}, an hour`,
      contender,
      measured,
      score,
      ...(contender === 'ours' && {
        further: { 'requests a minute, in three hours': Number(perMinute.toFixed(2)) },
        target: {
          text: '≤ 3 requests a minute (the recent window apart), found within the hour',
          passed,
        },
      }),
    };
  });
}

/** A pulse, two for the history, and one for the recent window in a quarter of an hour. */
const mostPerMinute = 3.1;

/** Ticks that die as soon as SNS has answered a few times, while so many events wait. */
export async function crashLoop(
  arena: Arena,
  aws: AwsReady,
  events: number,
  deaths: number,
): Promise<ScoreRow> {
  const { clock, name: world, partner } = arena;
  const observer = new Meter(aws);
  const subscriber = await Subscriber.to(`${world}-deaths`, observer.sns, aws.messaging);
  const topics = { ...arena.topics, events: subscriber.topic };
  const options = { partner, world, clock, table: aws.table, topics };
  const added = z
    .object({ ids: z.array(z.int()) })
    .parse(await arena.control('POST', '/assessments', { count: events, certified_on: today }));
  const began = performance.now();
  await arena.control('DELETE', '/requests');
  for (let death = 0; death < deaths; death++) {
    await dieAt(2 + (death % 3), options, new Meter(aws));
    // The lease of the dead tick runs out.
    clock.advance({ minutes: 2 });
  }
  const { dynamodb, sns } = observer;
  const ticker = createTicker({ ...options, dynamodb, sns });
  observer.take();
  const { undelivered } = await ticker.tick();
  const heard = await subscriber.heard();
  const requests = await arena.requests();
  const measured = { ...observer.take(), requests, ms: performance.now() - began };
  await ticker.close();
  subscriber.close();
  observer.close();
  const score = scoreOf(
    added.ids.map((id) => ({ type: 'certification.created', subject: String(id) })),
    heard,
  );
  const repeated = heard.length - new Set(heard.map(({ id }) => id)).size;
  const most = 10 * deaths;
  return {
    case: `${deaths} deaths while ${events} events are delivered`,
    contender: 'ours',
    measured,
    score,
    further: { 'events sent twice': repeated },
    target: {
      text: `≤ ${most} events sent twice, nothing owed after the next tick`,
      passed: repeated <= most && undelivered === 0 && isFaultless(score),
    },
  };
}

/** A tick in its own instance, which stops after so many answers of SNS. */
async function dieAt(
  answers: number,
  options: Omit<TickerOptions, 'dynamodb' | 'sns'>,
  meter: Meter,
): Promise<void> {
  const death = Promise.withResolvers<undefined>();
  let left = answers;
  const never = () => new Promise<never>(() => undefined);
  meter.sns.middlewareStack.add(
    (next) => async (args) => {
      if (left <= 0) return never();
      const answer = await next(args);
      left -= 1;
      if (left > 0) return answer;
      death.resolve(undefined);
      return never();
    },
    { step: 'initialize' },
  );
  meter.dynamodb.middlewareStack.add((next) => (args) => (left > 0 ? next(args) : never()), {
    step: 'initialize',
  });
  const ticker = createTicker({ ...options, dynamodb: meter.dynamodb, sns: meter.sns });
  await Promise.race([ticker.tick(), death.promise]);
  await ticker.close();
  meter.close();
}

/** The first sync at a host that answers so many requests a minute, and refuses more with 429, without Retry-After. */
export async function slowPartner(
  aws: AwsReady,
  records: number,
  requestsPerMinute: number,
): Promise<ScoreRow> {
  const clock = new ManualClock(now);
  const sandbox = await startPartnerSandbox({
    records,
    until: today,
    timeZone,
    clock,
    requestsPerMinute,
  });
  const meter = new Meter(aws);
  const quiet = await Subscriber.to('slow', meter.sns, aws.messaging);
  const topics = { events: quiet.topic, alerts: quiet.topic, operations: quiet.topic };
  const { dynamodb, sns } = meter;
  const partner = { url: sandbox.url, credentials: sandbox.credentials };
  const ticker = createTicker({
    ...{ partner, world: 'slow', clock, dynamodb, sns, table: aws.table, topics },
  });
  const began = performance.now();
  const least = Math.ceil(records / 100) / requestsPerMinute;
  let minutes = 0;
  for (; minutes < 10 * least; minutes++) {
    await ticker.tick();
    if ((await ticker.ledger.state()).baseline.status === 'completed') break;
    clock.advance({ minutes: 1 });
  }
  const requests = sandbox.requests.filter(({ path }) => path.startsWith('/api/')).length;
  const measured = { ...meter.take(), requests, ms: performance.now() - began };
  await ticker.close();
  await sandbox.close();
  quiet.close();
  meter.close();
  return {
    case: `baseline of ${records.toLocaleString('en')} at ${requestsPerMinute} requests a minute`,
    contender: 'ours',
    measured,
    further: { minutes, 'minutes that the least requests take': Number(least.toFixed(1)) },
    target: { text: '≤ 1.5 × these minutes, no tick fails', passed: minutes <= 1.5 * least },
  };
}
