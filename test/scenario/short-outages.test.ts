import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TickJournal } from '../../lambda/journal.ts';
import { SecretUnreadableError } from '../../lambda/partner/secret.ts';
import { district, synthesized } from '../infra/synthesized.ts';
import { Integration } from '../scaffold/integration.ts';
import { invalidToken, serverError, tooManyRequests } from '../scaffold/partner.ts';
import { type Alarm, alarmOf, valuesIn, Watch } from '../support/cloud-watch.ts';

/** An integration, and the texts that its ops get: notices, and alarms by the output of its ticks. */
class Duty {
  readonly story = new Integration();
  readonly #watch = new Watch();
  readonly #alarms = alarms();
  readonly #journal = new TickJournal(this.story.name, 'ledger');
  readonly #on = new Set<string>();
  #noticed = 0;

  /** Runs a tick as the poll function does, and lets time pass until the next one. */
  async minute(): Promise<string[]> {
    const written = vi.spyOn(console, 'log').mockReturnValue();
    written.mockClear();
    const hasFailed = await this.#tick();
    const lines = written.mock.calls.map(([line]) => String(line));
    const values = lines.flatMap(valuesIn).map(({ metric, value }) => ({
      metric: metric.split(' ').slice(0, 2).join(' '),
      value,
    }));
    this.#watch.note(...values, { metric: 'AWS/Lambda Errors', value: Number(hasFailed) });
    this.#watch.pass(60);
    return this.#told();
  }

  async #tick(): Promise<boolean> {
    const effort = { requests: 1, durationMs: 1 };
    try {
      this.#journal.completed({ ...(await this.story.minute()), ...effort });
      return false;
    } catch (error) {
      this.#journal.failed(error, effort);
      return true;
    }
  }

  #told(): string[] {
    const notices = this.story.notices.slice(this.#noticed).map(({ subject }) => subject);
    this.#noticed = this.story.notices.length;
    const told = notices.map((subject) => subject.replace(`${this.story.name}: `, ''));
    for (const [name, alarm] of this.#alarms) {
      const isOn = this.#watch.state(alarm) === 'ALARM';
      if (isOn !== this.#on.has(name)) told.push(`${name} ${isOn ? 'ALARM' : 'OK'}`);
      if (isOn) this.#on.add(name);
      else this.#on.delete(name);
    }
    return told;
  }
}

/** The integration's alarms by their names in the template. Each metric is known by its name alone. */
function alarms(): ReadonlyMap<string, Alarm> {
  const found = synthesized({ integrations: [district] }).findResources('AWS::CloudWatch::Alarm');
  return new Map(
    Object.entries(found).flatMap(([id, { Properties }]) => {
      const [, name] = /^Notifierdistricta?Alarms(\w+)[0-9A-F]{8}$/.exec(id) ?? [];
      return name ? [[name, alarmOf({ ...Properties, Dimensions: [] })] as const] : [];
    }),
  );
}

beforeEach(() => {
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT');
});
afterEach(() => vi.unstubAllEnvs());

type Fault = (story: Integration) => void;

/** Faults that may end without any action. */
const faults: Readonly<Record<string, Fault>> = {
  'Secrets Manager disturbed': (story) => {
    story.credentialsFailure = new SecretUnreadableError('x', { cause: new Error('disturbed') });
  },
  'the partner refusing its own tokens': (story) => {
    story.host.fault = invalidToken;
  },
  'the partner away': (story) => {
    story.host.fault = serverError;
  },
};

const wordings = {
  'Secrets Manager disturbed': [
    'the credentials cannot be read',
    'the credentials can be read again',
  ],
  'the partner refusing its own tokens': [
    'the partner refuses the tokens that it issues',
    'the partner accepts its tokens again',
  ],
  'the partner away': ['the partner does not answer', 'the partner answers again'],
} as const satisfies Readonly<Record<string, readonly [begins: string, ends: string]>>;

/** The texts that ops get within an hour of an outage. */
async function toldOf(duty: Duty, fails: Fault, minutes: number): Promise<Told[]> {
  const { story } = duty;
  for (let n = 0; n < 6; n++) await duty.minute();
  // Its token expires.
  story.clock.advance({ hours: 3 });
  fails(story);
  const told: Told[] = [];
  for (let minute = 0; minute < 60; minute++) {
    if (minute === minutes) mend(story);
    for (const what of await duty.minute()) told.push({ minute, what });
  }
  return told;
}

interface Told {
  readonly minute: number;
  readonly what: string;
}

function mend(story: Integration): void {
  story.host.fault = undefined;
  story.credentialsFailure = undefined;
  story.credentials = story.host.access.credentials;
}

const isAlarm = ({ what }: Told) => / (ALARM|OK)$/.test(what);

describe.each(Object.entries(wordings))('%s', (name, [begins, ends]) => {
  const fails = faults[name] ?? mend;

  it('for a minute is not told, since the next tick makes up for it', async () => {
    expect(await toldOf(new Duty(), fails, 1)).toEqual([]);
  });

  it.each([2, 5, 10, 14])('for %i minutes is told in one line, at its end', async (minutes) => {
    const duty = new Duty();
    const told = await toldOf(duty, fails, minutes);
    expect(told.map(({ what }) => what)).toEqual([`${ends}, after ${minutes} minutes`]);
    expect(duty.story.notices.at(-1)?.text.trim()).not.toContain('\n');
    // A tick waits for a silent host, which may delay the notice by a minute.
    expect(told[0]?.minute).toBeLessThanOrEqual(16);
  });

  it('for longer is told after a quarter of an hour, before any alarm, and at its end', async () => {
    const told = await toldOf(new Duty(), fails, 20);
    const [first, ...later] = told;
    expect(first).toEqual({ minute: 15, what: begins });
    expect(later.filter((one) => !isAlarm(one)).map(({ what }) => what)).toEqual([ends]);
    expect(told.filter(isAlarm).map(({ what }) => what)).toContain('NoCompletedTick ALARM');
  });
});

it('an outage in every other tick is told all the same', async () => {
  const duty = new Duty();
  const told: string[] = [];
  for (let minute = 0; minute < 60; minute++) {
    duty.story.host.fault = minute % 2 > 0 ? serverError : undefined;
    told.push(...(await duty.minute()));
  }
  expect(told.length).toBeGreaterThan(0);
  expect(told.length).toBeLessThan(8);
});

it('an outage that alternates with refused tokens is told after a quarter of an hour, without a notice that tokens are accepted', async () => {
  const duty = new Duty();
  for (let n = 0; n < 6; n++) await duty.minute();
  const told: string[] = [];
  for (let minute = 0; minute < 60; minute++) {
    duty.story.host.fault = minute % 2 > 0 ? serverError : invalidToken;
    for (const what of await duty.minute()) told.push(`${minute} ${what}`);
  }
  expect(told[0]).toMatch(/^1[5-7] the partner refuses the tokens that it issues/);
  expect(told.join()).not.toContain('accepts its tokens again');
  expect(told.join()).toContain('NoCompletedTick ALARM');
});

it('an outage of five minutes before an hour of 429 is not told to last, since the partner answers', async () => {
  const duty = new Duty();
  for (let n = 0; n < 6; n++) await duty.minute();
  const told: string[] = [];
  for (let minute = 0; minute < 60; minute++) {
    duty.story.host.fault = minute < 5 ? serverError : tooManyRequests();
    told.push(...(await duty.minute()));
  }
  expect(told).toEqual(['NoCompletedTick ALARM', 'the partner allows too few requests']);
});

it('an outage is an error and sets off alarms if the ledger cannot save its beginning', async () => {
  const duty = new Duty();
  for (let n = 0; n < 6; n++) await duty.minute();
  duty.story.host.fault = serverError;
  vi.spyOn(duty.story.ledger, 'saveState').mockRejectedValue(new Error('throttled'));
  const told: string[] = [];
  for (let minute = 0; minute < 15; minute++) told.push(...(await duty.minute()));
  vi.restoreAllMocks();
  expect(told).toContain('Failing ALARM');
});

it.each([
  [
    'refused credentials',
    'the partner refuses the credentials',
    (story: Integration) => {
      story.credentials = { ...story.credentials, clientSecret: 'another' };
    },
  ],
  [
    'a denied secret',
    'the credentials cannot be read',
    (story: Integration) => {
      const cause = Object.assign(new Error('denied'), { name: 'AccessDeniedException' });
      story.credentialsFailure = new SecretUnreadableError('x', { cause });
    },
  ],
] as const)('%s, which only people can repair, are told at once', async (_, begins, fails) => {
  const [first] = await toldOf(new Duty(), fails, 5);
  expect(first).toEqual({ minute: 0, what: begins });
});
