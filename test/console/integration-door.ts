import type { Door } from '../../console/door.ts';
import { type CommandName, definitions, type ResultOf } from '../../lambda/operations/contract.ts';
import type { SettingsOf } from '../../ops/target/operate-client.ts';
import type { Integration } from '../scaffold/integration.ts';

const nobody = async () => {
  throw new Error('no page that is tested here does that');
};

/** The console's answers from an integration of a test, without AWS. */
export class IntegrationDoor implements Door {
  readonly title = 'story';
  readonly zone = 'UTC';
  readonly #story: Integration;
  readonly status = nobody;
  readonly carryOut = nobody;

  constructor(story: Integration) {
    this.#story = story;
  }

  get clock() {
    return this.#story.clock;
  }

  place() {
    return { at: '--local' } as const;
  }

  async integrations() {
    return [this.#story.name];
  }

  async ask<Name extends CommandName>(
    _integration: string,
    name: Name,
    settings: SettingsOf<Name>,
  ): Promise<ResultOf<Name>> {
    const answer = await this.#story.operate({ command: name, ...settings });
    if (!answer.ok) throw new Error(answer.problem.message);
    return definitions[name].result.parse(answer.result);
  }

  follow(): void {}
}
