import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import type { ResultOf } from '../../../lambda/commands/contract.ts';
import { detectionTimes, type Reason } from '../../../lambda/commands/status.ts';
import { acceptTotalLines } from '../../../ops/commands/accept-total.ts';
import { tickLines } from '../../../ops/commands/tick.ts';
import { verdictOf } from '../../../ops/listening/verdict.ts';
import { baselineLines, restartBaselineLines } from '../../../ops/render/baseline.ts';
import { checkLines } from '../../../ops/render/check.ts';
import { eventsCsv, eventsLines } from '../../../ops/render/events.ts';
import { explainLines } from '../../../ops/render/explain.ts';
import {
  countedEvents,
  decidedLines,
  decidedSum,
  holdsLines,
  holdsSum,
} from '../../../ops/render/holds.ts';
import type { View } from '../../../ops/render/layout.ts';
import { attemptLine, tallyLines } from '../../../ops/render/listen.ts';
import { countedCertificate, proveCsv, proveLines, proveSum } from '../../../ops/render/prove.ts';
import { type AdvisedStatus, statusLines } from '../../../ops/render/status.ts';
import { eventGist, eventLine, noticeLine, tickLine } from '../../../ops/render/watch.ts';
import { event } from '../../consumer/events.ts';
import { tickSettings } from '../../scaffold/settings.ts';

const view: View = {
  now: Temporal.Instant.from('2026-11-21T16:05:20Z'),
  zone: 'America/New_York',
  paint: (_tone, text) => text,
};
const text = (lines: readonly string[]) => `${lines.join('\n')}\n`;
/** Compares a screen with the approved one. */
const isApproved = (name: string, lines: readonly string[]) =>
  expect(text(lines)).toMatchFileSnapshot(
    fileURLToPath(new URL(`../approved/render/${name}.txt`, import.meta.url)),
  );

const noChanges = { created: 0, updated: 0, withdrawn: 0, restored: 0 };
const well: AdvisedStatus = {
  ...{ at: '2026-11-21T16:05:20Z', lastTick: '2026-11-21T16:05:08Z' },
  settings: {
    ...{ integration: 'district-a', baseUrl: 'https://partner.example.org' },
    ...{ tokenRequest: 'form', timeZone: 'America/New_York', every: 1 },
  },
  ...{ state: 'up-to-date', reasons: [], busy: false, conditions: [] },
  ...{ baseline: { status: 'completed', counted: 12_004 }, certifications: 12_004 },
  ...{ partner: { count: 12_004 }, unexplained: 0, missing: { number: 0, isTooMany: false } },
  selfCheck: { at: '2026-11-21T14:05:00Z', failed: {} },
  today: { day: '2026-11-21', ...noChanges, created: 3, updated: 1 },
  waiting: { pending: 0, digest: 0, held: 0, undeliverable: 0 },
  oldestProof: { day: '2019-02-01', at: '2026-11-21T14:13:00Z' },
  unproven: { days: 0, first: [] },
  detection: detectionTimes(
    tickSettings(),
    { recent: 12, all: 12_004 },
    { days: 900, pace: undefined, isTotalRight: true, nowMs: 0 },
  ),
};
const problem = {
  ...{ code: 'unavailable', fault: 'partner' as const, retryHelps: true, whatToDo: '' },
  message: 'No usable answer: status 503.',
};
const paused = { since: '2026-11-21T15:00:00Z', by: 'odile', reason: 'migration' };

const after = (at: string) => ({ at: `2026-11-21T${at}Z` });
const activity = {
  ticks: [
    { ...after('16:05:00'), requests: 1, found: 0, held: 0, failed: 0 },
    { ...after('16:04:00'), requests: 1_207, found: 0, held: 0, failed: 1 },
  ],
  hours: [{ ...after('16:00:00'), requests: 1_208, found: 4, held: 2, failed: 1 }],
};
const outcome = { ...after('15:00:01'), ok: true };
const recorded = { operation: 'x', ...after('15:00:00'), settings: {} };
const history: NonNullable<AdvisedStatus['history']> = [
  { ...recorded, command: 'discard', ...after('16:05:00') },
  {
    ...{ ...recorded, by: 'odile', command: 'release', outcome },
    settings: { waiting: 'held', years: [2019], dryRun: false },
  },
  { ...recorded, command: 'tick' },
  { ...recorded, command: 'resume', outcome: { ...outcome, changed: false } },
  { ...recorded, command: 'replay', outcome: { ...outcome, rest: { after: '2026-03-04/48' } } },
  { ...recorded, command: 'release', outcome: { ...outcome, ok: false, code: 'busy', rest: {} } },
];

it.each<[name: string, Partial<AdvisedStatus>]>([
  ['up-to-date', {}],
  ['active', { partner: { count: 12_005 }, activity }],
  ['history', { partner: { count: 12_002 }, history, busy: true }],
  [
    'waiting',
    {
      ...{ state: 'paused', paused, partner: { problem } },
      reasons: ['paused', 'backing-off', 'partner-silent', 'baseline'],
      backingOff: { until: '2026-11-21T16:20:00Z', failures: 3 },
      baseline: { status: 'running', counted: 3000, before: '2024-05-06' },
    },
  ],
  [
    'wrong',
    {
      state: 'denied',
      reasons: ['denied', 'behind', 'missing', 'unfinished', 'held', 'undeliverable', 'owing'],
      denial: { ...after('16:00:00'), what: 'AWS denies sns:Publish.', whatToDo: 'Grant it.' },
      toDo: ['Grant the denied action that is named below.'],
      selfCheck: { ...after('14:05:00'), failed: { topics: 'Gone.', token: 'Refused.' } },
      partner: { count: 4200 },
      ...{ missing: { number: 7804, isTooMany: true }, unexplained: -4 },
      ...{
        pace: { perMinute: 4, silentUntil: '2026-11-21T16:12:00Z' },
        openUntil: '2026-11-22T04:05:00Z',
      },
      waiting: { pending: 1, digest: 2, held: 3, undeliverable: 4 },
      unproven: {
        days: 9,
        first: ['01', '02', '03', '05', '07', '09', '11', '13'].map((day) => `2026-11-${day}`),
      },
      conditions: [
        {
          ...{ name: 'missing', title: 'many are missing', whatToDo: 'Ask the partner.' },
          ...{ since: '2026-11-21T14:00:00Z', number: 4200 },
        },
        {
          ...{ name: 'unproven', title: 'days cannot be proven', whatToDo: 'Have them mended.' },
          ...{ since: '2026-11-20T14:00:00Z', number: 1, toldAt: '2026-11-20T14:00:00Z' },
        },
      ],
    },
  ],
  [
    'never-ticked',
    {
      ...{ state: 'never-ticked', reasons: ['never-ticked', 'differs'], certifications: 0 },
      ...{ lastTick: undefined, oldestProof: undefined, selfCheck: undefined, unexplained: 2 },
      baseline: { status: 'none', counted: 0 },
    },
  ],
])('the status of an integration: %s', async (name, changes) => {
  await isApproved(`status-${name}`, statusLines(view, { ...well, ...changes }));
});

it('the README has the current screen of status', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const [, shown] = /`npm run ops -- status .*?```\n(.*?)```/s.exec(readme) ?? [];
  expect(shown).toBe(text(statusLines(view, well)));
});

describe('the life of an assessment', () => {
  const created = {
    ...{ revision: 1, kind: 'created' as const, at: '2026-11-18T16:00:00Z', late: true },
    ...{ found: { in: 'page' as const }, changed: [], event: 'district-a/48213/1' },
    ...{ delivery: 'announced' as const, decisions: [] },
  };
  const known: NonNullable<ResultOf<'explain'>['known']> = {
    ...{ day: '2026-11-18', presence: 'present', revision: 3, firstSeen: '2026-11-18T16:00:00Z' },
    ...{ organization_id: 7, assessment_name: 'CPR' },
    revisions: [
      { ...created, decisions: [{ decision: 'released', at: '2026-11-18T17:00:00Z' }] },
      {
        ...{ ...created, revision: 2, kind: 'updated', changed: ['email', 'results'] },
        ...{ found: { in: 'audit', proof: 'key-seam' }, delivery: 'held', behind: true },
      },
      {
        ...{ ...created, revision: 3, kind: 'withdrawn', found: { in: 'search', proof: 'split' } },
        ...{ delivery: 'undeliverable', code: 'InvalidParameter' },
      },
    ],
  };
  const unnamed = { ...known, organization_id: null, assessment_name: null, revisions: [created] };
  const found = { in: 'baseline' as const, proof: 'key-seam' as const };
  const byBaseline = { ...known, revisions: [{ ...created, late: false, found }] };
  const proof = { kind: 'key-seam' as const, at: '2026-11-21T15:00:00Z' };
  const day = { day: '2026-11-18', count: 12, proof };
  const nothing = { has: 'nothing' as const };
  const record = { has: 'record' as const, day: '2026-11-19', organization_id: 7 };
  const edited = { ...record, organization_id: null, asRecorded: false };
  const today = { day: '2026-11-21', count: 3, unprovenSince: '2026-11-20T15:00:00Z' };
  const waiting: Reason[] = ['paused', 'baseline', 'held', 'owing'];

  it.each<[name: string, Reason[], Omit<ResultOf<'explain'>, 'id'>]>([
    ['by-baseline', [], { verdict: 'announced', known: byBaseline, day, partner: nothing }],
    ['of-three-revisions', [], { verdict: 'undeliverable', known, day, partner: nothing }],
    ['quarantined', [], { verdict: 'quarantined', partner: { has: 'malformed' } }],
    ['not-yet-seen', waiting, { verdict: 'not-yet-seen', partner: record, day: today }],
    ['edited-since', [], { verdict: 'announced', known: unnamed, partner: edited }],
  ])('that is %s', async (name, reasons, explanation) => {
    const lines = explainLines(view, { id: 48_213, ...explanation }, { ...well, reasons });
    await isApproved(`explain-${name}`, lines);
  });
});

it('a certificate sums up its calls with all their finds, for people and for a spreadsheet', async () => {
  const proof = { kind: 'single-page', at: '2026-11-21T15:00:00Z' } as const;
  const unproven = { state: 'unproven', count: 0 } as const;
  const [unprovenSince, askedAt] = ['2026-11-20T15:00:00Z', '2026-11-21T15:00:00Z'];
  const neighbour = '2026-11-04';
  const first = { days: [], toRead: 2, found: { ...noChanges, updated: 1 } };
  const second: ResultOf<'prove'> = {
    toRead: 0,
    found: noChanges,
    days: [
      { day: '2026-11-01', count: 0, proof, state: 'proven' },
      { day: '2026-11-02', count: 0, proof, state: 'proven' },
      { day: '2026-11-03', count: 7, proof, state: 'proven', digest: 'abcdefghijklmnop' },
      { day: '2026-11-04', ...unproven, count: 2, cause: 'without-proof', unprovenSince },
      { day: '2026-11-05', ...unproven, cause: 'neighbour', neighbour, readWith: '2026-11-06' },
      { day: '2026-11-19', ...unproven, cause: 'never-read' },
      { day: '2026-11-20', ...unproven, count: 1, proof, cause: 'before-its-end', askedAt },
      { day: '2026-11-21', state: 'open', count: 3, proof },
      { day: '2026-11-22', state: 'not-yet', count: 0 },
      { day: '2026-11-23', state: 'not-yet', count: 0 },
    ],
  };
  const gist = (from: number, to?: number) => {
    const some = { ...second, days: second.days.slice(from, to) };
    return proveLines(view, countedCertificate(some)).find((line) => / proven, /.test(line)) ?? '';
  };
  const all = proveSum(proveSum(undefined, first), second);
  const sums = ['', gist(0, 3), gist(7), gist(8)];
  await isApproved('prove', [
    ...[...proveLines(view, countedCertificate(all)), '', ...proveCsv(all)],
    ...sums,
  ]);
});

it('the count of held events sums up its calls, and reports unreadable outboxes', async () => {
  const row = { revision: 1, type: 'created', organization_id: 7, year: 2019 } as const;
  const [early, late] = ['2026-11-21T14:00:00Z', '2026-11-21T15:30:00Z'];
  const half = '2026-11-21T15:00:00.5Z';
  const one: ResultOf<'holds'> = {
    at: '2026-11-21T16:00:00Z',
    list: [1, 2].map((id) => ({ ...row, id, since: half })),
    organizationNames: { 7: 'Thistledown District' },
    unreadable: 0,
  };
  const updated = { ...row, type: 'updated', organization_id: 9 } as const;
  const all = holdsSum(holdsSum(undefined, one), {
    at: '2026-11-21T16:01:00Z',
    list: [
      { ...updated, id: 3, since: late },
      { ...updated, id: 4, year: 2020, since: early },
      { ...updated, id: 4, revision: 2, year: 2020, since: early },
      { ...updated, id: 5, organization_id: null, since: '2026-11-21T15:00:00Z' },
    ],
    organizationNames: {},
    unreadable: 1,
  });
  const found = countedEvents(all, true);
  expect(found).toMatchObject({ at: one.at, oldest: early, newest: late, events: 6 });
  expect(countedEvents(all, false)).not.toHaveProperty('list');
  const holding = { until: '2026-11-21T17:00:00Z', types: ['created' as const] };
  const none = countedEvents({ ...one, list: [], unreadable: 2, holding }, false);
  await isApproved('holds', [
    ...[...holdsLines(view, { found, altogether: 6 }, 'held'), ''],
    ...holdsLines(view, { found: none, altogether: 0 }, 'held'),
  ]);
});

it('events fit into 120 columns, and pass no name to a terminal or a spreadsheet as a command', async () => {
  const names = [`=HYPERLINK("http://example.org","x")`, 'Long '.repeat(40), 'a, "b"', null];
  const listed = names.map((assessment_name, index) => ({
    ...{ id: 10 ** 9 + index, revision: 1, event: `district-a/${index}/1`, changed: ['email'] },
    ...{ type: 'updated' as const, at: '2026-11-21T08:00:00Z', day: '2026-11-20' },
    ...{ delivery: 'announced-to-people' as const, late: index < 3, presence: 'present' as const },
    ...{ organization_id: assessment_name === null ? null : 7, assessment_name },
  }));
  const found = { events: listed, unreadable: 1 };
  const lines = eventsLines(view, { ...found, next: { command: 'events', limit: 4 } });
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120);
  await isApproved('events', [...lines, '', ...eventsCsv(found)]);
});

it('short answers', async () => {
  const byType = { ...noChanges, created: 100 };
  const call = { events: 100, byType, behind: 1, freed: 2, undone: 1, unreadable: 1 };
  const decided = decidedSum(decidedSum<typeof call>(undefined, call), call);
  const total = { total: 4200, before: 12_004 };
  const late = event({ revision: 2, replay: true });
  const behind: AdvisedStatus = { ...well, waiting: { ...well.waiting, held: 3 } };
  const running = { status: 'running' as const, counted: 3000 };
  const envelope = { messageId: 'a1', topicArn: 'events', event: { id: 'a/1/1', type: 'x' } };
  const answer = { status: 503, tookMs: 12 };
  const attempt = { at: well.at, envelope, answer, attempt: 8, verdict: verdictOf(answer, 1) };
  const answers: Readonly<Record<string, readonly string[]>> = {
    release: decidedLines(view, decided, 'released'),
    'accept-total': [
      ...acceptTotalLines(view, { changed: true, ...total, paused }),
      ...acceptTotalLines(view, { changed: false, ...total }),
    ],
    baseline: [
      ...baselineLines(view, { ...running, total: 12_000, before: '2024-05-06', paused }),
      ...baselineLines(view, { ...running, problem }),
      ...baselineLines(view, { status: 'completed', counted: 1, paused }),
      ...baselineLines(view, { status: 'none', counted: 0 }),
    ],
    restart: restartBaselineLines(view, { changed: false, paused }),
    check: checkLines(view, 'district-a', [
      { name: 'token', outcome: 'ok', found: 'Since 2026-11-21T15:00:00Z.' },
      { name: 'scope', outcome: 'warning', found: 'Empty.', whatToDo: 'Ask.', code: 'scope-empty' },
      { name: 'topics', outcome: 'failed', found: 'Gone.', whatToDo: 'Deploy.' },
      { name: 'records', outcome: 'skipped', found: 'Not tried.' },
    ]),
    watch: [
      tickLine(view, behind),
      eventLine(view, eventGist(event())),
      eventLine(view, eventGist(late)),
      noticeLine(view, well.at, well, 'behind', false),
      noticeLine(view, well.at, well, 'behind', true),
    ],
    listen: [
      attemptLine(view, { ...attempt, verdict: { outcome: 'given-up' } }),
      attemptLine(view, { ...attempt, envelope: { ...envelope, event: undefined } }),
      ...tallyLines({ delivered: 1, refused: 2, givenUp: 3, notDelivered: 4 }),
    ],
    tick: tickLines(view, {
      ...{ outcome: 'completed', ...noChanges, created: 2, recorded: 0, delivered: 1 },
      ...{ undelivered: 1, undeliverable: 0, held: 0, quarantined: 3, failed: 1, missing: 12 },
      ...{ cutShort: true, requests: 1, durationMs: 12_400 },
    }),
  };
  await isApproved(
    'short-answers',
    Object.entries(answers).flatMap(([name, lines]) => [`# ${name}`, ...lines, '']),
  );
});
