import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerUnavailableError } from '../../../lambda/ledger/errors.ts';
import { Integration } from '../../scaffold/integration.ts';
import { assessment } from '../../support/assessments.ts';
import { numbers, titles } from './scenarios.ts';

let story: Integration;

const daysAfter = (days: number) => Temporal.PlainDate.from('2026-11-21').add({ days }).toString();
const asked = 'no certification for unusually long';
const over = 'no unusual silence any more';

/** A tick every six hours, and one after it that has nothing left to do. */
async function days(count: number) {
  for (let n = 0; n < 4 * count; n++) {
    story.clock.advance({ minutes: 358 });
    await story.minutes(2);
  }
}

/** A certification a day for a hundred days up to the day before the clock begins. */
beforeEach(async () => {
  story = new Integration();
  story.world = numbers(1, 100).map((id) => assessment({ id, certified_on: daysAfter(-id) }));
  await story.baseline();
  await story.passSelfChecks();
  story.notices.length = 0;
});

describe('the silence of an integration that had certifications each day', () => {
  it('is asked about once, and told when certifications return', async () => {
    await days(2);
    expect(titles(story)).toEqual([]);
    // A certification of an old day or of a future date does not end it.
    for (const after of [-300, 300])
      story.add(assessment({ id: 800 + after, certified_on: daysAfter(after) }));
    await days(5);
    expect(titles(story)).toEqual([asked]);
    expect(story.notices[0]?.text).toContain(
      'no certification since 2026-11-20 (4 days); the longest silence of the past 13 months was 1 day\n',
    );
    story.add(assessment({ id: 900, certified_on: daysAfter(7) }));
    expect(await story.minute()).toMatchObject({ created: 1, conditions: {} });
    expect(titles(story)).toEqual([asked, over]);
  });

  it('is not asked about while a change is not recorded', async () => {
    story.ledger.commit = () => Promise.reject(new LedgerUnavailableError('PutItem', {}));
    story.add(assessment({ id: 900, certified_on: daysAfter(0) }));
    await days(6);
    expect(titles(story)).not.toContain(asked);
  });
});
