import type { Clock } from '../../lambda/clock.ts';
import type { Change } from '../../lambda/decisions/compare.ts';
import { unhurried } from '../../lambda/decisions/pace.ts';
import type { Assessment } from '../../lambda/events/assessment.ts';
import type { OwedEvent } from '../../lambda/events/owed-event.ts';
import { LedgerUnavailableError } from '../../lambda/ledger/errors.ts';
import { PartnerError } from '../../lambda/partner/errors.ts';
import type { Page, PartnerClient } from '../../lambda/partner/index.ts';
import type { Announcer, DigestOutcome, PublishOutcome } from '../../lambda/ports/announcer.ts';
import type { Ledger } from '../../lambda/ports/ledger.ts';
import { isNothing, ledgerReads } from '../scaffold/ports.ts';
import type { Question } from './world.ts';

/** A tick's request to the partner, the ledger or SNS. */
export type Request<Answer = unknown> = {
  readonly name: string;
  /** The request is not carried out. The tick gets this answer. */
  readonly failed: () => Promise<Answer>;
} & (
  | { readonly to: 'partner'; readonly question: Question }
  | {
      readonly to: 'ledger' | 'announcer';
      readonly isWrite: boolean;
      readonly perform: () => Promise<Answer>;
      /** For an index: its earlier answer. */
      readonly lagging?: () => Promise<Answer>;
    }
);

/** Carries out a request in its turn. */
export type Ask = <Answer>(request: Request<Answer>) => Promise<Answer>;

export function clientOf(ask: Ask): Pick<PartnerClient, 'list' | 'get' | 'pace'> {
  const asked = <Answer>(name: 'list' | 'get', question: Question) =>
    ask<Answer>({
      to: 'partner',
      name,
      question,
      failed: () => Promise.reject(new PartnerError('unavailable', name)),
    });
  return {
    pace: { value: unhurried, perMinute: 6_000 },
    list: (query = {}) => asked<Page>('list', { list: query }),
    get: (id) => asked<Assessment | undefined>('get', { id }),
  };
}

/** An index may hide changes of this period. */
const mostLagMs = 4 * 60_000;

/** @param heard called with each committed change */
export function ledgerOf(
  real: Ledger,
  clock: Clock,
  ask: Ask,
  heard: (change: Change) => void,
): Ledger {
  const asked = <Answer>(
    name: string,
    perform: () => Promise<Answer>,
    more?: { readonly lagging: () => Promise<Answer> },
  ) =>
    ask({
      to: 'ledger',
      name,
      isWrite: !ledgerReads.has(name),
      perform,
      failed: () => Promise.reject(new LedgerUnavailableError(name, {})),
      ...more,
    });
  return new Proxy(real, {
    get: (target, property) => {
      if (property === 'leftovers')
        return async function* (owing: 'event' | 'digest') {
          const shownUntil = (until: number) => async () => {
            const pages = await Array.fromAsync(target.leftovers(owing));
            const isShown = ({ event }: OwedEvent) => Date.parse(event.time) <= until;
            return pages.map((page) => ({ ...page, owed: page.owed.filter(isShown) }));
          };
          const lagging = shownUntil(clock.now().epochMilliseconds - mostLagMs);
          yield* await asked('leftovers', shownUntil(Number.POSITIVE_INFINITY), { lagging });
        };
      const method: unknown = Reflect.get(target, property);
      if (typeof method !== 'function') return method;
      return (...values: unknown[]) => {
        const perform = async () => {
          const answer: unknown = await method.apply(target, values);
          if (property === 'commit' && answer !== undefined) heard(values[0] as Change);
          return answer;
        };
        return isNothing(values[0]) ? perform() : asked(String(property), perform);
      };
    },
  });
}

type Place = 'state' | 'calendar' | 'items' | 'topics';

const callsOf = {
  state: ['state', 'recordedState', 'takeLease', 'saveState', 'touch'],
  calendar: ['calendar', 'saveDays', 'addToDays', 'touch'],
};

/** The places that a request reads or writes. */
function placesOf({ to, name }: Request): readonly Place[] {
  if (to === 'announcer') return ['topics'];
  const places = (['state', 'calendar'] as const).filter((place) => callsOf[place].includes(name));
  return places.length > 0 ? places : ['items'];
}

/** Whether the order of two requests matters. */
export function doMeet(one: Request, other: Request): boolean {
  const places = placesOf(other);
  return placesOf(one).some((place) => places.includes(place));
}

/** The ears of subscribers, people and ops. */
export interface Listeners {
  readonly event: (owed: OwedEvent) => void;
  readonly digest: (ids: readonly string[]) => void;
  readonly notice: (subject: string) => void;
}

export function announcerOf(ask: Ask, heard: Listeners): Announcer {
  const told = <Answer>(name: string, perform: () => Promise<Answer>, failed: Answer) =>
    ask({ to: 'announcer', name, isWrite: true, perform, failed: async () => failed });
  const mail = (name: string, hear: () => void) => {
    const perform = async () => {
      hear();
      return { accepted: true } as const;
    };
    return told<DigestOutcome>(name, perform, { accepted: false, code: 'InternalError' });
  };
  return {
    publish: async (owed, _, onAccepted) => {
      const outcome = await told<PublishOutcome>(
        'publish',
        async () => {
          for (const one of owed) heard.event(one);
          return { accepted: owed, refused: [] };
        },
        { accepted: [], refused: owed.map((one) => ({ owed: one, code: 'InternalError' })) },
      );
      if (outcome.accepted.length > 0) await onAccepted?.(outcome.accepted);
      return outcome;
    },
    tellPeople: (events) => mail('tellPeople', () => heard.digest(events.map(({ id }) => id))),
    notify: ({ subject }) => mail('notify', () => heard.notice(subject)),
  };
}
