import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../lambda/clock.ts';
import { withdrawal } from '../../../lambda/detection/compare.ts';
import type { Assessment } from '../../../lambda/events/assessment.ts';
import { certificationEvent } from '../../../lambda/events/event.ts';
import type { OwedEvent } from '../../../lambda/events/owed-event.ts';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import type { Ledger } from '../../../lambda/ports/ledger.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { sightingsOf } from '../../scaffold/sightings.ts';
import { assessment } from '../../support/assessments.ts';

const now = Temporal.Instant.from('2026-11-21T08:00:00Z');
const announced = { integration: 'district-a', late: false, time: now };

const database = ledgersInDynamoDb();
let ledger: Ledger;
beforeEach(() => {
  ({ ledger } = database.of(announced.integration, systemClock, { warn: () => {} }));
});

async function commit(read: Assessment): Promise<OwedEvent | undefined> {
  const [change] = sightingsOf([read], new Map(), 'salt');
  if (change === undefined) throw new Error('nothing changed');
  const event = certificationEvent({
    ...announced,
    type: 'certification.created',
    assessment: read,
    fields: 'all',
    revision: 1,
    changed: [],
  });
  const owed = await ledger.commit(change, event, now, 'pending');
  return typeof owed === 'object' ? owed : undefined;
}

async function leftoverOf(id: number): Promise<OwedEvent | undefined> {
  for await (const { owed } of ledger.leftovers('event')) {
    const found = owed.find(({ certificationId }) => certificationId === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

describe('the item of a certification has room', () => {
  it('for the largest event that SNS accepts', async () => {
    const owed = await commit(assessment({ id: 1, name: 'é'.repeat(130_000) }));
    expect(owed?.event.data.truncated).toBeUndefined();
    expect(await leftoverOf(1)).toEqual(owed);
  });

  it('for an assessment whose name alone is larger than an item', async () => {
    const owed = await commit(assessment({ id: 2, assessment_name: 'Knots '.repeat(100_000) }));
    expect(owed?.event.data.truncated).toBe(true);
    expect(await leftoverOf(2)).toEqual(owed);
  });

  it("for a cut name with which a withdrawal passes the assessment's filters", async () => {
    const created = await commit(assessment({ id: 3, assessment_name: 'Knöts '.repeat(1_000) }));
    const before = (await ledger.known([3])).get(3);
    if (created === undefined || before === undefined) throw new Error('not committed');
    const { id, organization_id, assessment_name, day: certified_on } = before;
    const gone = certificationEvent({
      type: 'certification.withdrawn',
      ...announced,
      revision: withdrawal(before).revision,
      assessment: { id, organization_id, assessment_name, certified_on },
    });
    const nameOf = ({ assessment_name }: ReturnType<typeof messageOf>['attributes']) =>
      assessment_name;
    expect(nameOf(messageOf(gone).attributes)).toEqual(nameOf(messageOf(created.event).attributes));
  });
});
