import { expect, it } from 'vitest';
import { sharedSeen } from '../../../lambda/decisions/tokens.ts';
import { defaultSwitches } from '../../../local/partner-sandbox/switches.ts';
import { dispatcherTo, MemoryPartner } from '../../scaffold/partner.ts';
import { Random } from '../../simulation/random.ts';
import { Timeline } from '../../simulation/timeline.ts';

const minutes = 10;

/** So many requests, each so many milliseconds. */
type User = readonly [requests: number, everyMs: number];

/** The most ticks in a row that a user could not end. */
async function worstOf(users: readonly User[], seed: number): Promise<number> {
  const timeline = new Timeline('2026-11-21T08:00:00Z');
  const host = new MemoryPartner(timeline);
  host.switches = { ...defaultSwitches, oneToken: true };
  const beganMs = timeline.nowMs;
  const worst = users.map(async ([requests, everyMs], user) => {
    const random = Random.of(seed, `user ${user}`);
    const way = () => 50 * (0.7 + 0.6 * random.next());
    const dispatcher = dispatcherTo(async (request, signal) => {
      await timeline.sleep(way(), signal);
      const answer = await host.respond(request, signal);
      await timeline.sleep(way(), signal);
      return answer;
    });
    const client = host.client({ dispatcher, random: () => random.next() });
    let [failed, most] = [0, 0];
    for (let times = 0; times * everyMs < minutes * 60_000; times++) {
      await timeline.sleep(Math.max(0, beganMs + times * everyMs - timeline.nowMs));
      const deadline = timeline.now().add({ seconds: 45 });
      const work = async () => {
        for (let n = 0; n < requests; n++) await client.list({}, { deadline });
      };
      failed = await work().then(
        () => 0,
        () => failed + 1,
      );
      most = Math.max(most, failed);
    }
    expect(sharedSeen(client.pace, timeline.nowMs)).toMatchObject({
      'credentials-shared': { number: 1 },
    });
    return most;
  });
  return Math.max(...(await timeline.until(Promise.all(worst))));
}

const tick = (requests: number): User => [requests, 60_000];
/** Somebody who asks for the total time and again. */
const page: User = [1, 10_000];

it.each<[string, string, users: User[], most: number]>([
  ['two', 'always get', [tick(10), tick(10)], 0],
  ['two', 'always get', [tick(100), tick(100)], 0],
  ['two', 'always get', [tick(100), page], 0],
  ['four', 'get, within five ticks,', Array<User>(4).fill(tick(10)), 4],
])('%s users of one set of credentials %s their work done: %j', async (...row) => {
  const [, , users, most] = row;
  for (const seed of [1, 2]) expect(await worstOf(users, seed)).toBeLessThanOrEqual(most);
});
