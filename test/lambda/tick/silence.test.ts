import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';
import { serverError } from '../../scaffold/partner.ts';
import { assessment } from '../../support/assessments.ts';

let story: Integration;

/** The clock begins on 2026-11-21: a certification a day up to the day before, for a hundred days. */
const history = Array.from({ length: 100 }, (_, index) =>
  assessment({ id: index + 1, certified_on: daysAfter(-1 - index) }),
);

function daysAfter(days: number): string {
  return Temporal.PlainDate.from('2026-11-21').add({ days }).toString();
}

const asked = 'no certification for unusually long';
const over = 'no unusual silence any more';

const titles = () => story.notices.map(({ subject }) => subject.replace(`${story.name}: `, ''));

/** Every six hours a tick, and one after it that has nothing left to do. */
async function days(count: number) {
  for (let n = 0; n < 4 * count; n++) {
    story.clock.advance({ minutes: 358 });
    await story.minutes(2);
  }
}

beforeEach(() => {
  story = new Integration();
  story.world = history;
});

async function begun() {
  await story.baseline();
  await story.passSelfChecks();
  story.notices.length = 0;
}

describe('an integration that had certifications every day and has none any more', () => {
  beforeEach(begun);

  it('is asked about once, and told of when they come again', async () => {
    await days(2);
    expect(titles()).toEqual([]);
    await days(5);
    expect(titles()).toEqual([asked]);
    expect(story.notices[0]?.text).toContain(
      'no certification since 2026-11-20 (4 days); the longest silence of the past 13 months was 1 day\n',
    );
    story.add(assessment({ id: 900, certified_on: daysAfter(7) }));
    expect(await story.minute()).toMatchObject({ created: 1, conditions: {} });
    expect(titles()).toEqual([asked, over]);
    // It has been as long once.
    await days(11);
    expect(titles()).toHaveLength(2);
    await days(2);
    expect(titles()).toEqual([asked, over, asked]);
  });

  it('is told of by a tick that reads and writes no more than any other', async () => {
    await days(5);
    const { silence } = await story.ledger.state();
    expect(silence).toEqual({ since: '2026-11-20', longest: 1 });
    const calls: string[] = [];
    const counted = new Proxy(story.ledger, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return (...values: unknown[]) => {
          calls.push(String(name));
          return method.apply(target, values);
        };
      },
    });
    story.requests.length = 0;
    await story.tick({ ledger: counted });
    expect(calls).toEqual(['state', 'saveState']);
    expect(story.requests).toEqual(['pulse']);
  });

  it('is still silent when one of an old day comes, or one is dated in the future', async () => {
    await days(3);
    story.add(assessment({ id: 900, certified_on: daysAfter(-300) }));
    story.add(assessment({ id: 901, certified_on: daysAfter(300) }));
    await days(2);
    expect(titles()).toEqual([asked]);
  });

  it('is not made silent by certifications that are withdrawn', async () => {
    for (let n = 0; n < 6; n++) {
      story.add(assessment({ id: 900 + n, certified_on: daysAfter(n) }));
      await days(1);
    }
    for (let n = 0; n < 6; n++) story.host.remove(900 + n);
    story.clock.advance({ minutes: 20 });
    await story.minutes(40);
    expect(story.heard.filter(({ type }) => type === 'certification.withdrawn')).toHaveLength(6);
    expect(titles()).toEqual([]);
  });

  it('is not asked about while the partner does not answer', async () => {
    story.host.fault = serverError;
    await days(6);
    expect(titles()).not.toContain(asked);
    story.add(assessment({ id: 900, certified_on: daysAfter(5) }));
    story.host.fault = undefined;
    await story.minutes(3);
    expect(titles()).not.toContain(asked);
  });
});

it('nobody is asked where the setting says so, and earlier or later as it says', async () => {
  const told: Record<string, readonly string[]> = {};
  for (const silence of [false, 2, 10] as const) {
    story = new Integration();
    story.world = history;
    story.settings = { silence };
    await begun();
    await days(3);
    told[String(silence)] = titles();
  }
  expect(told).toEqual({ false: [], 2: [asked], 10: [] });
});

it('operations are told in the next tick that a changed setting allows it, and not that certifications come', async () => {
  await begun();
  await days(5);
  expect(titles()).toEqual([asked]);
  story.settings = { silence: false };
  story.requests.length = 0;
  await story.tick();
  expect(story.requests).toEqual(['pulse']);
  expect(titles()).toEqual([asked, over]);
});
