import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { type CommandName, definitions } from '../../lambda/operations/contract.ts';
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

/** More certifications at once than the limit. */
async function flood(day: string): Promise<void> {
  for (let count = 0; count < 3; count += 1)
    stage.sandbox.world.add({ organization_id: stage.filtered, certified_on: day });
  expect(await stage.completedTick()).toMatchObject({ held: 3 });
}

interface Change {
  readonly fields: Readonly<Record<string, string>>;
  /** The question of the form. */
  readonly asks?: RegExp;
  readonly before?: () => Promise<void>;
  /** The command's name in the history, if it differs. */
  readonly as?: CommandName;
}

/** The commands in this order, with the filled fields of their forms. */
const changes = (): Readonly<Record<string, Change>> => ({
  pause: { fields: { reason: 'maintenance' } },
  resume: { fields: {} },
  tick: { fields: {} },
  'test-event': { fields: {} },
  prove: { fields: { from: '2019-05-06', to: '2019-05-06', now: 'on' } },
  release: { before: () => flood('2019-05-07'), fields: {}, asks: /Release 3 events\?/ },
  discard: { before: () => flood('2019-05-08'), fields: {}, asks: /of 3 events\?/ },
  replay: { fields: { from: '2019-05-07', to: '2019-05-07' } },
  // Nothing is missing, so this changes nothing.
  'accept-total': { fields: { total: '1' }, asks: /Take 1 as the right total/ },
  'credentials set': {
    fields: {
      client_id: stage.sandbox.credentials.clientId,
      client_secret: stage.sandbox.credentials.clientSecret,
    },
    as: 'credentials-stored',
  },
  baseline: {
    fields: { restart: 'on' },
    asks: /Read everything of district-a anew\?/,
    as: 'restart-baseline',
  },
  check: { fields: { note: 'on' } },
});

const history = async () => {
  const [{ history }] = recorded.parse(await duty.json('status --history')).result;
  return history;
};

/** Fills in the form of a command, and confirms it. */
async function given(visitor: Visitor, usage: string, { fields, asks }: Change): Promise<void> {
  const form = `i/district-a/commands/${usage.replaceAll(' ', '-')}`;
  const { path, text } = await visitor.sends(form, fields);
  if (asks) {
    const run = /action="(i\/district-a\/runs\/[^"]+)"/.exec(text)?.[1] ?? '';
    await visitor.sees(run, asks);
    await visitor.sends(run, { answer: 'yes' });
  }
  await visitor.sees(path, /It has ended\./);
}

it('each command that changes data is carried out, on record with its caller', async () => {
  const all = Object.entries(changes());
  const changing = commands.flatMap(({ usage, changes }) => (changes ? [usage] : []));
  expect(changing.toSorted()).toEqual(all.map(([usage]) => usage).toSorted());
  await using visitor = await Visitor.at(duty);
  const expected: object[] = [];
  for (const [usage, change] of all) {
    await change.before?.();
    await given(visitor, usage, change);
    expected.unshift({
      command: change.as ?? usage,
      by: expect.stringMatching(/^arn:aws:/),
      outcome: { ok: true },
    });
    expect(await history(), usage).toMatchObject(expected);
  }
  const names = (await history()).map(({ command }) => command);
  const recording = Object.entries(definitions).flatMap(([name, one]) =>
    one.changes ? [name] : [],
  );
  expect(names.toSorted()).toEqual(recording.toSorted());
}, 60_000);
