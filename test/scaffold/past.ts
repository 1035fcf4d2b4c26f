import { Temporal } from 'temporal-polyfill';
import type { OperationParts } from '../../lambda/commands/parts.ts';
import { type Certification, type Change, withdrawal } from '../../lambda/decisions/compare.ts';
import type { Assessment } from '../../lambda/events/assessment.ts';
import { type CertificationEvent, certificationEvent } from '../../lambda/events/event.ts';
import type { OwedEvent } from '../../lambda/events/owed-event.ts';
import type { Committed } from '../../lambda/ports/ledger.ts';
import { Integration } from './integration.ts';
import type { DynamoDbLedgers } from './ledgers.ts';
import { sightingsOf } from './sightings.ts';

/**
 * An integration whose ledger has events that no tick of the test has found: a past for commands to
 * read.
 */
export class IntegrationWithPast extends Integration {
  readonly #database: DynamoDbLedgers | undefined;
  /** Announced events, by id. */
  readonly announced = new Map<string, CertificationEvent>();
  /** Seconds that the read of one day of the ledger takes. */
  lookSeconds = 0;

  constructor(database?: DynamoDbLedgers) {
    super(database?.of);
    this.#database = database;
  }

  override get operationParts(): OperationParts {
    const ledger = this.ledgerWith({
      knownOfDay: (day) => {
        this.clock.advance({ seconds: this.lookSeconds });
        return this.ledger.knownOfDay(day);
      },
    });
    return { ...super.operationParts, ledger };
  }

  /** Completes the baseline and one tick after it, so nothing is left to do. */
  async settle(): Promise<void> {
    await this.emptyBaseline();
    for (let ticks = 0; ticks < 2; ticks += 1) await this.tick();
    this.notices.length = 0;
    this.requests.length = 0;
  }

  /** The baseline records these. */
  async recall(...assessments: Assessment[]): Promise<void> {
    const { salt } = await this.ledger.state();
    this.add(...assessments);
    await this.#count(assessments);
    await this.ledger.recordSilently(sightingsOf(assessments, new Map(), salt), this.clock.now());
  }

  /** The partner shows these, and a tick announces them. */
  async show(...assessments: Assessment[]): Promise<void> {
    await this.#deliver(await this.commit(assessments));
  }

  /** The partner shows these, and a tick commits them without delivery. */
  async commit(
    assessments: readonly Assessment[],
    destiny: 'pending' | 'held' = 'pending',
  ): Promise<Committed[]> {
    const ids = new Set(assessments.map(({ id }) => id));
    this.world = [...this.world.filter(({ id }) => !ids.has(id)), ...assessments];
    await this.#count(assessments);
    const { salt } = await this.ledger.state();
    const known = await this.ledger.known([...ids]);
    return this.#commitAll(sightingsOf(assessments, known, salt), destiny);
  }

  /** The partner removes these, and a tick announces it. */
  async withdraw(...ids: number[]): Promise<void> {
    this.world = this.world.filter(({ id }) => !ids.includes(id));
    const known = await this.ledger.known(ids);
    const changes = [...known.values()].map((before: Certification) => withdrawal(before));
    const owed = await this.#commitAll(changes, 'pending');
    await this.#deliver(owed.filter(({ behind }) => behind !== 'held'));
  }

  /** All items of the integration. */
  async items(): Promise<string[]> {
    if (this.#database === undefined) throw new Error('its ledger is in memory');
    const items = await this.#database.items(this.name);
    return items.map((item) => JSON.stringify(item)).sort();
  }

  /** All items except the list of commands that were carried out. */
  async itemsBesideRecords(): Promise<string[]> {
    return (await this.items()).filter((item) => !item.includes('COMMANDS#'));
  }

  async #count(assessments: readonly Assessment[]): Promise<void> {
    // The first read creates the state, as in a tick.
    await this.ledger.state();
    const days = Map.groupBy(assessments, ({ certified_on }) => certified_on);
    await this.ledger.touch(days.keys());
    await this.ledger.addToDays(new Map([...days].map(([day, { length }]) => [day, length])));
  }

  async #commitAll(changes: readonly Change[], destiny: 'pending' | 'held') {
    const owed: Committed[] = [];
    for (const change of changes) {
      const now = this.clock.now();
      const committed = await this.ledger.commit(change, this.#eventOf(change), now, destiny);
      if (committed === 'undone') continue;
      if (committed === undefined) throw new Error(`not committed: ${change.id}`);
      owed.push(committed);
    }
    return owed;
  }

  async #deliver(owed: readonly OwedEvent[]): Promise<void> {
    await this.ledger.settle(owed, 'nothing');
    for (const { event } of owed) this.announced.set(event.id, event);
  }

  #eventOf(change: Change): CertificationEvent {
    const day = change.kind === 'withdrawn' ? change.before.day : change.assessment.certified_on;
    const earliest = this.clock.now().toZonedDateTimeISO('UTC').toPlainDate().subtract({ days: 3 });
    const announced = {
      integration: this.name,
      revision: change.revision,
      late: Temporal.PlainDate.compare(Temporal.PlainDate.from(day), earliest) < 0,
      time: this.clock.now(),
    };
    if (change.kind !== 'withdrawn')
      return certificationEvent({
        ...announced,
        type: `certification.${change.kind}`,
        assessment: change.assessment,
        changed: change.changed,
        fields: this.settings.fields ?? 'all',
      });
    const { organization_id, assessment_name } = change.before;
    const id = change.id;
    return certificationEvent({
      type: 'certification.withdrawn',
      ...announced,
      assessment: { id, organization_id, assessment_name, certified_on: day },
    });
  }
}
