import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Certification,
  compare,
  countDeltas,
  type Sighting,
  withdrawal,
} from '../../../lambda/detection/compare.ts';
import { sightingsOf } from '../../scaffold/sightings.ts';
import { anyAssessment, assessment } from '../../support/assessments.ts';

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
  it('finds each row new once, as revision 1, against an empty ledger', () => {
    fc.assert(
      fc.property(fc.array(anyAssessment), (read) => {
        const changes = sightingsOf(read, new Map(), salt);
        expect(changes.map(({ assessment }) => assessment.id).sort()).toEqual(
          [...new Set(read.map(({ id }) => id))].sort(),
        );
        expect(changes.every(({ kind, revision }) => kind === 'created' && revision === 1)).toBe(
          true,
        );
      }),
    );
  });

  it('finds nothing in rows that it has just found', () => {
    fc.assert(
      fc.property(fc.array(anyAssessment), (read) => {
        const known = nowKnown(new Map(), sightingsOf(read, new Map(), salt));
        expect(sightingsOf(read, known, salt)).toEqual([]);
      }),
    );
  });

  it('raises the revision by one for each change and names the changed fields', () => {
    const first = assessment();
    let known = nowKnown(new Map(), sightingsOf([first], new Map(), salt));
    const renamed = { ...first, name: 'Odalys Ashgrove', last_name: 'Ashgrove' };
    const changes = sightingsOf([renamed], known, salt);
    expect(changes).toMatchObject([
      { kind: 'updated', revision: 2, changed: ['name', 'last_name'] },
    ]);
    known = nowKnown(known, changes);
    const moved = { ...renamed, certified_on: '2026-11-19' };
    expect(sightingsOf([moved], known, salt)).toMatchObject([
      { kind: 'updated', revision: 3, changed: ['certified_on'] },
    ]);
  });

  it('counts an assessment that two pages showed once, as last read', () => {
    const changes = sightingsOf(
      [assessment({ name: 'Before' }), assessment({ name: 'After' })],
      new Map(),
      salt,
    );
    expect(changes.map(({ assessment }) => assessment.name)).toEqual(['After']);
  });

  it('calls an id that becomes another educator an update', () => {
    const first = assessment({ id: 7 });
    const known = nowKnown(new Map(), sightingsOf([first], new Map(), salt));
    const somebody = { name: 'Isaura Fenwillow', first_name: 'Isaura', last_name: 'Fenwillow' };
    const another = { ...first, ...somebody, seid: 'SEID-8', email: 'isaura@example.org' };
    expect(sightingsOf([another], known, salt)).toMatchObject([
      {
        ...{ kind: 'updated', revision: 2 },
        changed: ['seid', 'name', 'first_name', 'last_name', 'email'],
      },
    ]);
  });

  it('calls a row of a withdrawn certification restored, changed or not', () => {
    const first = assessment();
    const [created] = sightingsOf([first], new Map(), salt);
    if (created === undefined) throw new Error('nothing was created');
    const gone = { ...certification(created), revision: 2, presence: 'withdrawn' as const };
    const known = new Map([[first.id, gone]]);
    expect(sightingsOf([first], known, salt)).toMatchObject([
      { kind: 'restored', revision: 3, changed: [] },
    ]);
    expect(sightingsOf([{ ...first, name: 'Other' }], known, salt)).toMatchObject([
      { kind: 'restored', revision: 3, changed: ['name'] },
    ]);
  });

  it('calls it restored also if it comes back with an earlier fingerprint', () => {
    const [first, second] = ['a', 'b'].map((email) => assessment({ email }));
    if (!first || !second) throw new Error('there are two');
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

  it('calls a row with an earlier fingerprint an older answer, and says until when', () => {
    const [first, second, third] = ['a', 'b', 'c'].map((email) => assessment({ email }));
    if (!first || !second || !third) throw new Error('there are three');
    let known: ReadonlyMap<number, Certification> = new Map();
    const at = (nowMs: number, ...read: (typeof first)[]) => {
      const { changes, older } = compare(read, known, salt, nowMs, 600_000);
      known = nowKnown(known, changes);
      return { kinds: changes.map(({ kind }) => kind), older };
    };
    const day = first.certified_on;
    expect(at(0, first)).toEqual({ kinds: ['created'], older: [] });
    expect(at(60_000, second)).toEqual({ kinds: ['updated'], older: [] });
    expect(at(120_000, first)).toEqual({ kinds: [], older: [{ day, until: 660_000 }] });
    expect(at(180_000, third, first)).toEqual({
      kinds: ['updated'],
      older: [{ day, until: 660_000 }],
    });
    expect(at(660_000, second)).toEqual({ kinds: [], older: [{ day, until: 780_000 }] });
    expect(at(660_000, first)).toEqual({ kinds: ['updated'], older: [] });
  });
});

describe('the effect of changes on the counts of days', () => {
  const day = '2026-11-20';
  const [created] = sightingsOf([assessment({ certified_on: day })], new Map(), salt);
  if (created === undefined) throw new Error('nothing was created');
  const known = new Map([[created.assessment.id, certification(created)]]);

  it('adds new and restored certifications, and subtracts withdrawn ones from the missing', () => {
    expect(countDeltas([created])).toEqual(new Map([[day, 1]]));
    expect(countDeltas([withdrawal(certification(created))])).toEqual(new Map());
    const gone = { ...certification(created), presence: 'withdrawn' as const };
    const restored = sightingsOf([created.assessment], new Map([[gone.id, gone]]), salt);
    expect(countDeltas(restored)).toEqual(new Map([[day, 1]]));
  });

  it('moves a moved certification, and ignores other edits', () => {
    const moved = sightingsOf([{ ...created.assessment, certified_on: '2019-01-02' }], known, salt);
    expect(countDeltas(moved)).toEqual(
      new Map([
        ['2019-01-02', 1],
        [day, -1],
      ]),
    );
    const edited = sightingsOf([{ ...created.assessment, name: 'Other' }], known, salt);
    expect(edited).toHaveLength(1);
    expect(countDeltas(edited)).toEqual(new Map());
  });
});
