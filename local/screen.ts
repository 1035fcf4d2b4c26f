import { styleText } from 'node:util';
import * as z from 'zod';
import type { CertificationEvent } from '../lambda/events/event.ts';
import type { TickReport } from '../lambda/tick/report.ts';
import { count, harmless, harmlessJson } from '../ops/render/text.ts';
import type { InvocationResult, OutputLine } from './aws/index.ts';
import { eventIn, type Mail } from './mails-and-events.ts';

type Style = Parameters<typeof styleText>[0];

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

type Failed = Extract<InvocationResult, { outcome: 'failed' }>;
type Effort = Pick<z.output<typeof tickLine>, 'requests' | 'durationMs'>;

interface ScreenOptions {
  readonly timeOfDay: () => string;
  readonly write: (line: string) => void;
  readonly isColoured?: boolean;
}

/** Writes to the terminal line by line, and counts. */
export class Screen {
  /** The numbers of events, mails and ticks so far. */
  readonly tally = {
    ticks: 0,
    failedTicks: 0,
    /** Ticks that failed because of a provocation. */
    provokedTicks: 0,
    requests: 0,
    events: 0,
    duplicates: 0,
    digest: 0,
    notice: 0,
  };
  readonly #seenEvents = new Set<string>();
  readonly #options: ScreenOptions;
  /** The log lines of a tick that fails: its result lacks these facts. */
  readonly #efforts = new Map<string, Effort>();

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  /** Name and value, aligned. */
  heading(title: string, facts: readonly (readonly [name: string, value: string])[]): void {
    this.#options.write(this.#styled('bold', title));
    for (const [name, value] of facts)
      this.#options.write(`  ${this.#dim(name.padEnd(13))}${value}`);
    this.#options.write('');
  }

  /** A step of the start. */
  step(what: string): void {
    this.#line(this.#styled('cyan', 'start'.padEnd(labelWidth)), [what]);
  }

  warning(text: string): void {
    this.#options.write(this.#styled('yellow', text));
  }

  /**
   * The outcome of a tick, from the function's result.
   *
   * @param integration shown only if there are several
   * @param isProvoked whether a provocation made the tick fail
   */
  tick(
    result: InvocationResult,
    functionName: string,
    { integration, isProvoked = false }: { integration?: string; isProvoked?: boolean } = {},
  ): void {
    this.tally.ticks += 1;
    const label = this.#styled('bold', `tick ${this.tally.ticks}`.padEnd(labelWidth));
    const whose = integration === undefined ? [] : [integration];
    const effort = this.#efforts.get(functionName);
    this.#efforts.delete(functionName);
    const line = result.outcome === 'failed' ? undefined : tickLine.parse(result.payload);
    if (line === undefined || line.outcome === 'disturbed')
      this.tally[isProvoked ? 'provokedTicks' : 'failedTicks'] += 1;
    this.tally.requests += (line ?? effort)?.requests ?? 0;
    const provoked = isProvoked && line === undefined ? [this.#styled('yellow', 'provoked')] : [];
    const facts = result.outcome === 'failed' ? this.#failed(result, effort) : [];
    this.#line(label, [...whose, ...provoked, ...(line ? this.#ended(line) : facts)]);
  }

  #failed({ errorType, errorMessage }: Failed, effort: Effort | undefined): string[] {
    const problem = [this.#styled('red', 'failed'), `${errorType}: ${errorMessage}`];
    if (effort === undefined) return problem;
    return [count(effort.requests, 'request'), ...problem, `${Math.round(effort.durationMs)} ms`];
  }

  #ended({ outcome, requests, durationMs, ...line }: z.output<typeof tickLine>): string[] {
    const some = (...kinds: (keyof typeof line)[]) =>
      kinds.flatMap((kind) => (Number(line[kind]) > 0 ? [`${line[kind]} ${kind}`] : []));
    const warned = (...kinds: (keyof typeof line)[]) =>
      some(...kinds).map((text) => this.#styled('yellow', text));
    return [
      count(requests, 'request'),
      outcome === 'baseline' ? `${line.recorded} recorded as known` : `${line.created} new`,
      ...some('updated').map((text) => text.replace('updated', 'changed')),
      ...some('withdrawn', 'restored'),
      ...warned('held'),
      `${line.delivered} delivered`,
      ...warned('undelivered', 'quarantined'),
      `${Math.round(durationMs)} ms`,
      ...(outcome === 'completed' ? [] : [this.#styled('cyan', outcome)]),
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
      this.#ignored('event');
      return undefined;
    }
    const { id, type, data } = event;
    this.tally.events += 1;
    const isDuplicate = this.#seenEvents.has(id);
    if (isDuplicate) this.tally.duplicates += 1;
    this.#seenEvents.add(id);
    const { assessment, late, changed } = data;
    this.#line(this.#styled('green', type.replace('certification.', '').padEnd(labelWidth)), [
      this.#styled('bold', harmless(whoIn(event))),
      harmless(assessment.assessment_name ?? 'an assessment without a name'),
      harmless(organizationIn(event)),
      assessment.certified_on,
      ...(late ? [this.#styled('yellow', 'late')] : []),
      ...(changed.length > 0 ? [`changed: ${harmless(changed.join(', '))}`] : []),
      ...(isDuplicate ? [this.#styled('yellow', 'told before')] : []),
      this.#dim(harmless(id)),
    ]);
    return event;
  }

  /**
   * A digest as it would reach a mailbox, or a notice to ops.
   *
   * @param mail undefined: the message is none
   */
  mail(kind: 'digest' | 'notice', mail: Mail | undefined): void {
    if (mail === undefined) {
      this.#ignored(kind);
      return;
    }
    this.tally[kind] += 1;
    const label = this.#styled(kind === 'digest' ? 'magenta' : 'yellow', kind.padEnd(labelWidth));
    this.#line(label, [this.#styled('bold', harmless(mail.subject))]);
    for (const line of mail.text.trimEnd().split('\n')) this.#below(`│ ${harmless(line)}`);
  }

  #ignored(wanted: string): void {
    const label = this.#styled('yellow', 'ignored'.padEnd(labelWidth));
    this.#line(label, [`a message that is no ${wanted}`]);
  }

  /** The function's log, besides its one line for each tick: warnings, errors, and other text unchanged. */
  output({ functionName, kind, text }: OutputLine): void {
    if (kind === 'metrics' || text.trim() === '') return;
    const json = harmlessJson(text);
    if (json === undefined) {
      this.#below(harmless(text));
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
      [message, ...(what ? [what] : []), ...details].map(harmless),
    );
    if (problem?.whatToDo) this.#below(`→ ${harmless(problem.whatToDo)}`);
  }

  summary(): void {
    const { ticks, failedTicks, provokedTicks, requests, events, duplicates, digest, notice } =
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
      count(digest, 'digest'),
      ...(notice > 0 ? [count(notice, 'notice')] : []),
    ];
    this.#options.write('');
    this.#options.write(facts.join(this.#dim(' · ')));
  }

  #styled(style: Style, text: string): string {
    return this.#options.isColoured ? styleText(style, text, { validateStream: false }) : text;
  }

  #dim(text: string): string {
    return this.#styled('dim', text);
  }

  #line(label: string, facts: readonly string[]): void {
    this.#options.write(
      `${this.#dim(this.#options.timeOfDay())}  ${label}  ${facts.join(this.#dim(' · '))}`,
    );
  }

  #below(text: string): void {
    this.#options.write(`${' '.repeat(labelWidth + 12)}${this.#dim(text)}`);
  }
}
