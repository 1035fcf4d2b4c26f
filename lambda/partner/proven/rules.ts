import {
  looksSorted,
  type NameOrderEvidence,
  type TiesByName,
  tieMarks,
} from '../../detection/names-tied.ts';
import { anchorsOf, holdsAnchor, nextOffset } from '../../detection/seam.ts';

/** Which shared names may be ties: any, where the answers are no evidence. */
function tiesByName(evidence: NameOrderEvidence | undefined): TiesByName {
  return evidence?.ties ?? { first_name: true, last_name: true };
}

/** The decisions that a proven read rests on. A test replaces one to show that records are lost then. */
export const seamRules = { anchorsOf, holdsAnchor, looksSorted, nextOffset, tieMarks, tiesByName };

export type SeamRules = typeof seamRules;
