import { Temporal } from 'temporal-polyfill';
import { readAssembly } from '../../local/aws/assembly.ts';
import type { LocalFunction } from '../../local/aws/index.ts';
import { Resolver } from '../../local/aws/intrinsics.ts';
import { Duty } from '../ops/duty.ts';
import { type Alarm, alarmOf, metricName, valuesIn, Watch } from '../support/cloud-watch.ts';
import { Roles } from '../support/taken-away.ts';

/** Breakages outside of the gates and the sandbox. */
const well = () => ({
  /** Ticks are started. */
  isStarted: true,
  /** Self-checks are started. */
  isChecked: true,
  /** The functions' output arrives in the log. */
  isLogged: true,
  /** Alarms arrive at the operations topic. */
  alarmsArrive: true,
  /** Metrics that AWS itself counts once a minute. */
  counted: [] as string[],
});

/** Minutes of a deployment, and the texts that people on call get. */
export class OnCall {
  readonly duty = new Duty();
  around = well();
  readonly log: string[] = [];
  /** Without a minute: at any time on a screen. */
  readonly #heard = new Map<string, { minute: number | undefined; text: string }>();
  #roles: Roles | undefined;
  #alarms: readonly {
    readonly way: string;
    readonly description: string;
    readonly alarm: Alarm;
  }[] = [];
  #unstarted = '';
  #watch = new Watch();
  #minute = 0;
  #completed = 0;

  /**
   * @param isNew no tick has run yet; otherwise the baseline is complete, and nobody has heard of
   * anything
   */
  async raise(isNew: boolean): Promise<void> {
    await this.duty.raise();
    this.around = well();
    this.#watch = new Watch();
    const { aws, assembly } = this.duty.stage;
    const { stackName, region, accountId, endpoints } = aws;
    const { template } = readAssembly(assembly);
    const place = { stackName, region, accountId, sqsEndpoint: endpoints.sqs };
    this.#roles = new Roles(template, place);
    const resolver = new Resolver(template, place);
    const resources = Object.entries(template.Resources);
    this.#alarms = resources
      .filter(([, { Type }]) => Type === 'AWS::CloudWatch::Alarm')
      .map(([id, { Properties }]) => ({
        way: `alarm ${id}`,
        description: String(resolver.resolve(Properties.AlarmDescription ?? '', id)),
        alarm: alarmOf(resolver.resolve(Properties, id)),
      }));
    const [unstarted = ''] = resources.find(([id]) => /UnstartedTicks[^N]*$/.test(id)) ?? [];
    this.#unstarted = aws.ref(unstarted).split('/').at(-1) ?? '';
    if (!isNew) await this.minutes(3);
    await this.duty.stage.notices();
    this.#heard.clear();
    this.log.length = 0;
    this.#minute = 0;
    this.#completed = 0;
  }

  /** The ways in which people have heard so far, as the page names them. */
  get ways(): string[] {
    return [...this.#heard].map(([way, { minute, text }]) => {
      if (minute === undefined) return `\`${way}\``;
      const isLate = text.includes('no self-check has come to its end since');
      if (way === 'daily check') return isLate ? 'notice, 26 h' : way;
      const [, entry] = /docs\/operations\.md#([\w-]+)$/.exec(text) ?? [];
      const linked = entry === undefined ? '' : ` [${entry}](../operations.md#${entry})`;
      return `${way.startsWith('alarm') ? `alarm${linked}` : way}, ${minute} min`;
    });
  }

  /** All texts sent to people, and the log. */
  get told(): string {
    return [...[...this.#heard.values()].map(({ text }) => text), ...this.log].join('\n');
  }

  /** @param enough ends the minutes early, once all expected texts have come */
  async minutes(most: number, enough: () => boolean = () => false): Promise<void> {
    for (let n = 0; n < most && !enough(); n++) await this.#oneMinute();
  }

  async #oneMinute(): Promise<void> {
    const { stage } = this.duty;
    stage.output.length = 0;
    if (this.around.isStarted) {
      const { outcome } = await stage.tick();
      const isFailed = outcome === 'failed';
      this.#watch.note({ metric: this.ofLambda('Errors'), value: isFailed ? 1 : 0 });
      if (!isFailed) this.#completed = this.#minute;
    }
    this.log.push(...stage.output);
    if (this.around.isLogged) this.#watch.note(...stage.output.flatMap(valuesIn));
    this.#watch.note(...this.around.counted.map((metric) => ({ metric, value: 1 })));
    this.#watch.pass(60);
    this.#minute += 1;
    await this.#listen();
  }

  /** Collects the texts sent to people. */
  async #listen(): Promise<void> {
    for (const { subject, text } of await this.duty.stage.notices()) {
      const isDaily = subject.includes('daily self-check');
      this.#hear(isDaily ? 'daily check' : 'notice', `${subject}\n${text}`);
    }
    if (!this.around.alarmsArrive) return;
    for (const { way, description, alarm } of this.#alarms)
      if (this.#watch.state(alarm) === 'ALARM') this.#hear(way, description);
  }

  /**
   * The next day: the schedule starts the self-check, and a tick runs. If the self-check does not
   * complete, it is two hours later.
   */
  async aDay(): Promise<void> {
    const { stage } = this.duty;
    await stage.lastSelfCheckWas(Temporal.Now.instant().subtract({ hours: 26 })).catch(() => {});
    stage.output.length = 0;
    const daily = stage.aws.schedules.find(({ expression }) => /^cron/.test(expression));
    if (this.around.isChecked) await stage.operate.invoke(JSON.parse(daily?.input ?? ''));
    this.log.push(...stage.output);
    await this.#oneMinute();
  }

  /** Collects the screens of a person who looks now. */
  async look(): Promise<void> {
    const behind = this.#minute - this.#completed;
    if (behind > 3)
      await this.duty.stage
        .lastTickWas(Temporal.Now.instant().subtract({ minutes: behind }))
        .catch(() => {});
    await this.ask('status --exit-code', 'check');
  }

  /** Runs commands of a person on call, and collects failures and warnings. */
  async ask(...commands: readonly string[]): Promise<void> {
    for (const command of commands) {
      const { exitCode, stdout, stderr } = await this.duty.run(command);
      const [name = ''] = command.split(' ');
      // Before the first tick, `check` warns that there was none.
      const isWarned = name === 'check' && this.#minute > 0 && /^ {2}warning /m.test(stdout);
      if (exitCode !== 0 || isWarned)
        this.#heard.set(name, { minute: undefined, text: stdout + stderr });
    }
  }

  actionsOf(one: LocalFunction): string[] {
    return this.#roles?.actionsOf(one.name) ?? [];
  }

  /** Starts the function again, with a role that lacks the action. */
  async loses(one: LocalFunction, action: string): Promise<void> {
    await one.kill();
    const rule = this.#roles?.without(one.name, action);
    if (rule) for (const gate of this.duty.stage.awsGates) gate.always(rule);
  }

  /** Names of metrics that AWS itself counts. */
  ofLambda(metric: string): string {
    return metricName('AWS/Lambda', metric, [['FunctionName', this.duty.stage.poll.name]]);
  }

  ofEventsTopic(metric: string): string {
    const topic = this.duty.stage.aws.output('EventsTopicArn').split(':').at(-1) ?? '';
    return metricName('AWS/SNS', metric, [['TopicName', topic]]);
  }

  ofUnstartedTicks(metric: string): string {
    return metricName('AWS/SQS', metric, [['QueueName', this.#unstarted]]);
  }

  #hear(way: string, text: string): void {
    const { minute = this.#minute, text: before } = this.#heard.get(way) ?? {};
    this.#heard.set(way, { minute, text: before ? `${before}\n${text}` : text });
  }
}
