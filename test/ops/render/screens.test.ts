import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import type { Reason } from '../../../lambda/operations/commands/status.ts';
import { detectionTimes } from '../../../lambda/operations/commands/status.ts';
import type { ResultOf } from '../../../lambda/operations/contract.ts';
import { explainLines } from '../../../ops/render/explain.ts';
import {
  countedEvents,
  decidedLines,
  decidedSum,
  holdsLines,
  holdsSum,
} from '../../../ops/render/holds.ts';
import type { View } from '../../../ops/render/layout.ts';
import {
  countedCertificate as certified,
  proveCsv,
  proveLines,
  proveSum,
} from '../../../ops/render/prove.ts';
import { type AdvisedStatus, statusLines } from '../../../ops/render/status.ts';
import { tickLines } from '../../../ops/render/tick.ts';
import { tickSettings } from '../../scaffold/settings.ts';

const view: View = {
  now: Temporal.Instant.from('2026-11-21T16:05:20Z'),
  zone: 'America/New_York',
  paint: (_tone, text) => text,
};
const approved = (name: string) =>
  fileURLToPath(new URL(`../approved/render/${name}.txt`, import.meta.url));
const text = (lines: readonly string[]) => `${lines.join('\n')}\n`;

const noChanges = { created: 0, updated: 0, withdrawn: 0, restored: 0 };
const well: AdvisedStatus = {
  at: '2026-11-21T16:05:20Z',
  settings: {
    integration: 'district-a',
    baseUrl: 'https://partner.example.org',
    tokenRequest: 'form',
    timeZone: 'America/New_York',
    every: 1,
  },
  state: 'up-to-date',
  reasons: [],
  busy: false,
  baseline: { status: 'completed', counted: 12_004 },
  lastTick: '2026-11-21T16:05:08Z',
  selfCheck: { at: '2026-11-21T14:05:00Z', failed: {} },
  certifications: 12_004,
  partner: { count: 12_004 },
  unexplained: 0,
  missing: { number: 0, isTooMany: false },
  today: { day: '2026-11-21', ...noChanges, created: 3, updated: 1 },
  waiting: { pending: 0, digest: 0, held: 0, undeliverable: 0 },
  oldestProof: { day: '2019-02-01', at: '2026-11-21T14:13:00Z' },
  unproven: { days: 0, first: [] },
  detection: detectionTimes(tickSettings(), { recent: 12, all: 12_004 }),
  conditions: [],
};

describe('status', () => {
  const problem = {
    code: 'unavailable',
    fault: 'partner' as const,
    message: 'No usable answer: status 503.',
    retryHelps: true,
    whatToDo: '',
  };
  it.each<[string, Partial<AdvisedStatus>]>([
    ['up-to-date', {}],
    ['more-since', { partner: { count: 12_005 } }],
    ['fewer-since', { partner: { count: 12_002 }, busy: true }],
    [
      'paused',
      {
        state: 'paused',
        reasons: ['paused'],
        paused: {
          since: '2026-11-21T15:00:00Z',
          by: 'arn:aws:iam::111122223333:user/odile',
          reason: 'migration',
        },
      },
    ],
    [
      'backing-off',
      {
        state: 'backing-off',
        reasons: ['backing-off', 'partner-silent'],
        backingOff: { until: '2026-11-21T16:20:00Z', failures: 3 },
        partner: { problem },
      },
    ],
    [
      'baseline',
      {
        state: 'baseline',
        reasons: ['baseline'],
        baseline: { status: 'running', counted: 3000, before: '2024-05-06' },
      },
    ],
    [
      'behind',
      {
        state: 'behind',
        reasons: ['behind'],
        busy: true,
        unproven: {
          days: 7,
          first: ['01', '02', '03', '04', '05', '06', '07'].map((day) => `2026-11-${day}`),
        },
      },
    ],
    [
      'differs',
      {
        state: 'differs',
        reasons: ['differs', 'unproven'],
        unexplained: 2,
        partner: { count: 12_006 },
        conditions: [
          {
            name: 'unproven',
            since: '2026-11-20T14:00:00Z',
            number: 1,
            toldAt: '2026-11-20T14:00:00Z',
            title: 'days cannot be proven complete',
            whatToDo: 'Have malformed records mended.',
          },
        ],
      },
    ],
    ['unfinished', { state: 'unfinished', reasons: ['unfinished'] }],
    [
      'never-ticked',
      {
        state: 'never-ticked',
        reasons: ['never-ticked'],
        oldestProof: undefined,
        baseline: { status: 'none', counted: 0 },
        certifications: 0,
      },
    ],
    [
      'missing',
      {
        state: 'missing',
        reasons: ['missing', 'held', 'undeliverable', 'owing'],
        partner: { count: 4200 },
        missing: { number: 7804, isTooMany: true },
        waiting: { pending: 1, digest: 2, held: 3, undeliverable: 4 },
        conditions: [
          {
            name: 'missing',
            since: '2026-11-21T14:00:00Z',
            number: 4200,
            title: 'many certifications are missing at the partner',
            whatToDo: 'Ask the partner. Then accept-total.',
          },
        ],
      },
    ],
    [
      'check-failed',
      {
        state: 'check-failed' as const,
        reasons: ['check-failed' as const],
        selfCheck: {
          at: '2026-11-21T14:05:00Z',
          failed: {
            'subscriptions[1]': 'alerts, email: not confirmed',
            topics: 'Nobody is subscribed to operations.',
          },
        },
      },
    ],
    [
      'denied',
      {
        state: 'denied',
        reasons: ['denied'],
        denial: {
          at: '2026-11-21T16:00:00Z',
          what: 'AWS denies dynamodb:UpdateItem on the table ledger (AccessDeniedException, request 0b3a1c52).',
          whatToDo: 'Grant the role of this function dynamodb:UpdateItem on the table ledger.',
        },
      },
    ],
    [
      'activity',
      {
        activity: {
          ticks: [
            { at: '2026-11-21T16:05:00Z', requests: 1, found: 0, held: 0, failed: 0 },
            { at: '2026-11-21T16:04:00Z', requests: 1_207, found: 0, held: 0, failed: 1 },
          ],
          hours: [{ at: '2026-11-21T16:00:00Z', requests: 1_208, found: 4, held: 2, failed: 1 }],
        },
      },
    ],
    [
      'history',
      {
        history: [
          {
            operation: 'x',
            at: '2026-11-21T15:00:00Z',
            by: 'odile',
            command: 'release',
            settings: { waiting: 'held', years: [2019], dryRun: false },
            outcome: { at: '2026-11-21T15:00:01Z', ok: true },
          },
          { operation: 'y', at: '2026-11-21T14:00:00Z', command: 'tick', settings: {} },
          {
            operation: 'z',
            at: '2026-11-21T13:00:00Z',
            by: 'odile',
            command: 'resume',
            settings: {},
            outcome: { at: '2026-11-21T13:00:01Z', ok: true, changed: false },
          },
          { operation: 'w', at: '2026-11-21T16:05:00Z', command: 'discard', settings: {} },
          {
            operation: 'v',
            at: '2026-11-21T12:00:00Z',
            by: 'odile',
            command: 'replay',
            settings: { days: {} },
            outcome: { at: '2026-11-21T12:00:50Z', ok: true, rest: { after: '2026-03-04/48213' } },
          },
          {
            operation: 'u',
            at: '2026-11-21T11:00:00Z',
            command: 'release',
            settings: {},
            outcome: { at: '2026-11-21T11:00:01Z', ok: false, code: 'busy', rest: {} },
          },
        ],
      },
    ],
  ])('%s', async (name, changes) => {
    const { lastTick: _, ...without } = well;
    const status = name === 'never-ticked' ? { ...without, ...changes } : { ...well, ...changes };
    await expect(text(statusLines(view, status))).toMatchFileSnapshot(approved(`status-${name}`));
  });
});

it('the README has the current screen of status', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const [, shown] = /`npm run ops -- status .*?```\n(.*?)```/s.exec(readme) ?? [];
  expect(shown).toBe(text(statusLines(view, well)));
});

describe('explain', () => {
  const known: NonNullable<ResultOf<'explain'>['known']> = {
    day: '2026-11-18',
    presence: 'present',
    revision: 3,
    organization_id: 7,
    assessment_name: 'CPR',
    firstSeen: '2026-11-18T16:00:00Z',
    revisions: [
      {
        revision: 1,
        kind: 'created',
        at: '2026-11-18T16:00:00Z',
        found: { in: 'page' },
        late: true,
        changed: [],
        event: 'district-a/48213/1',
        delivery: 'announced',
        decisions: [{ decision: 'released', at: '2026-11-18T17:00:00Z' }],
      },
      {
        revision: 2,
        kind: 'updated',
        at: '2026-11-19T16:00:00Z',
        found: { in: 'audit', proof: 'key-seam' },
        changed: ['email', 'results'],
        event: 'district-a/48213/2',
        delivery: 'held',
        behind: true,
        decisions: [],
      },
      {
        revision: 3,
        kind: 'withdrawn',
        at: '2026-11-20T16:00:00Z',
        found: { in: 'search', proof: 'single-page' },
        changed: [],
        event: 'district-a/48213/3',
        delivery: 'undeliverable',
        code: 'InvalidParameter',
        decisions: [],
      },
    ],
  };
  const day = {
    day: '2026-11-18',
    count: 12,
    proof: { kind: 'key-seam' as const, at: '2026-11-21T15:00:00Z' },
  };
  const [first] = known.revisions;
  const ofBaseline = {
    ...known,
    revision: 1,
    firstSeen: '2026-11-18T16:00:00Z',
    revisions: first
      ? [{ ...first, late: false, found: { in: 'baseline' as const, proof: 'key-seam' as const } }]
      : [],
  };
  it.each<[string, Omit<ResultOf<'explain'>, 'id'>]>([
    [
      'announced-by-baseline',
      { verdict: 'announced', known: ofBaseline, day, partner: { has: 'nothing' } },
    ],
    ['life', { verdict: 'undeliverable', known, day, partner: { has: 'nothing' } }],
    ['quarantined', { verdict: 'quarantined', partner: { has: 'malformed' } }],
    [
      'without-names',
      {
        verdict: 'announced',
        known: {
          ...known,
          ...{ organization_id: null, assessment_name: null },
          revisions: known.revisions.slice(0, 1),
        },
        partner: { has: 'record', day: '2026-11-19', organization_id: null, asRecorded: false },
      },
    ],
    [
      'not-yet-seen',
      {
        verdict: 'not-yet-seen',
        partner: { has: 'record', day: '2026-11-21', organization_id: 7 },
        day: { day: '2026-11-21', count: 3, unprovenSince: '2026-11-20T15:00:00Z' },
      },
    ],
    [
      'edited-since',
      {
        verdict: 'announced',
        known: { ...known, revisions: known.revisions.slice(0, 1) },
        partner: { has: 'record', day: '2026-11-19', organization_id: 7, asRecorded: false },
      },
    ],
  ])('%s', async (name, explanation) => {
    const reasons: Reason[] = name === 'not-yet-seen' ? ['paused', 'baseline'] : [];
    const lines = explainLines(view, { id: 48_213, ...explanation }, { ...well, reasons });
    await expect(text(lines)).toMatchFileSnapshot(approved(`explain-${name}`));
  });

  it('has the reasons why no tick finds it, and no others', () => {
    const reasons: Reason[] = ['paused', 'baseline', 'held', 'owing'];
    const status = { ...well, reasons };
    const lines = explainLines(
      view,
      { id: 48_213, verdict: 'not-yet-seen', partner: { has: 'nothing' } },
      status,
    );
    expect(lines.slice(2)).toEqual([
      '  in the way   paused',
      '  in the way   the baseline is not completed',
    ]);
  });
});

describe('a certificate', () => {
  const empty = { toRead: 0 };
  const proof = { kind: 'single-page', at: '2026-11-21T15:00:00Z' } as const;
  const state = 'proven';
  const first = { ...empty, days: [], toRead: 2, found: { ...noChanges, updated: 1 } };
  const second: ResultOf<'prove'> = {
    ...empty,
    days: [
      { day: '2026-11-01', count: 0, proof, state },
      { day: '2026-11-02', count: 0, proof, state },
      { day: '2026-11-03', count: 7, proof, state, digest: 'abcdefghijklmnopqrstuvwxyz' },
    ],
    found: noChanges,
  };
  const third: ResultOf<'prove'> = {
    ...empty,
    days: [
      {
        ...{ day: '2026-11-04', state: 'unproven', count: 2, cause: 'without-proof' },
        unprovenSince: '2026-11-20T15:00:00Z',
      },
      {
        ...{ day: '2026-11-05', state: 'unproven', count: 0, readWith: '2026-11-06' },
        ...{ cause: 'neighbour', neighbour: '2026-11-04' },
      },
      { day: '2026-11-19', state: 'unproven', count: 0, cause: 'never-read' },
      {
        ...{ day: '2026-11-20', state: 'unproven', count: 1, proof, cause: 'before-its-end' },
        askedAt: '2026-11-21T15:00:00Z',
      },
    ],
  };
  const last: ResultOf<'prove'> = {
    ...empty,
    days: [
      { day: '2026-11-21', state: 'open', count: 3, proof },
      { day: '2026-11-22', state: 'not-yet', count: 0 },
      { day: '2026-11-23', state: 'not-yet', count: 0 },
    ],
  };

  it('sums up its calls with all their finds, for people and for a spreadsheet', async () => {
    const certificate = {
      ...empty,
      days: [...second.days, ...third.days, ...last.days],
      found: noChanges,
    };
    const all = proveSum(proveSum(undefined, first), certificate);
    await expect(
      text([...proveLines(view, certified(all)), '', ...proveCsv(all)]),
    ).toMatchFileSnapshot(approved('prove'));
  });

  it.each([
    [second, 'complete: 3 of 3 days proven, 7 certifications'],
    [
      last,
      'complete so far: 0 of 1 day proven, today as of its proof, 2 days still to come, 3 certifications',
    ],
    [
      { ...empty, days: last.days.slice(1) },
      'not yet: 0 of 0 days proven, 2 days still to come, 0 certifications',
    ],
  ])('says how much it certifies', (certificate, gist) => {
    expect(proveLines(view, certified(certificate))).toContain(gist);
  });
});

describe('the count of held events', () => {
  const row = { revision: 1, type: 'created', organization_id: 7, year: 2019 } as const;
  const [early, late] = ['2026-11-21T14:00:00Z', '2026-11-21T15:30:00Z'];
  const one: ResultOf<'holds'> = {
    at: '2026-11-21T16:00:00Z',
    list: [
      { ...row, id: 1, since: '2026-11-21T15:00:00.5Z' },
      { ...row, id: 2, since: '2026-11-21T15:00:00.5Z' },
    ],
    organizationNames: { 7: 'Thistledown District' },
    unreadable: 0,
  };
  const two: ResultOf<'holds'> = {
    at: '2026-11-21T16:01:00Z',
    list: [
      { ...row, id: 3, type: 'updated', organization_id: 9, since: late },
      { ...row, id: 4, type: 'updated', organization_id: 9, year: 2020, since: early },
      { ...row, id: 5, type: 'updated', organization_id: 9, year: 2020, since: early },
    ],
    organizationNames: {},
    unreadable: 1,
  };

  it('sums up its calls', async () => {
    const all = countedEvents(holdsSum(holdsSum(undefined, one), two), false);
    expect(all).toMatchObject({ at: one.at, oldest: early, newest: late, events: 5 });
    expect(all).not.toHaveProperty('list');
    await expect(text(holdsLines(view, { found: all, altogether: 5 }, 'held'))).toMatchFileSnapshot(
      approved('holds'),
    );
  });

  it('counts events without an organization', () => {
    const list = one.list.map((event) => ({ ...event, organization_id: null }));
    const all = countedEvents(holdsSum({ ...one, list: [...list, ...list] }, one), false);
    expect(all.byOrganization).toContainEqual({ organization_id: null, events: 4 });
    expect(holdsLines(view, { found: all, altogether: 6 }, 'held').join('\n')).toMatch(
      /^ +none +4$/m,
    );
  });

  it("has the oldest event's age, to the fraction of a second", () => {
    const [whole, half] = ['2026-11-21T15:00:00Z', '2026-11-21T15:00:00.5Z'];
    for (const instants of [
      [whole, half],
      [half, whole],
    ]) {
      const list = instants.map((since) => ({ ...row, id: 1, since }));
      expect(countedEvents({ ...one, list }, true)).toMatchObject({
        ...{ oldest: whole, newest: half },
        list: [{ since: whole }, { since: half }],
      });
    }
  });

  it('counts a certification once, with any number of waiting events', () => {
    const list = [1, 2].map((revision) => ({ ...row, id: 1, revision, since: early }));
    expect(countedEvents({ ...one, list }, false)).toMatchObject({ events: 2, certifications: 1 });
  });

  it('reports unreadable outboxes if it has no readable event', () => {
    const none = countedEvents({ ...one, list: [], unreadable: 2 }, false);
    expect(holdsLines(view, { found: none, altogether: 0 }, 'held')).toEqual([
      'Nothing that can be read is held.',
      '2 outboxes cannot be read.',
    ]);
  });

  it('sums up a decision', () => {
    const byType = { ...noChanges, created: 100 };
    const call = { events: 100, byType, behind: 1, freed: 2, undone: 1, unreadable: 0 };
    const all = decidedSum(decidedSum<typeof call>(undefined, call), call);
    expect(decidedLines(view, all, 'released')).toEqual([
      '200 events released: 200 created',
      '2 events not sent: they undo each other, and leave the outbox.',
      '2 events still held, because an earlier one of the same assessment is.',
      '4 events more, held only behind these, go out.',
    ]);
  });
});

it('the screen of a tick has its problems', async () => {
  const lines = tickLines(view, {
    outcome: 'completed',
    ...noChanges,
    created: 2,
    recorded: 0,
    delivered: 1,
    undelivered: 1,
    undeliverable: 0,
    held: 0,
    quarantined: 3,
    failed: 1,
    missing: 12,
    cutShort: true,
    requests: 1,
    durationMs: 12_400,
  });
  await expect(text(lines)).toMatchFileSnapshot(approved('tick'));
});
