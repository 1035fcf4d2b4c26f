import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Certification, type Change, compare } from '../../../lambda/detection/compare.ts';
import { anyAssessment, assessment } from '../../support/assessments.ts';

const salt = 'salt-of-the-tests';

/** What the ledger would know after these changes. */
function nowKnown(known: ReadonlyMap<number, Certification>, changes: readonly Change[]) {
  const next = new Map(known);
  for (const { assessment, fingerprint, revision } of changes)
    next.set(assessment.id, {
      id: assessment.id,
      day: assessment.certified_on,
      fingerprint,
      revision,
    });
  return next;
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
});
