import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  sightingsOf as afterReading,
  type Certification,
  compare,
  countDeltas,
  type Sighting,
  withdrawal,
} from '../../../lambda/decisions/compare.ts';
import { fingerprintOf, noteAltered } from '../../../lambda/decisions/fingerprint.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { sightingsOf } from '../../scaffold/sightings.ts';
import { anyAssessment, assessment } from '../../support/assessments.ts';
import { forAll } from '../../support/for-all.ts';

const salt = 'salt-of-the-tests';

function certification({ assessment, fingerprint, revision, earlier }: Sighting): Certification {
  const { id, certified_on, organization_id, assessment_name } = assessment;
  return {
    id,
    day: certified_on,
    fingerprint,
    revision,
    presence: 'present',
    ...(earlier && { earlier }),
    organization_id,
    assessment_name,
  };
}

/** The ledger's knowledge after these changes. */
function nowKnown(known: ReadonlyMap<number, Certification>, changes: readonly Sighting[]) {
  return new Map([
    ...known,
    ...changes.map((change) => [change.assessment.id, certification(change)] as const),
  ]);
}

describe('a comparison of read rows with the ledger', () => {
  it('finds each row new once, as revision 1, and nothing in rows that it has just found', () =>
    // Rows of one id that differ are twins: twins.test.ts.
    forAll(fc.uniqueArray(anyAssessment, { selector: ({ id }) => id }), (read) => {
      const changes = sightingsOf(
        read.flatMap((row) => [row, row]),
        new Map(),
        salt,
      );
      const ids = read.map(({ id }) => id);
      expect(changes.map(({ assessment }) => assessment.id)).toEqual(ids);
      expect(changes).toMatchObject(ids.map(() => ({ kind: 'created', revision: 1 })));
      expect(sightingsOf(read, nowKnown(new Map(), changes), salt)).toEqual([]);
    }));

  const somebody = {
    ...{ seid: 'SEID-8', name: 'Isaura Fenwillow', first_name: 'Isaura' },
    ...{ last_name: 'Fenwillow', email: 'isaura@example.org' },
  };
  const gone = { revision: 2, presence: 'withdrawn' } as const;
  it.each([
    ['an edit', {}, { name: 'Ashgrove' }, { kind: 'updated', revision: 2, changed: ['name'] }],
    ['a move', { revision: 7 }, { certified_on: '2026-11-19' }, { kind: 'updated', revision: 8 }],
    ['another educator', {}, somebody, { kind: 'updated', changed: Object.keys(somebody) }],
    ['a withdrawn one', gone, {}, { kind: 'restored', revision: 3, changed: [] }],
    ['a withdrawn one with an edit', gone, { name: 'B' }, { kind: 'restored', changed: ['name'] }],
  ])('names the kind of a change: %s', (_, before, edit, expected) => {
    const first = assessment();
    const [created] = sightingsOf([first], new Map(), salt);
    const known = new Map(created && [[first.id, { ...certification(created), ...before }]]);
    expect(sightingsOf([{ ...first, ...edit }], known, salt)).toMatchObject([expected]);
  });

  it.each([
    ['one that is known and present is none', { presence: 'present' }, []],
    ['an unknown one is created once', undefined, [['created', 'a']]],
    ['a withdrawn one is restored', { presence: 'withdrawn' }, [['restored', 'a']]],
  ] as const)('of an id with two contents says nothing about them: %s', (_, before, expected) => {
    const rows = ['b', 'a'].map((email) => assessment({ email }));
    const [created] = sightingsOf([assessment({ email: 'c' })], new Map(), salt);
    const known = new Map(
      created && before ? [[created.id, { ...certification(created), ...before }]] : [],
    );
    for (const read of [rows, rows.toReversed()]) {
      const { changes } = compare(read, known, salt, 0, 0, new Set(rows.map(({ id }) => id)));
      expect(changes.map(({ kind, assessment: { email } }) => [kind, email])).toEqual(expected);
    }
  });

  /** A record whose State Educator ID is this text, or was sent as this number. */
  const shown = (sent: string | number | null, name = 'A') => {
    const record = assessment({ name, seid: sent === null ? null : String(sent) });
    if (typeof sent === 'number')
      noteAltered(record, { paths: ['seid'], first: { ...record, seid: null } });
    return record;
  };
  it.each<[string, 1 | 2, Assessment, Assessment, string[]?]>([
    ['a number, recorded as null', 1, shown(4711), shown(4711)],
    ['that, and an edit', 1, shown(4711), shown(4711, 'B'), ['name']],
    ['a text that becomes a number', 1, shown('4711'), shown(4711)],
    ['that, and an edit', 1, shown('4711'), shown(4711, 'B'), ['name']],
    ['a number that becomes a text', 2, shown(4711), shown('4711')],
    ['another number', 2, shown(4711), shown(4713), ['seid']],
    ['null that becomes a number', 2, shown(null), shown(4711), ['seid']],
  ])('compares by the rules of the hashes: %s, %i', (_, rules, before, after, changed) => {
    const [created] = sightingsOf([before], new Map(), salt);
    if (!created) throw new Error('nothing was created');
    const fingerprint = fingerprintOf(before, salt, rules);
    const known = new Map([[before.id, { ...certification(created), fingerprint }]]);
    const { changes, outdated } = compare([after], known, salt, 0, 600_000);
    expect(changes.map((change) => change.changed)).toEqual(changed ? [changed] : []);
    const now = rules < 2 && !changed ? [fingerprintOf(after, salt)] : [];
    expect(outdated.map((one) => one.fingerprint)).toEqual(now);
  });

  const [first, second] = [assessment({ email: 'a' }), assessment({ email: 'b' })];
  const third = assessment({ email: 'c' });
  it('calls it restored also if it comes back with an earlier fingerprint', () => {
    const created = nowKnown(new Map(), sightingsOf([first], new Map(), salt));
    const { changes } = compare([second], created, salt, 0, 600_000);
    const [updated] = nowKnown(created, changes).values();
    if (updated === undefined) throw new Error('it is not known');
    for (const untold of [{}, { isUntold: true }] as const) {
      const gone = { ...updated, presence: 'withdrawn' as const, ...untold };
      const back = compare([first], new Map([[first.id, gone]]), salt, 60_000, 600_000);
      const kind = gone.isUntold ? 'created' : 'restored';
      expect(back).toMatchObject({ changes: [{ kind, revision: 3 }], older: [] });
    }
  });

  it('calls a row with an earlier fingerprint an older answer until then, and a return after it', () => {
    let known: ReadonlyMap<number, Certification> = new Map();
    let isAlone = false;
    const at = (nowMs: number, ...read: (typeof first)[]) => {
      const more = [salt, nowMs, 600_000, new Set<number>(), () => isAlone] as const;
      const { changes, older, returned } = compare(read, known, ...more);
      known = nowKnown(known, changes);
      const twins = returned.length > 0 && { returned };
      return { kinds: changes.map(({ kind }) => kind), older, ...twins };
    };
    const older = (until: number) => [{ day: first.certified_on, until }];
    expect(at(0, first)).toEqual({ kinds: ['created'], older: [] });
    expect(at(60_000, second)).toEqual({ kinds: ['updated'], older: [] });
    expect(at(120_000, first)).toEqual({ kinds: [], older: older(660_000) });
    expect(at(180_000, third, first)).toEqual({ kinds: ['updated'], older: older(660_000) });
    expect(at(660_000, second)).toEqual({ kinds: [], older: older(780_000) });
    const returned = [{ id: first.id, days: [first.certified_on], isSure: true }];
    expect(at(9_000_000, first)).toEqual({ kinds: [], older: [], returned });
    isAlone = true;
    expect(at(9_000_000, first)).toEqual({ kinds: ['updated'], older: [] });
    isAlone = false;
    expect(at(99_000_000, third)).toEqual({ kinds: [], older: [], returned });
    // Of more changes, the newest two are kept.
    for (const one of [{ ...first, name: 'D' }, second])
      expect(at(99_000_000, one)).toEqual({ kinds: ['updated'], older: [] });
  });
});

it('a first reading announces no update: an id with another content on each day is there twice', () => {
  const [before, ...more] = ['2026-11-20', '2026-11-19'].map((certified_on) =>
    assessment({ certified_on, email: `${certified_on}@example.org` }),
  );
  const read = [...more, assessment({ id: 2 })];
  const known = nowKnown(new Map(), sightingsOf(before ? [before] : [], new Map(), salt));
  const { sightings, unlike } = afterReading(sightingsOf(read, known, salt), true);
  expect(sightings.map(({ kind, id }) => [kind, id])).toEqual([['created', 2]]);
  expect(unlike).toEqual([{ id: before?.id, days: ['2026-11-20', '2026-11-19'] }]);
});

describe('the effect of changes on the counts of days', () => {
  const day = '2026-11-20';
  const [created] = sightingsOf([assessment({ certified_on: day })], new Map(), salt);
  if (created === undefined) throw new Error('nothing was created');
  const gone = { ...certification(created), presence: 'withdrawn' as const };
  const read = (edit: object, before = certification(created)) =>
    sightingsOf([{ ...created.assessment, ...edit }], new Map([[before.id, before]]), salt);
  const moved = { certified_on: '2019-01-02' };

  it.each([
    ['adds new certifications', [created], [[day, 1]]],
    ['subtracts withdrawn ones only from the missing', [withdrawal(certification(created))], []],
    ['adds restored ones', read({}, gone), [[day, 1]]],
    [
      'moves a moved one',
      read(moved),
      [
        [moved.certified_on, 1],
        [day, -1],
      ],
    ],
    ['ignores other edits', read({ name: 'Other' }), []],
  ])('%s', (_, changes, expected) => {
    expect(changes).toHaveLength(1);
    expect([...countDeltas(changes)]).toEqual(expected);
  });
});
