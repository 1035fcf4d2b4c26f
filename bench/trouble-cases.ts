import { startPartnerSandbox } from '../local/partner-sandbox/index.ts';
import { ManualClock } from '../test/scaffold/clock.ts';
import type { Arena } from './arena.ts';
import { addOn, minutesOf } from './cases.ts';
import type { AwsReady } from './child.ts';
import { happened, rowsOf, type ScoreRow, together } from './score.ts';
import { now, timeZone, today } from './settings.ts';
import { Subscriber, topicsOf } from './subscriber.ts';
import { createTicker, type TickerOptions } from './ticker.ts';

/** Runs our ticks, one a minute. */
export async function minutes({ ticker, clock }: Arena, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) {
    await ticker.tick();
    clock.advance({ minutes: 1 });
  }
}

/** A pulse, two for the history, and one for the recent window in a quarter of an hour. */
const mostPerMinute = 3.1;

/** Changes e-mail addresses at random in the history. Neither the total nor the newest page shows that. */
export async function historyEdits(
  arena: Arena,
  label: string,
  edits: number,
): Promise<ScoreRow[]> {
  const list = (offset: number) =>
    arena.ticker.client.list({ sort: 'certified_on', order: 'ASC', page: 1, offset });
  const { count } = (await list(0)).meta;
  const edited: number[] = [];
  for (let n = 0; n < edits; n++) {
    const { assessments } = await list(Math.floor(((n + 0.5) * count) / edits));
    for (const { id } of assessments) edited.push(id);
  }
  const set = { email: 'changed@example.org' };
  for (const id of edited) await arena.control('POST', `/assessments/${id}/spoil`, { set });
  const hour = together(await minutesOf(arena, 60));
  // An hour has five or six batches of audits.
  const longer = await arena.measure('ours', () => minutes(arena, 120));
  const perMinute = ((hour.get('ours')?.requests ?? 0) + longer.requests) / 180;
  const name = `${edits} edits anywhere in a history of ${label}, an hour`;
  return rowsOf(name, edited.map(happened('updated')), hour, {
    text: '≤ 3 requests a minute (the recent window apart), found within the hour',
    isMet: () => perMinute <= mostPerMinute,
    further: { 'requests a minute, in three hours': Number(perMinute.toFixed(2)) },
  });
}

/** Ticks that die as soon as SNS has answered a few times, while so many events wait. */
export async function crashLoop(arena: Arena, events: number, deaths: number): Promise<ScoreRow[]> {
  const { aws, clock, name: world, partner } = arena;
  const subscriber = await Subscriber.to(`${world}-deaths`, aws);
  const topics = { ...arena.topics, events: subscriber.topic };
  const options = { partner, world, clock, aws, topics };
  const ids = await addOn(arena, today, events);
  const began = performance.now();
  await arena.control('DELETE', '/requests');
  for (let death = 0; death < deaths; death++) {
    await dieAt(2 + (death % 3), options);
    // The lease of the dead tick runs out.
    clock.advance({ minutes: 2 });
  }
  const ticker = createTicker(options);
  const { undelivered } = await ticker.tick();
  const heard = await subscriber.heard();
  const requests = await arena.requests();
  const measured = { ...ticker.meter.take(), requests, ms: performance.now() - began, heard };
  await ticker.close();
  subscriber.close();
  const repeated = heard.length - new Set(heard.map(({ id }) => id)).size;
  const most = 10 * deaths;
  const name = `${deaths} deaths while ${events} events are delivered`;
  return rowsOf(name, ids.map(happened('created')), new Map([['ours', measured]]), {
    text: `≤ ${most} events sent twice, nothing owed after the next tick`,
    isMet: () => repeated <= most && undelivered === 0,
    further: { 'events sent twice': repeated },
  });
}

/** A tick in its own instance, which stops after so many answers of SNS. */
async function dieAt(answers: number, options: TickerOptions): Promise<void> {
  const ticker = createTicker(options);
  const { sns, dynamodb } = ticker.meter;
  const death = Promise.withResolvers<undefined>();
  let left = answers;
  const never = () => new Promise<never>(() => undefined);
  sns.middlewareStack.add(
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
  dynamodb.middlewareStack.add((next) => (args) => (left > 0 ? next(args) : never()), {
    step: 'initialize',
  });
  await Promise.race([ticker.tick(), death.promise]);
  await ticker.close();
}

/** The first sync at a host that answers so many requests a minute, and refuses more with 429, without Retry-After. */
export async function slowPartner(
  aws: AwsReady,
  records: number,
  requestsPerMinute: number,
): Promise<ScoreRow> {
  const clock = new ManualClock(now);
  const wanted = { records, until: today, timeZone, clock, requestsPerMinute };
  const sandbox = await startPartnerSandbox(wanted);
  const people = await Subscriber.to('slow', aws);
  const partner = { url: sandbox.url, credentials: sandbox.credentials };
  const topics = topicsOf(people, people);
  const ticker = createTicker({ partner, world: 'slow', clock, aws, topics });
  const began = performance.now();
  const least = Math.ceil(records / 100) / requestsPerMinute;
  let minutes = 0;
  for (; minutes < 10 * least; minutes++) {
    await ticker.tick();
    if ((await ticker.ledger.state()).baseline.status === 'completed') break;
    clock.advance({ minutes: 1 });
  }
  const requests = sandbox.requests.filter(({ path }) => path.startsWith('/api/')).length;
  const measured = { ...ticker.meter.take(), requests, ms: performance.now() - began };
  await ticker.close();
  await sandbox.close();
  people.close();
  return {
    case: `baseline of ${records.toLocaleString('en')} at ${requestsPerMinute} requests a minute`,
    contender: 'ours',
    measured,
    further: { minutes, 'minutes that the least requests take': Number(least.toFixed(1)) },
    target: { text: '≤ 1.5 × these minutes, no tick fails', passed: minutes <= 1.5 * least },
  };
}
