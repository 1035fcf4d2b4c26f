import type { Inventor } from './genesis.ts';
import { inventEmail } from './invention.ts';
import type { Random } from './random.ts';
import type { Records } from './records.ts';
import { type Changes, educatorFieldNames, type NewAssessment } from './world-schema.ts';

/** Edits the person, and so all records of the person. */
export function describePerson(records: Records, position: number, changes: Changes): void {
  const { educators, ranks } = records.catalogue;
  const educator = educators.at(position);
  const { first_name, last_name, name, seid, email, status } = changes;
  if (first_name !== undefined) educator.first_name = first_name;
  if (last_name !== undefined) educator.last_name = last_name;
  if (name !== undefined) educator.name = name;
  else if (first_name !== undefined || last_name !== undefined) {
    educator.name = `${educator.first_name} ${educator.last_name}`;
  }
  ranks.name.forget(position);
  ranks.last_name.forget(position);
  if (seid !== undefined) educator.seid = seid;
  if (email !== undefined) educator.email = email;
  if (status !== undefined) educator.archived = status === 'archived';
  records.version++;
}

/** A known educator who fits. A few tries find one, unless hardly any does. */
function anybody(records: Records, random: Random, organizationId?: number): number | undefined {
  const { educators } = records.catalogue;
  for (let attempt = 0; attempt < 8 && educators.size > 0; attempt++) {
    const position = random.below(educators.size);
    const { organization_id } = educators.at(position);
    const fits =
      organizationId === undefined
        ? records.scope.organizationIds.has(organization_id)
        : organization_id === organizationId;
    if (fits) return position;
  }
  return undefined;
}

/** The catalogue position of the person who completes the assessment: named, described, known or new. */
export function personFor(
  records: Records,
  inventor: Inventor,
  random: Random,
  wanted: NewAssessment,
): number {
  const { educators, organizations } = records.catalogue;
  const { user_id, organization_id } = wanted;
  const described = educatorFieldNames.some((field) => field in wanted);
  if (user_id === undefined && !described) {
    const known = anybody(records, random, organization_id);
    if (known !== undefined) return known;
  }
  const known = user_id === undefined ? undefined : educators.positionOf(user_id);
  if (known !== undefined) {
    describePerson(records, known, wanted);
    return known;
  }
  const home =
    organization_id ??
    organizations.at(organizations.anyOf(records.scope.organizationIds, random)).id;
  const position = inventor.educator(home, user_id);
  const educator = educators.at(position);
  describePerson(records, position, wanted);
  if (wanted.email === undefined) educator.email = inventEmail(educator, educator.id);
  return position;
}
