import { beforeEach, describe, expect, it, vi } from 'vitest';
import { TickJournal } from '../../lambda/journal.ts';
import { SecretUnreadableError } from '../../lambda/partner/secret.ts';
import { district, synthesized } from '../infra/synthesized.ts';
import { Integration } from '../scaffold/integration.ts';
import {
  invalidToken,
  isOfDays,
  type MemoryPartner,
  serverError,
  tooManyRequests,
} from '../scaffold/partner.ts';
import {
  type Alarm,
  alarmOf,
  metricName,
  periodsLookedAt,
  valuesIn,
  Watch,
} from '../support/cloud-watch.ts';

/**
 * Compares the synthesized alarms with the output of ticks. An alarm on a metric without a writer,
 * or one that silence does not end, fails here.
 */

/** The integration's alarms by their names in the template. Each metric is known by its name alone. */
const alarms: ReadonlyMap<string, Alarm> = new Map(
  Object.entries(
    synthesized({ integrations: [district] }).findResources('AWS::CloudWatch::Alarm'),
  ).flatMap(([id, { Properties }]) => {
    const [, name] = /^Notifierdistricta?Alarms(\w+)[0-9A-F]{8}$/.exec(id) ?? [];
    return name ? [[name, alarmOf({ ...Properties, Dimensions: [] })] as const] : [];
  }),
);

/** An integration, and the texts that its ops get: notices, and alarms by the output of its ticks. */
class Duty {
  readonly story = new Integration();
  readonly watch = new Watch();
  readonly #journal = new TickJournal(this.story.name, 'ledger');
  readonly #written = vi.spyOn(console, 'log').mockReturnValue();
  #on: readonly string[] = [];

  get on(): string[] {
    return [...alarms].filter(([, one]) => this.watch.state(one) === 'ALARM').map(([name]) => name);
  }

  /** Runs a tick as the poll function does, and lets time pass until the next one. */
  async minute(): Promise<string[]> {
    const { story, watch } = this;
    this.#written.mockClear();
    const noticed = story.notices.length;
    const hasFailed = await this.#tick();
    for (const { metric, value } of this.#written.mock.calls.flatMap(([line]) => valuesIn(line))) {
      const [namespace = '', name = ''] = metric.split(' ');
      watch.note({ metric: metricName(namespace, name, []), value });
    }
    watch.note({ metric: 'AWS/Lambda Errors', value: Number(hasFailed) });
    watch.pass(60);
    const before = this.#on;
    this.#on = this.on;
    return [
      ...story.notices.slice(noticed).map(({ subject }) => subject.replace(`${story.name}: `, '')),
      ...this.#on.filter((name) => !before.includes(name)).map((name) => `${name} ALARM`),
      ...before.filter((name) => !this.#on.includes(name)).map((name) => `${name} OK`),
    ];
  }

  async minutes(count: number): Promise<void> {
    for (let n = 0; n < count; n++) await this.minute();
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
}

beforeEach(() => {
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT');
});

interface Fault {
  readonly answer?: MemoryPartner['fault'];
  /** Why the secret cannot be read. */
  readonly cause?: Error;
  readonly isSecretWrong?: true;
  readonly isLedgerFull?: true;
}

const faults: Readonly<Record<string, Fault>> = {
  away: { answer: serverError },
  'away-unsaved': { answer: serverError, isLedgerFull: true },
  'refusing-its-tokens': { answer: invalidToken },
  'allowing-nothing': { answer: tooManyRequests() },
  'refusing-credentials': { isSecretWrong: true },
  'secret-disturbed': { cause: new Error('disturbed') },
  'secret-denied': { cause: Object.assign(new Error('no'), { name: 'AccessDeniedException' }) },
};

function meet(story: Integration, name: string): void {
  const { answer, cause, isSecretWrong, isLedgerFull } = faults[name] ?? {};
  const { credentials } = story.host.access;
  story.host.fault = answer;
  story.credentialsFailure = cause && new SecretUnreadableError('x', { cause });
  story.credentials = isSecretWrong ? { ...credentials, clientSecret: 'another' } : credentials;
  if (isLedgerFull) vi.spyOn(story.ledger, 'saveState').mockRejectedValue(new Error('throttled'));
}

interface Story {
  /** The story up to the minute with which the alarm is on. */
  readonly begins: (duty: Duty) => unknown;
  readonly minutes?: number;
  readonly ends?: (story: Integration) => unknown;
  /** It reports a lasting condition: each tick counts it, and some lost ticks do not end it. */
  readonly lasts?: true;
}

/** The beginning and the end of each alarm of an integration. */
const stories: Readonly<Record<string, Story>> = {
  Failing: {
    begins: ({ story }) => {
      vi.spyOn(story.ledger, 'state').mockRejectedValue(new Error('throttled'));
    },
    minutes: 3,
    ends: ({ ledger }) => vi.mocked(ledger.state).mockRestore(),
  },
  NoCompletedTick: { begins: ({ watch }) => watch.pass(5 * 60), minutes: 0 },
  Undelivered: {
    begins: ({ story }) => {
      story.host.add(99, '2026-11-21');
      story.subscribers.refuse = () => true;
    },
    minutes: 20,
    ends: ({ subscribers }) => {
      subscribers.refuse = () => false;
    },
  },
  Undeliverable: {
    begins: async (duty) => {
      const { host, subscribers } = duty.story;
      // A topic that has never accepted anything is not believed.
      host.add(98, '2026-11-21');
      await duty.minute();
      host.add(99, '2026-11-21');
      subscribers.refuse = () => ({ code: 'InvalidParameter', forGood: true });
    },
    ends: (story) => story.operate({ command: 'discard', waiting: 'undeliverable' }),
    lasts: true,
  },
  Held: {
    begins: ({ story }) => {
      story.settings = { holdAbove: 5 };
      story.host.addMany(101, 6, '2026-11-21');
    },
    ends: (story) => story.operate({ command: 'discard', waiting: 'held' }),
    lasts: true,
  },
  Quarantined: {
    begins: ({ story }) => {
      story.host.add(99, '2026-11-21');
      story.host.spoil(99, { certified_on: 'some day' });
    },
    lasts: true,
  },
  Refused: {
    begins: ({ story }) => {
      // Its token expires.
      story.clock.advance({ hours: 3 });
      meet(story, 'secret-denied');
    },
    lasts: true,
  },
  Unproven: {
    begins: async ({ story }) => {
      story.host.add(99, '2026-11-21');
      story.host.spoil(99, { certified_on: 'some day' });
      await story.minutes(2);
      story.clock.advance({ hours: 25 });
    },
    minutes: 2,
    lasts: true,
  },
  Unexplained: {
    begins: ({ story }) => {
      story.host.count = (right, query) => (isOfDays(query) ? right : right + 1);
    },
    minutes: 14,
    ends: ({ host }) => {
      host.count = (right) => right;
    },
    lasts: true,
  },
  Throttled: {
    begins: async (duty) => {
      for (let n = 0; n < 3; n++) {
        duty.watch.note({ metric: 'AWS/Lambda Throttles', value: 1 });
        await duty.minute();
      }
    },
    minutes: 0,
  },
};

describe('an alarm of an integration', () => {
  it('has a story here', () => {
    expect(Object.keys(stories).sort()).toEqual([...alarms.keys()].sort());
  });

  it.each(Object.entries(stories))(
    'goes off by the output of ticks, and ends when its metric stops: %s',
    async (name, { begins, minutes = 1, ends, lasts }) => {
      const duty = new Duty();
      const { story, watch } = duty;
      const alarm = alarms.get(name);
      if (alarm === undefined) throw new Error(`no alarm ${name}`);
      story.host.addMany(1, 20, '2026-11-20');
      await duty.minutes(5);
      expect(duty.on).toEqual([]);
      await begins(duty);
      await duty.minutes(minutes);
      expect(duty.on).toContain(name);
      if (lasts) {
        await duty.minutes(periodsLookedAt(alarm) + 1);
        expect(duty.on, 'after more ticks').toContain(name);
        watch.pass(4 * 60);
        expect(duty.on, 'after lost ticks').toContain(name);
      }
      await ends?.(story);
      watch.pass(alarm.Period * periodsLookedAt(alarm));
      expect(duty.on, 'in silence').toEqual(['NoCompletedTick']);
      if (name !== 'NoCompletedTick') return;
      await duty.minute();
      expect(duty.on).toEqual([]);
    },
  );
});

/** Faults and their minutes, over and over for an hour. */
const outages = [
  'away 1, well 59',
  'away 14, well 46',
  'away 20, well 40',
  'away 5, allowing-nothing 55',
  'well 1, away 1',
  'refusing-its-tokens 1, away 1',
  'refusing-its-tokens 10, well 50',
  'refusing-its-tokens 20, well 40',
  'secret-disturbed 20, well 40',
  'secret-denied 5, well 55',
  'refusing-credentials 5, well 55',
  'away-unsaved 60',
];

it('ops get one line at the end of a short outage, a notice of a longer one before any alarm, and both at once if only people can mend it', async () => {
  let page = '';
  for (const outage of outages) {
    const cycle = outage.split(', ').flatMap((part) => {
      const [name = '', minutes] = part.split(' ');
      return Array<string>(Number(minutes)).fill(name);
    });
    const duty = new Duty();
    await duty.story.emptyBaseline();
    await duty.minutes(6);
    // Its token expires.
    duty.story.clock.advance({ hours: 3 });
    page += `${outage}\n`;
    for (let minute = 0; minute < 60; minute++) {
      meet(duty.story, cycle[minute % cycle.length] ?? '');
      for (const text of await duty.minute()) page += `  minute ${minute}: ${text}\n`;
    }
  }
  await expect(page).toMatchFileSnapshot('outages.txt');
});
