import { expect, it } from 'vitest';
import { sharedSeen } from '../../../lambda/decisions/tokens.ts';
import { defaultSwitches } from '../../../local/partner-sandbox/switches.ts';
import { dispatcherTo, MemoryPartner } from '../../scaffold/partner.ts';
import { Random } from '../../simulation/random.ts';
import { Timeline } from '../../simulation/timeline.ts';

const minutes = 10;

/** The most ticks in a row that a user could not end. */
async function worstOf(users: number, requests: number, seed: number): Promise<number> {
  const timeline = new Timeline('2026-11-21T08:00:00Z');
  const host = new MemoryPartner(timeline);
  host.switches = { ...defaultSwitches, oneToken: true };
  const beganMs = timeline.nowMs;
  const worst = Array.from({ length: users }, async (_, user) => {
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
    for (let minute = 0; minute < minutes; minute++) {
      await timeline.sleep(Math.max(0, beganMs + minute * 60_000 - timeline.nowMs));
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

it.each([
  ['two', 'always get', 2, 1, 0],
  ['two', 'always get', 2, 10, 0],
  ['two', 'always get', 2, 100, 0],
  ['four', 'get, within five ticks,', 4, 1, 4],
  ['four', 'get, within five ticks,', 4, 10, 4],
])('%s users of one set of credentials %s their work done: %i × %i requests', async (...row) => {
  const [, , users, requests, most] = row;
  for (const seed of [1, 2]) expect(await worstOf(users, requests, seed)).toBeLessThanOrEqual(most);
});
