import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Certification,
  compare,
  countDeltas,
  type Sighting,
  withdrawal,
} from '../../../lambda/detection/compare.ts';
import { anyAssessment, assessment } from '../../support/assessments.ts';

const salt = 'salt-of-the-tests';

function certification({ assessment, fingerprint, revision }: Sighting): Certification {
  const { id, certified_on, organization_id, assessment_name } = assessment;
  return {
    id,
    day: certified_on,
    fingerprint,
    revision,
    presence: 'present',
    organization_id,
    assessment_name,
  };
}

/** What the ledger would know after these changes. */
function nowKnown(known: ReadonlyMap<number, Certification>, changes: readonly Sighting[]) {
  return new Map([
    ...known,
    ...changes.map((change) => [change.assessment.id, certification(change)] as const),
  ]);
}

describe('compare', () => {
  it('finds everything new against an empty ledger, once each, as revision 1', () => {
    fc.assert(
      fc.property(fc.array(anyAssessment), (read) => {
        const changes = compare(read, new Map(), salt);
        expect(changes.map(({ assessment }) => assessment.id).sort()).toEqual(
          [...new Set(read.map(({ id }) => id))].sort(),
        );
        expect(changes.every(({ kind, revision }) => kind === 'created' && revision === 1)).toBe(
          true,
        );
      }),
    );
  });

  it('finds nothing in what it has just found', () => {
    fc.assert(
      fc.property(fc.array(anyAssessment), (read) => {
        const known = nowKnown(new Map(), compare(read, new Map(), salt));
        expect(compare(read, known, salt)).toEqual([]);
      }),
    );
  });

  it('raises the revision by one for each change and names what changed', () => {
    const first = assessment();
    let known = nowKnown(new Map(), compare([first], new Map(), salt));
    const renamed = { ...first, name: 'Odalys Ashgrove', last_name: 'Ashgrove' };
    const changes = compare([renamed], known, salt);
    expect(changes).toMatchObject([
      { kind: 'updated', revision: 2, changed: ['name', 'last_name'] },
    ]);
    known = nowKnown(known, changes);
    const moved = { ...renamed, certified_on: '2026-11-19' };
    expect(compare([moved], known, salt)).toMatchObject([
      { kind: 'updated', revision: 3, changed: ['certified_on'] },
    ]);
  });

  it('counts an assessment that two pages showed once, as last read', () => {
    const changes = compare(
      [assessment({ name: 'Before' }), assessment({ name: 'After' })],
      new Map(),
      salt,
    );
    expect(changes.map(({ assessment }) => assessment.name)).toEqual(['After']);
  });

  it('calls it an update when an id is another educator from now on', () => {
    const first = assessment({ id: 7 });
    const known = nowKnown(new Map(), compare([first], new Map(), salt));
    const somebody = { name: 'Isaura Fenwillow', first_name: 'Isaura', last_name: 'Fenwillow' };
    const another = { ...first, ...somebody, seid: 'SEID-8', email: 'isaura@example.org' };
    expect(compare([another], known, salt)).toMatchObject([
      {
        ...{ kind: 'updated', revision: 2 },
        changed: ['seid', 'name', 'first_name', 'last_name', 'email'],
      },
    ]);
  });

  it('calls restored what comes back after it was withdrawn, whether or not it changed', () => {
    const first = assessment();
    const [created] = compare([first], new Map(), salt);
    if (created === undefined) throw new Error('nothing was created');
    const gone = { ...certification(created), revision: 2, presence: 'withdrawn' as const };
    const known = new Map([[first.id, gone]]);
    expect(compare([first], known, salt)).toMatchObject([
      { kind: 'restored', revision: 3, changed: [] },
    ]);
    expect(compare([{ ...first, name: 'Other' }], known, salt)).toMatchObject([
      { kind: 'restored', revision: 3, changed: ['name'] },
    ]);
  });
});

describe('how changes alter the counts of days', () => {
  const day = '2026-11-20';
  const [created] = compare([assessment({ certified_on: day })], new Map(), salt);
  if (created === undefined) throw new Error('nothing was created');
  const known = new Map([[created.assessment.id, certification(created)]]);

  it('adds what is new or restored, and leaves what is withdrawn, which was missing', () => {
    expect(countDeltas([created])).toEqual(new Map([[day, 1]]));
    expect(countDeltas([withdrawal(certification(created))])).toEqual(new Map());
    const gone = { ...certification(created), presence: 'withdrawn' as const };
    const restored = compare([created.assessment], new Map([[gone.id, gone]]), salt);
    expect(countDeltas(restored)).toEqual(new Map([[day, 1]]));
  });

  it('moves what has moved, and ignores other edits', () => {
    const moved = compare([{ ...created.assessment, certified_on: '2019-01-02' }], known, salt);
    expect(countDeltas(moved)).toEqual(
      new Map([
        ['2019-01-02', 1],
        [day, -1],
      ]),
    );
    const edited = compare([{ ...created.assessment, name: 'Other' }], known, salt);
    expect(edited).toHaveLength(1);
    expect(countDeltas(edited)).toEqual(new Map());
  });
});
