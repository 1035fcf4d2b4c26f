import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { commandRecord } from '../../lambda/ports/command-record.ts';
import { commands } from '../../ops/commands/index.ts';
import { Duty } from '../ops/duty.ts';
import { Visitor } from './visitor.ts';

const duty = new Duty();
const { stage } = duty;
beforeAll(async () => {
  await duty.build({ integration: { holdAbove: 2 } });
  await duty.raise();
  await stage.completedTick();
});
afterAll(async () => {
  await duty.strike();
  await duty.dismantle();
});

const recorded = z.object({
  result: z.tuple([z.object({ history: z.array(commandRecord) })]),
});

/** More at once than is announced unasked. */
async function flood(day: string): Promise<void> {
  for (let count = 0; count < 3; count += 1)
    stage.sandbox.world.add({ organization_id: stage.filtered, certified_on: day });
  expect(await stage.completedTick()).toMatchObject({ held: 3 });
}

interface Change {
  readonly fields: Readonly<Record<string, string>>;
  /** What the form asks before it does it. */
  readonly asks?: RegExp;
  readonly before?: () => Promise<void>;
  /** As the history has it; absent: under its own name. */
  readonly as?: string;
}

/** In this order, each as its form is filled in. */
const changes = (): Readonly<Record<string, Change>> => ({
  pause: { fields: { reason: 'maintenance' } },
  resume: { fields: {} },
  tick: { fields: {} },
  'test-event': { fields: {} },
  prove: { fields: { from: '2019-05-06', to: '2019-05-06', now: 'on' } },
  release: { before: () => flood('2019-05-07'), fields: {}, asks: /Release 3 events\?/ },
  discard: { before: () => flood('2019-05-08'), fields: {}, asks: /of 3 events\?/ },
  replay: { fields: { from: '2019-05-07', to: '2019-05-07' } },
  // Nothing is missing, so it changes nothing.
  'accept-total': { fields: { total: '1' }, asks: /Take 1 as the right total/ },
  'credentials set': {
    fields: {
      client_id: stage.sandbox.credentials.clientId,
      client_secret: stage.sandbox.credentials.clientSecret,
    },
    as: 'credentials-stored',
  },
  baseline: { fields: { restart: 'on' }, as: 'restart-baseline' },
});

/** What the daily self-check writes, too, and no decision of anybody. */
const notRecorded = ['check'];

it('does each command that changes something, on record with who gave it', async () => {
  const changing = commands.flatMap((one) => (one.changes ? [one.usage] : []));
  expect(changing.toSorted()).toEqual([...Object.keys(changes()), ...notRecorded].toSorted());
  await using visitor = await Visitor.at(duty);
  for (const [usage, { before, fields, asks, as = usage }] of Object.entries(changes)) {
    await before?.();
    const { path, text } = await visitor.sends(
      `i/district-a/commands/${usage.replaceAll(' ', '-')}`,
      fields,
    );
    if (asks) {
      const run = /action="(i\/district-a\/runs\/[^"]+)"/.exec(text)?.[1] ?? '';
      await visitor.sees(run, asks);
      await visitor.sends(run, { answer: 'yes' });
    }
    await visitor.sees(path, /It has ended/);
    const [{ history }] = recorded.parse(await duty.json('status --history')).result;
    const newest = history.find(({ command }) => command === as);
    expect(newest, usage).toMatchObject({
      by: expect.stringMatching(/^arn:aws:/),
      outcome: { ok: true },
    });
  }
}, 60_000);
