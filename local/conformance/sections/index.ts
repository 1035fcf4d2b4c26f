import type { Section } from '../check.ts';
import { authentication } from './authentication.ts';
import { limits } from './limits.ts';
import { list } from './list.ts';
import { metadata } from './metadata.ts';
import { record } from './record.ts';
import { refusals } from './refusals.ts';
import { resultParts } from './result-parts.ts';
import { singleRecord } from './single-record.ts';
import { states } from './states.ts';
import { tokenRequest } from './token-request.ts';
import { tokenResponse } from './token-response.ts';

/** The sections of docs/partner.md with statements that reading can check, in its order. */
export const sections: readonly Section[] = [
  tokenResponse,
  record,
  resultParts,
  metadata,
  states,
  tokenRequest,
  list,
  singleRecord,
  authentication,
  refusals,
  limits,
];
