import { Temporal } from 'temporal-polyfill';
import { beforeEach, describe, expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';
import { serverError } from '../../scaffold/partner.ts';
import { assessment } from '../../support/assessments.ts';

let story: Integration;

/**
 * The clock begins on 2026-11-21. There was a certification a day for a hundred days up to the day
 * before.
 */
const history = Array.from({ length: 100 }, (_, index) =>
  assessment({ id: index + 1, certified_on: daysAfter(-1 - index) }),
);

function daysAfter(days: number): string {
  return Temporal.PlainDate.from('2026-11-21').add({ days }).toString();
}

const asked = 'no certification for unusually long';
const over = 'no unusual silence any more';

const titles = () => story.notices.map(({ subject }) => subject.replace(`${story.name}: `, ''));

/** A tick every six hours, and one after it that has nothing left to do. */
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

describe('the silence of an integration that had certifications each day', () => {
  beforeEach(begun);

  it('is asked about once, and told when certifications return', async () => {
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
    // There has been such a silence before.
    await days(11);
    expect(titles()).toHaveLength(2);
    await days(2);
    expect(titles()).toEqual([asked, over, asked]);
  });

  it('is told by a tick that reads and writes no more than any other', async () => {
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

  it('continues after a certification of an old day or of a future date', async () => {
    await days(3);
    story.add(assessment({ id: 900, certified_on: daysAfter(-300) }));
    story.add(assessment({ id: 901, certified_on: daysAfter(300) }));
    await days(2);
    expect(titles()).toEqual([asked]);
  });

  it('does not begin with withdrawals', async () => {
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

it('is not asked about if the setting is off, and earlier or later by its number', async () => {
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

it('is told to be over in the next tick after the setting allows it, without another request', async () => {
  await begun();
  await days(5);
  expect(titles()).toEqual([asked]);
  story.settings = { silence: false };
  story.requests.length = 0;
  await story.tick();
  expect(story.requests).toEqual(['pulse']);
  expect(titles()).toEqual([asked, over]);
});
