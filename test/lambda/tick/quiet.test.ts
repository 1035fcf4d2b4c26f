import { expect, it } from 'vitest';
import { Integration } from '../../scaffold/integration.ts';
import { tickSettings } from '../../scaffold/settings.ts';
import { assessment } from '../../support/assessments.ts';
import { numbers, on } from './scenarios.ts';

/** Each lasts, and a tick in which it lasts has nothing to do. */
const lasting = {
  'a digest that waits': (story: Integration) => {
    story.settings = { alerts: { ...tickSettings().alerts, digestEvery: 600 } };
    story.add(assessment({ id: 77 }));
  },
  'missing certifications': (story: Integration) => {
    story.world = story.world.slice(10);
  },
  'odd fields': (story: Integration) => story.host.edit(3, { email: null }),
  silence: (story: Integration) => {
    story.settings = { silence: 1 };
  },
};

it.each(Object.entries(lasting))(
  'a tick amid %s asks the partner once, reads the state once and writes it once',
  async (_, begin) => {
    const story = new Integration();
    story.world = on('2026-11-10', numbers(1, 20));
    await story.baseline();
    await story.passSelfChecks();
    begin(story);
    await story.minutes(20);
    story.requests.length = 0;
    const calls: string[] = [];
    const ledger = new Proxy(story.ledger, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        calls.push(String(name));
        return method.bind(target);
      },
    });
    const { conditions, digest } = await story.ledger.state();
    const sent = story.notices.length;
    await story.tick({ ledger });
    expect(calls).toEqual(['state', 'saveState']);
    expect(story.requests).toEqual(['pulse']);
    expect(story.notices).toHaveLength(sent);
    expect(conditions.size + Number(digest !== undefined)).toBe(1);
    expect(await story.ledger.state()).toMatchObject({ conditions });
  },
);
