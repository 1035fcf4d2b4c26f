import { describe, expect, it } from 'vitest';
import type { Integration } from '../scaffold/integration.ts';
import { announced, desk, flooded, json, me } from './desk.ts';

const duty = desk();
const untilWhen = '{"until":"2999-01-01T00:00:00Z","waiting":"held"}';
const days = '--from 2026-11-18 --to 2026-11-20';

/** The past of a command: announced or held events, a pause, a partner that fails. */
const pasts = {
  sent: announced,
  held: flooded,
  paused: async (story: Integration) => {
    await flooded(story);
    await story.operate({ command: 'pause', by: me, reason: 'maintenance' });
    story.clock.advance({ seconds: 1 });
  },
  restarted: async (story: Integration) => {
    await pasts.paused(story);
    await story.operate({ command: 'restart-baseline', by: me });
  },
  down: async (story: Integration) => {
    await announced(story);
    story.host.fault = { status: 503 };
  },
  spoiled: async (story: Integration) => {
    await announced(story);
    story.host.spoil(13);
    await story.operate({ command: 'prove', from: '2026-11-20', to: '2026-11-20', now: true });
  },
};
type Past = keyof typeof pasts;
type Exit = 0 | 1 | 2 | 3 | 4 | 5;

it.each<[Past, args: string, Exit, said: RegExp, onRecord?: string]>([
  ['sent', 'status --exit-code', 0, /^district-\d+ {2}up to date\n/],
  ['sent', 'explain 11', 0, / announced: SNS has accepted its last event\n/],
  ['sent', 'explain 999999', 3, /^assessment 999999 {2}unknown here and to the partner/],
  ['sent', `prove ${days}`, 0, /\ncomplete: 3 of 3 days proven, 6 certifications\n$/],
  ['sent', `prove ${days} --csv`, 0, /^day,count,since,.*\n(2026-11-\d\d,.*\n){3}$/],
  ['sent', `prove ${days} --csv --bom`, 0, /^\uFEFFday,count,since,/],
  ['sent', `prove ${days} --now`, 0, /\ncomplete: 3 of 3 days/, 'prove'],
  ['sent', 'events --type created --all', 0, /\n\n3 events\n$/],
  ['sent', 'events --organization 8', 0, /^No event of these days matches\.\n$/],
  ['sent', 'events --assessment Juggling', 0, /^No event of these days matches\.\n$/],
  ['sent', 'events --delivery held', 0, /^No event of these days matches\.\n$/],
  ['sent', 'events --late', 0, /^No event of these days matches\.\n$/],
  ['sent', 'replay --all --dry-run', 0, /^3 events would be sent: .*\n.*\n {2}3 {2}never/],
  ['sent', 'replay --all', 0, /^3 events sent: 3 created\nnot sent:\n/, 'replay'],
  ['sent', 'replay --all --baseline', 0, /^6 events sent: 6 created\n$/, 'replay'],
  ['sent', 'replay --id 11,999', 3, /^1 event sent: .*\n.*\n {2}1 {2}not known/, 'replay'],
  ['sent', 'replay --type updated', 0, /^0 events sent\n$/, 'replay'],
  ['sent', 'test-event --organization 7', 0, /^accepted {2}district-\d+\/test/, 'test-event'],
  ['sent', 'accept-total 3 --yes', 0, /^There is nothing to acc.* 6, 6 were/, 'accept-total'],
  ['sent', 'tick', 0, /^tick +completed\n/, 'tick'],
  ['sent', 'resume', 0, /^It was not paused\.\n$/, 'resume'],
  ['sent', 'pause --reason moves', 0, /^paused\n/, 'pause'],
  ['sent', 'holds', 0, /^Nothing is held\.\n$/],
  ['sent', 'baseline --restart --yes', 0, /^The next ticks read .*anew/, 'restart-baseline'],
  ['sent', 'baseline --restart', 2, /Nobody is there to confirm/],
  ['held', 'status --exit-code', 1, / {2}not up to date: a flood of changes is held\n/],
  ['held', 'holds --list --year 2019', 0, /( +2[123] +1 +created .* EST\n){3}New .*\n\n.*--year/],
  ['held', 'holds --organization 7', 0, /release --organization 7 --stack prod\n/],
  ['held', 'holds --organization 1', 0, /none of them matches\.\nNew .* too, .* --for 1h\.\n$/],
  ['held', 'holds --undeliverable', 0, /^Nothing is undeliverable\.\n$/],
  ['held', 'discard --id 9', 0, /^3 events held, and none of them matches\.\n/],
  ['held', 'release', 2, /3 events held(.|\n)* Give --yes/],
  ['held', 'discard', 2, /3 events held(.|\n)* Give --yes/],
  ['held', `discard --next ${untilWhen}`, 2, /Give --yes/],
  ['held', 'discard --yes --next {}', 2, /does not say until when/],
  ['held', `discard --yes --year 2018 --next ${untilWhen}`, 2, /'--year <years>'/],
  ['held', 'accept-total 0', 2, /may also come from a broken host(.|\n)*Give --yes/],
  ['held', 'release --yes', 0, /3 events released: 3 created\n$/, 'release'],
  ['held', 'release --yes --digest', 0, /3 events released to people only: 3/, 'release'],
  ['held', 'release --yes --for 12h', 0, /\nNothing new is held .* \(in 1[12] h/, 'release'],
  ['held', 'discard --yes --year 2019', 0, / discarded: 3 created\nNew .* too, .*\n$/, 'discard'],
  ['held', `discard --yes --next ${untilWhen}`, 0, /^3 events discarded: 3/, 'discard'],
  ['paused', 'status --exit-code', 1, /paused since .* EST by arn:.*: maintenance; a flood/],
  ['paused', 'status', 0, /to do .* npx certification-notifier resume --stack prod --integ/],
  ['paused', 'pause --reason more', 0, /^It is paused since .*: maintenance \(as it was/, 'pause'],
  ['paused', 'tick', 0, /^tick +did nothing: the integration is paused\n/, 'tick'],
  ['paused', 'explain 999999', 4, / in the way +paused since /],
  ['paused', 'resume', 0, /^resumed\n$/, 'resume'],
  ['paused', 'release --yes', 0, /\nTakes effect after resume: .*: maint/, 'release'],
  ['paused', `prove ${days} --now`, 4, /^error: .* is paused\.\n(?!.*--next)/, 'prove'],
  ['paused', 'baseline --follow', 0, /^baseline {2}completed: \d certifications\n$/],
  ['restarted', 'baseline --follow', 1, /^baseline .*\nTakes effect after .* since .*: mainten/],
  ['down', 'status --exit-code', 1, /the partner does not answer/],
  ['down', 'explain 999999', 5, / partner now +gives no answer: .*status 503/],
  ['down', 'baseline', 0, /completed: 6 certifications\nThe partner gives no total: .*status 503/],
  ['down', 'replay --all', 5, /^error: No usable answer from .*: status 503\./, 'replay'],
  ['spoiled', `prove ${days}`, 1, /^2026-11-20 .*unproven/m],
  ['spoiled', `prove ${days} --csv`, 1, /\n2026-11-20,.*,unproven,/],
])('%s: %s ends with %i, and says %s', async (past, args, exitCode, said, onRecord) => {
  await duty.begin(pasts[past]);
  const before = (await duty.history()).length;
  const heard = duty.story.heard.length;
  const { stdout, stderr, ...ended } = await duty.run(args);
  expect(stderr + stdout).toMatch(said);
  expect(ended).toEqual({ exitCode });
  const recorded = (await duty.history()).toReversed().slice(before);
  expect(recorded).toMatchObject(onRecord === undefined ? [] : [{ command: onRecord, by: me }]);
  if (onRecord === undefined) expect(duty.story.heard).toHaveLength(heard);
});

describe('a command of several calls', () => {
  const none = { created: 0, updated: 0, withdrawn: 0, restored: 0 };
  const at = '2026-11-21T07:00:00Z';
  const row = { revision: 1, type: 'created', since: at, organization_id: 7, year: 2019 };
  const list = [1, 2, 3].map((id) => ({ ...row, id }));
  const counted = { at, organizationNames: {}, unreadable: 0, list };
  const decided = { events: 1, byType: none, freed: 0, undone: 0, behind: 0, unreadable: 0 };
  const proven = { days: [], found: none, toRead: 0 };
  const replayed = { dryRun: false, events: 1, byType: none, skipped: {} };
  const ofDecision = { next: { command: 'discard', until: at } };
  const ofProof = { next: { command: 'prove', from: '2026-11-18', to: '2026-11-20' } };
  const ofReplay = { next: { command: 'replay', days: {}, after: '2026-11-05/1' } };
  const proofs = [3, 1].map((toRead) => ({ ...proven, toRead, ...ofProof }));
  const november = '--from 2026-11-02 --to 2026-11-11';

  it.each<[args: string, shown: string, results: object[]]>([
    ['discard --yes', '33 %  1 of 3 events', [counted, { ...decided, ...ofDecision }, decided]],
    [`prove ${days} --now`, '66 %  2 of 3 days', [...proofs, proven]],
    [`replay ${november}`, '33 %  3 of 9 days', [{ ...replayed, ...ofReplay }, replayed]],
  ])('shows the share done: %s, %s', async (args, shown, results) => {
    const replies = [...results];
    duty.lambda.always(async () => {
      duty.story.clock.advance({ seconds: 5 });
      return json(200, { ok: true, result: replies.shift() });
    });
    const program = duty.start(args, { isTTY: true });
    expect(await program.ended).toMatchObject({ exitCode: 0 });
    expect(program.errors.text).toContain(shown);
  });

  it.each(['release', 'discard'])('covers the counted events, and none since: %s', async (name) => {
    const calls = duty.answers(counted, decided);
    expect(await duty.json(`${name} --yes`)).toMatchObject({ result: { events: 1 } });
    expect(JSON.parse(calls[1]?.body ?? '')).toMatchObject({ command: name, until: at });
  });
});
