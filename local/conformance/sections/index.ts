import type { Credentials } from '../../../lambda/partner/token.ts';
import type { Grant } from '../host.ts';
import type { Section } from '../question.ts';
import { authentication, errors, tokenEndpoint, tokenResponse } from './access.ts';
import { states } from './filters.ts';
import { assessments, limits, metadata } from './list.ts';
import { assessmentRecord, resultPart, singleRecord } from './records.ts';

/** The sections of docs/partner.md with statements that reading can check, in its order. */
export const sections = (
  grants: readonly Grant[],
  credentials: Credentials,
): readonly Section[] => [
  tokenResponse(grants),
  assessmentRecord,
  resultPart,
  metadata,
  states,
  tokenEndpoint(grants),
  assessments,
  singleRecord,
  authentication(grants),
  errors(credentials),
  limits(grants),
];
