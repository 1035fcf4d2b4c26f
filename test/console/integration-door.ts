import type { Carrying, Door, LocalDoor } from '../../console/door.ts';
import { type CommandName, definitions, type ResultOf } from '../../lambda/commands/contract.ts';
import { adviceOn, noticed } from '../../lambda/condition-table.ts';
import { adviceByReason } from '../../ops/advised-status.ts';
import type { SettingsOf } from '../../ops/target/operate-client.ts';
import type { Integration } from '../scaffold/integration.ts';

/** The console's answers from an integration of a test, without AWS. */
export class IntegrationDoor implements Door {
  readonly title = 'story';
  readonly zone = 'UTC';
  readonly clock: Door['clock'];
  readonly local?: LocalDoor;
  /** The command lines that were given. */
  readonly given: (readonly string[])[] = [];
  readonly #story: Integration;

  constructor(story: Integration, local?: LocalDoor) {
    this.#story = story;
    this.clock = story.clock;
    if (local) this.local = local;
  }

  place(integration?: string) {
    return { at: '--local', ...(integration !== undefined && { integration }) } as const;
  }

  readonly integrations = async () => [this.#story.name];

  async ask<Name extends CommandName>(
    _integration: string,
    name: Name,
    settings: SettingsOf<Name>,
  ): Promise<ResultOf<Name>> {
    const answer = await this.#story.operate({ command: name, ...settings });
    if (!answer.ok) throw new Error(answer.problem.message);
    return definitions[name].result.parse(answer.result);
  }

  async status(integration: string, settings: SettingsOf<'status'> = { partner: false }) {
    const status = await this.ask(integration, 'status', settings);
    const conditions = status.conditions.map((one) => {
      const { title, toDo } = noticed[one.name];
      return { ...one, title, whatToDo: toDo };
    });
    const unopened = status.reasons.filter(
      (reason) => !conditions.some(({ name }) => name === reason),
    );
    const toDo = unopened.map((reason) => adviceOn(adviceByReason()[reason], this.place()));
    return { ...status, conditions, toDo };
  }

  async carryOut(argv: readonly string[], _: Carrying): Promise<number> {
    this.given.push(argv.slice(2));
    return 0;
  }

  follow(): void {}
}
