import { stripVTControlCharacters, styleText } from 'node:util';
import * as z from 'zod';
import type { CertificationEvent } from '../lambda/events/event.ts';
import type { TickReport } from '../lambda/tick/report.ts';
import type { InvocationResult, OutputLine } from './aws/index.ts';
import { eventIn, type Mail } from './mails-and-events.ts';

type Style = Parameters<typeof styleText>[0];

/** A foreign text must not move the cursor or forge a line. */
const oneLine = (text: string) =>
  stripVTControlCharacters(text).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');

const tickLine = z.looseObject({
  outcome: z.string(),
  requests: z.number(),
  created: z.number(),
  recorded: z.number(),
  updated: z.number(),
  withdrawn: z.number(),
  restored: z.number(),
  held: z.number(),
  delivered: z.number(),
  undelivered: z.number(),
  quarantined: z.number(),
  durationMs: z.number(),
} satisfies Partial<Record<keyof TickReport, z.ZodType>>);

const logLine = z.looseObject({
  level: z.enum(['WARN', 'ERROR', 'CRITICAL']),
  message: z.string(),
  requests: z.number().optional(),
  durationMs: z.number().optional(),
  problem: z
    .looseObject({
      name: z.string(),
      code: z.string().optional(),
      message: z.string().optional(),
      whatToDo: z.string().optional(),
    })
    .optional(),
});
const routineKeys = new Set([
  'level',
  'message',
  'timestamp',
  'service',
  'sampling_rate',
  'problem',
  'requests',
  'durationMs',
]);

/** Wide enough for `tick 9999`. */
const labelWidth = 9;

/** A withdrawal names nobody. Other events name the person only if the integration's `fields` include the name. */
const whoIn = (event: CertificationEvent) =>
  (event.type !== 'certification.withdrawn' && event.data.assessment.name) ||
  `assessment ${event.subject}`;
const organizationIn = (event: CertificationEvent) =>
  (event.type !== 'certification.withdrawn' && event.data.assessment.organization_name) ||
  `organization ${event.data.assessment.organization_id ?? 'not known'}`;

/** The requests and the duration of a tick. */
interface Effort {
  readonly requests: number;
  readonly durationMs: number;
}

export interface TickOrigin {
  readonly functionName: string;
  /** Shown only if there are several. */
  readonly integration?: string;
  /** A provocation made the tick fail. */
  readonly isProvoked?: boolean;
}

/** The numbers of events, mails and ticks so far. */
export interface ScreenTally {
  ticks: number;
  failedTicks: number;
  /** Ticks that failed because of a provocation. */
  provokedTicks: number;
  requests: number;
  events: number;
  duplicates: number;
  digests: number;
  notices: number;
}

export interface ScreenOptions {
  readonly timeOfDay: () => string;
  readonly write: (line: string) => void;
  readonly isColoured?: boolean;
}

/** Writes to the terminal line by line, and counts. */
export class Screen {
  readonly tally: ScreenTally = {
    ticks: 0,
    failedTicks: 0,
    provokedTicks: 0,
    requests: 0,
    events: 0,
    duplicates: 0,
    digests: 0,
    notices: 0,
  };
  readonly #seenEvents = new Set<string>();
  readonly #timeOfDay: () => string;
  readonly #write: (line: string) => void;
  readonly #isColoured: boolean;
  /** The log lines of a tick that fails: its result lacks these facts. */
  readonly #efforts = new Map<string, Effort>();

  constructor({ timeOfDay, write, isColoured = false }: ScreenOptions) {
    this.#timeOfDay = timeOfDay;
    this.#write = write;
    this.#isColoured = isColoured;
  }

  /** Name and value, aligned. */
  heading(title: string, facts: readonly (readonly [name: string, value: string])[]): void {
    this.#write(this.#styled('bold', title));
    for (const [name, value] of facts) this.#write(`  ${this.#dim(name.padEnd(13))}${value}`);
    this.#write('');
  }

  /** A step of the start. */
  step(what: string): void {
    this.#line(this.#styled('cyan', 'start'.padEnd(labelWidth)), what);
  }

  warning(text: string): void {
    this.#write(this.#styled('yellow', text));
  }

  /** The outcome of a tick, from the function's result. */
  tick(
    result: InvocationResult,
    { functionName, integration, isProvoked = false }: TickOrigin,
  ): void {
    this.tally.ticks += 1;
    const label = this.#styled('bold', `tick ${this.tally.ticks}`.padEnd(labelWidth));
    const whose = integration === undefined ? [] : [integration];
    const effort = this.#efforts.get(functionName);
    this.#efforts.delete(functionName);
    if (result.outcome === 'failed') {
      this.#countFailed(isProvoked);
      this.tally.requests += effort?.requests ?? 0;
      const provoked = isProvoked ? [this.#styled('yellow', 'provoked')] : [];
      this.#line(label, ...whose, ...provoked, ...this.#failed(result, effort));
      return;
    }
    const line = tickLine.parse(result.payload);
    this.tally.requests += line.requests;
    if (line.outcome === 'disturbed') this.#countFailed(isProvoked);
    this.#line(label, ...whose, ...this.#ended(line));
  }

  #countFailed(isProvoked: boolean): void {
    this.tally[isProvoked ? 'provokedTicks' : 'failedTicks'] += 1;
  }

  #failed(
    { errorType, errorMessage }: Extract<InvocationResult, { outcome: 'failed' }>,
    effort: Effort | undefined,
  ): string[] {
    const problem = [this.#styled('red', 'failed'), `${errorType}: ${errorMessage}`];
    if (effort === undefined) return problem;
    return [count(effort.requests, 'request'), ...problem, `${Math.round(effort.durationMs)} ms`];
  }

  #ended(line: z.output<typeof tickLine>): string[] {
    return [
      count(line.requests, 'request'),
      line.outcome === 'baseline' ? `${line.recorded} recorded as known` : `${line.created} new`,
      ...(line.updated > 0 ? [`${line.updated} changed`] : []),
      ...(line.withdrawn > 0 ? [`${line.withdrawn} withdrawn`] : []),
      ...(line.restored > 0 ? [`${line.restored} restored`] : []),
      ...(line.held > 0 ? [this.#styled('yellow', `${line.held} held`)] : []),
      `${line.delivered} delivered`,
      ...(line.undelivered > 0 ? [this.#styled('yellow', `${line.undelivered} undelivered`)] : []),
      ...(line.quarantined > 0 ? [this.#styled('yellow', `${line.quarantined} quarantined`)] : []),
      `${Math.round(line.durationMs)} ms`,
      ...(line.outcome === 'completed' ? [] : [this.#styled('cyan', line.outcome)]),
    ];
  }

  /**
   * An event as a subscriber gets it: person, assessment, organization and day. Of any other message no content is
   * shown.
   *
   * @returns undefined if the message is no event
   */
  event(body: string): CertificationEvent | undefined {
    const event = eventIn(body);
    if (event === undefined) {
      this.#ignored('a message that is no event');
      return undefined;
    }
    const { id, type, data } = event;
    this.tally.events += 1;
    const isDuplicate = this.#seenEvents.has(id);
    if (isDuplicate) this.tally.duplicates += 1;
    this.#seenEvents.add(id);
    const { assessment, late, changed } = data;
    this.#line(
      this.#styled('green', type.replace('certification.', '').padEnd(labelWidth)),
      this.#styled('bold', oneLine(whoIn(event))),
      oneLine(assessment.assessment_name ?? 'an assessment without a name'),
      oneLine(organizationIn(event)),
      assessment.certified_on,
      ...(late ? [this.#styled('yellow', 'late')] : []),
      ...(changed.length > 0 ? [`changed: ${oneLine(changed.join(', '))}`] : []),
      ...(isDuplicate ? [this.#styled('yellow', 'told before')] : []),
      this.#dim(oneLine(id)),
    );
    return event;
  }

  /** A digest as it would reach a mailbox. @param mail undefined: the message is none */
  digest(mail: Mail | undefined): void {
    if (mail === undefined) {
      this.#ignored('a message that is no digest');
      return;
    }
    this.tally.digests += 1;
    this.#mail(this.#styled('magenta', 'digest'.padEnd(labelWidth)), mail);
  }

  /** A notice to ops. @param mail undefined: the message is none */
  notice(mail: Mail | undefined): void {
    if (mail === undefined) {
      this.#ignored('a message that is no notice');
      return;
    }
    this.tally.notices += 1;
    this.#mail(this.#styled('yellow', 'notice'.padEnd(labelWidth)), mail);
  }

  #ignored(what: string): void {
    this.#line(this.#styled('yellow', 'ignored'.padEnd(labelWidth)), what);
  }

  #mail(label: string, { subject, text }: Mail): void {
    this.#line(label, this.#styled('bold', oneLine(subject)));
    for (const line of text.trimEnd().split('\n')) this.#below(`│ ${oneLine(line)}`);
  }

  /** The function's log, besides its one line for each tick: warnings, errors, and other text unchanged. */
  output({ functionName, kind, text }: OutputLine): void {
    if (kind === 'metrics' || text.trim() === '') return;
    const json = jsonOrNothing(text);
    if (json === undefined) {
      this.#below(oneLine(text));
      return;
    }
    const parsed = logLine.safeParse(json);
    if (!parsed.success) return;
    const { level, message, problem, requests, durationMs } = parsed.data;
    if (requests !== undefined && durationMs !== undefined)
      this.#efforts.set(functionName, { requests, durationMs });
    const details = Object.entries(parsed.data)
      .filter(([key]) => !routineKeys.has(key))
      .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
    const what = problem?.message ?? problem?.name;
    this.#line(
      this.#styled(level === 'WARN' ? 'yellow' : 'red', level.toLowerCase().padEnd(labelWidth)),
      ...[message, ...(what ? [what] : []), ...details].map(oneLine),
    );
    if (problem?.whatToDo) this.#below(`→ ${oneLine(problem.whatToDo)}`);
  }

  summary(): void {
    const { ticks, failedTicks, provokedTicks, requests, events, duplicates, digests, notices } =
      this.tally;
    const failed = [
      ...(failedTicks > 0 ? [`${failedTicks} failed`] : []),
      ...(provokedTicks > 0 ? [`${provokedTicks} failed as provoked`] : []),
    ];
    const facts = [
      failed.length > 0 ? `${count(ticks, 'tick')} (${failed.join(', ')})` : count(ticks, 'tick'),
      count(requests, 'request'),
      `${count(events, 'event')} received`,
      count(duplicates, 'duplicate'),
      count(digests, 'digest'),
      ...(notices > 0 ? [count(notices, 'notice')] : []),
    ];
    this.#write('');
    this.#write(facts.join(this.#dim(' · ')));
  }

  #styled(style: Style, text: string): string {
    return this.#isColoured ? styleText(style, text, { validateStream: false }) : text;
  }

  #dim(text: string): string {
    return this.#styled('dim', text);
  }

  #line(label: string, ...facts: string[]): void {
    this.#write(`${this.#dim(this.#timeOfDay())}  ${label}  ${facts.join(this.#dim(' · '))}`);
  }

  #below(text: string): void {
    this.#write(`${' '.repeat(labelWidth + 12)}${this.#dim(text)}`);
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
