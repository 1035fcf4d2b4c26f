import { Temporal } from 'temporal-polyfill';
import { readAssembly } from '../../local/aws/assembly.ts';
import type { LocalFunction } from '../../local/aws/index.ts';
import { Resolver } from '../../local/aws/intrinsics.ts';
import type { Json, Template } from '../../local/aws/template.ts';
import { Duty } from '../ops/duty.ts';
import type { DeploymentConfig } from '../scaffold/deployment.ts';
import { type Alarm, alarmOf, metricName, valuesIn, Watch } from '../support/cloud-watch.ts';
import { Roles } from '../support/taken-away.ts';

/** How a person on call hears of a breakage: by a sent text, or on a screen. */
export type Way = 'notice' | 'daily check' | `alarm ${string}` | `command ${string}`;

interface Heard {
  /** Undefined: at any time on a screen. */
  readonly minute: number | undefined;
  readonly text: string;
}

/** Breakages outside of the gates and the sandbox. */
interface Surroundings {
  /** Ticks are started. */
  isStarted: boolean;
  /** Self-checks are started. */
  isChecked: boolean;
  /** The functions' output arrives in the log. */
  isLogged: boolean;
  /** Alarms arrive at the operations topic. */
  alarmsArrive: boolean;
  /** AWS's own counts, each minute. */
  counted: { readonly metric: string; readonly value: number }[];
}

/** Minutes of a deployment, and the texts that people on call get. */
export class OnCall {
  readonly duty = new Duty();
  roles: Roles | undefined;
  around: Surroundings = well();
  readonly heard = new Map<Way, Heard>();
  readonly log: string[] = [];
  #alarms: ReadonlyMap<string, { readonly alarm: Alarm; readonly description: string }> = new Map();
  #watch = new Watch();
  #resources: Template['Resources'] = {};
  #isRaised = false;
  #minute = 0;
  #completed = 0;

  build(config: DeploymentConfig): Promise<void> {
    return this.duty.build(config);
  }

  /**
   * @param isNew no tick has run yet; otherwise the baseline is complete, and nobody has heard of
   * anything
   */
  async raise(isNew = false): Promise<void> {
    await this.duty.raise();
    this.#isRaised = true;
    this.around = well();
    this.heard.clear();
    this.log.length = 0;
    this.#watch = new Watch();
    this.#minute = 0;
    this.#completed = 0;
    const { aws, assembly } = this.duty.stage;
    const { stackName, region, accountId, endpoints } = aws;
    const { template } = readAssembly(assembly);
    this.#resources = template.Resources;
    const place = { stackName, region, accountId, sqsEndpoint: endpoints.sqs };
    this.roles = new Roles(template, place);
    const resolver = new Resolver(template, place);
    this.#alarms = new Map(
      Object.entries(template.Resources)
        .filter(([, { Type }]) => Type === 'AWS::CloudWatch::Alarm')
        .map(([id, { Properties }]) => [
          nameOf(id),
          {
            alarm: alarmOf(resolver.resolve(Properties, id)),
            description: String(resolver.resolve(Properties.AlarmDescription ?? '', id)),
          },
        ]),
    );
    if (isNew) return;
    await this.minutes(3);
    await this.duty.stage.notices();
    this.heard.clear();
    this.#minute = 0;
    this.#completed = 0;
  }

  /** Logical id. */
  resourceOf(type: string, name: RegExp): string {
    const found = Object.entries(this.#resources).find(
      ([id, { Type }]) => Type === type && name.test(id),
    );
    if (found === undefined) throw new Error(`the stack has no ${type} ${name}`);
    return found[0];
  }

  /** @param enough ends the minutes early, once all expected texts have come */
  async minutes(most: number, enough: () => boolean = () => false): Promise<void> {
    for (let n = 0; n < most && !enough(); n++) await this.#oneMinute();
  }

  async #oneMinute(): Promise<void> {
    const { stage } = this.duty;
    const watch = this.#watch;
    const ofLambda = (metric: string) =>
      metricName('AWS/Lambda', metric, [['FunctionName', stage.poll.name]]);
    stage.output.length = 0;
    if (this.around.isStarted) {
      const result = await stage.tick();
      const isFailed = result.outcome === 'failed';
      watch.note({ metric: ofLambda('Errors'), value: isFailed ? 1 : 0 });
      if (!isFailed) this.#completed = this.#minute;
    }
    this.log.push(...stage.output);
    if (this.around.isLogged) watch.note(...stage.output.flatMap(valuesIn));
    watch.note(...this.around.counted);
    watch.pass(60);
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
    for (const [name, { alarm, description }] of this.#alarms)
      if (this.#watch.state(alarm) === 'ALARM') this.#hear(`alarm ${name}`, description);
  }

  /**
   * The next day: the schedule starts the self-check, and a tick runs. If the self-check does not
   * complete, it is two hours later.
   */
  async aDay(): Promise<void> {
    const { stage } = this.duty;
    await stage.lastSelfCheckWas(Temporal.Now.instant().subtract({ hours: 26 })).catch(() => {});
    stage.output.length = 0;
    if (this.around.isChecked) await stage.operate.invoke(this.#selfCheckInput());
    this.log.push(...stage.output);
    await this.#oneMinute();
  }

  /** Whether the notice of the self-check says that it does not complete. */
  get isSelfCheckLate(): boolean {
    const { text = '' } = this.heard.get('daily check') ?? {};
    return text.includes('no self-check has come to its end since');
  }

  #selfCheckInput(): Json {
    const daily = this.duty.stage.aws.schedules.find(({ expression }) => /^cron/.test(expression));
    return JSON.parse(daily?.input ?? '');
  }

  /** Collects the screens of a person who looks now. */
  async look(): Promise<void> {
    const behind = this.#minute - this.#completed;
    if (behind > 3)
      await this.duty.stage
        .lastTickWas(Temporal.Now.instant().subtract({ minutes: behind }))
        .catch(() => {});
    for (const [way, command] of [
      ['status', 'status --exit-code'],
      ['check', 'check'],
    ] as const) {
      const { exitCode, stdout, stderr } = await this.duty.run(command);
      const isWarned = way === 'check' && /^ {2}warning /m.test(stdout);
      if (exitCode !== 0 || isWarned)
        this.heard.set(`command ${way}`, { minute: undefined, text: stdout + stderr });
    }
  }

  /** Runs commands of a person on call, and collects the failures. */
  async ask(...commands: readonly string[]): Promise<void> {
    for (const command of commands) {
      const { exitCode, stdout, stderr } = await this.duty.run(command);
      const [name = ''] = command.split(' ');
      if (exitCode !== 0)
        this.heard.set(`command ${name}`, { minute: undefined, text: stdout + stderr });
    }
  }

  /** Starts the function again, with a role that lacks the action. */
  async loses(one: LocalFunction, action: string): Promise<void> {
    await one.kill();
    const rule = this.roles?.without(one.name, action);
    if (rule) for (const gate of this.duty.stage.awsGates) gate.always(rule);
  }

  #hear(way: Way, text: string): void {
    const before = this.heard.get(way);
    this.heard.set(way, {
      minute: before?.minute ?? this.#minute,
      text: before ? `${before.text}\n${text}` : text,
    });
  }

  async strike(): Promise<void> {
    if (this.#isRaised) await this.duty.strike();
    this.#isRaised = false;
  }
}

const well = (): Surroundings => ({
  isStarted: true,
  isChecked: true,
  isLogged: true,
  alarmsArrive: true,
  counted: [],
});

/** The alarm's name within its integration, if it has one. */
function nameOf(id: string): string {
  return /^Notifier(?:districtaAlarms)?(\w+)[0-9A-F]{8}$/.exec(id)?.[1] ?? id;
}
