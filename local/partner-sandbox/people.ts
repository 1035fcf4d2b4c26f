import type { Educator } from './catalogue.ts';
import type { Inventor, Scope } from './genesis.ts';
import { inventEmail } from './invention.ts';
import type { Random } from './random.ts';
import { type Changes, educatorFieldNames, type NewAssessment } from './world-schema.ts';

const describes = (changes: Changes) => educatorFieldNames.some((field) => field in changes);

/** The person with these changes; the same object if they change no field of a person. */
export function described(educator: Educator, changes: Changes): Educator {
  if (!describes(changes)) return educator;
  const {
    first_name = educator.first_name,
    last_name = educator.last_name,
    seid = educator.seid,
    email = educator.email,
    status = educator.archived ? 'archived' : 'active',
  } = changes;
  const isRenamed = changes.first_name !== undefined || changes.last_name !== undefined;
  const { name = isRenamed ? `${first_name} ${last_name}` : educator.name } = changes;
  const archived = status === 'archived';
  return { ...educator, first_name, last_name, name, seid, email, archived };
}

/** A known educator who fits. A few tries find one, unless hardly any does. */
function anybody(
  { catalogue: { educators } }: Inventor,
  scope: Scope,
  random: Random,
  organizationId?: number,
): Educator | undefined {
  for (let attempt = 0; attempt < 8 && educators.size > 0; attempt++) {
    const educator = educators.at(random.below(educators.size));
    const { organization_id } = educator;
    const fits =
      organizationId === undefined
        ? scope.organizationIds.has(organization_id)
        : organization_id === organizationId;
    if (fits) return educator;
  }
  return undefined;
}

/** The person who completes the assessment: named, described, known or new. */
export function personFor(
  inventor: Inventor,
  scope: Scope,
  random: Random,
  wanted: NewAssessment,
): Educator {
  const { educators, organizations } = inventor.catalogue;
  const { user_id, organization_id } = wanted;
  const isAnybody = user_id === undefined && !describes(wanted);
  const known = isAnybody
    ? anybody(inventor, scope, random, organization_id)
    : educators.get(user_id ?? Number.NaN);
  if (known !== undefined) return described(known, wanted);
  const home = organization_id ?? organizations.anyOf(scope.organizationIds, random).id;
  const invented = described(inventor.educator(home, user_id), wanted);
  return { ...invented, email: wanted.email ?? inventEmail(invented, invented.id) };
}
