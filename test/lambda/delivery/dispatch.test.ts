import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DispatchContext,
  dispatch,
  type Message,
  TopicPace,
} from '../../../lambda/delivery/dispatch.ts';
import { refusalKind } from '../../../lambda/delivery/refusals.ts';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import { batchResult, type EntryAnswer } from '../../scaffold/batch-result.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { assessment } from '../../support/assessments.ts';
import { eventOf } from '../events/announced.ts';

/** The `revision`-th event of a subject. */
function message(id: number, revision = 1, bytes = 1_000): Message {
  const event = eventOf(assessment({ id }), { fields: 'identifiers', revision });
  const owed = { certificationId: id, revision, event, owes: 'event-and-digest' } as const;
  return { ...messageOf(event), owed, bytes };
}

const messages = (count: number) => Array.from({ length: count }, (_, index) => message(index + 1));
const nameOf = ({ owed }: Pick<Message, 'owed'>) => `${owed.certificationId}/${owed.revision}`;
const all = (batch: readonly unknown[]): EntryAnswer => batch.map(() => undefined);

const asked = { action: 'sns:Publish', resource: 'the topic' };

/** A topic with scripted answers. It records the requests and their times. */
class Topic {
  readonly clock = new ManualClock();
  readonly pace = new TopicPace();
  readonly asked: string[][] = [];
  readonly askedAt: number[] = [];
  readonly taken: string[] = [];
  inFlight = 0;
  mostInFlight = 0;
  answer: (batch: readonly Message[], request: number) => EntryAnswer = all;
  onAccepted: DispatchContext['onAccepted'];

  publish(sent: readonly Message[], seconds = 3_600) {
    const { clock, pace, onAccepted } = this;
    const deadline = clock.now().add({ seconds });
    const context = { clock, pace, deadline, random: () => 0.5, onAccepted, asked };
    const send = async (batch: readonly Message[]) => batchResult(await this.#take(batch));
    return dispatch(sent, send, context);
  }

  async #take(batch: readonly Message[]): Promise<EntryAnswer> {
    this.asked.push(batch.map(nameOf));
    this.askedAt.push(this.clock.now().epochMilliseconds);
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    const turns = 10 + ((batch[0]?.owed.certificationId ?? 0) % 5);
    for (let turn = 0; turn < turns; turn += 1) await null;
    this.inFlight -= 1;
    const answer = this.answer(batch, this.asked.length);
    if (!('code' in answer))
      this.taken.push(...batch.filter((_, index) => answer[index] === undefined).map(nameOf));
    return answer;
  }
}

describe('dispatch', () => {
  it('sends full batches only, several at a time', async () => {
    const topic = new Topic();
    const { accepted, refused } = await topic.publish(messages(400));
    expect(accepted).toHaveLength(400);
    expect(refused).toEqual([]);
    expect(topic.asked).toHaveLength(40);
    expect(topic.mostInFlight).toBeGreaterThan(3);
    expect(topic.mostInFlight).toBeLessThanOrEqual(8);
  });

  it.each([
    [Array(11).fill(1), '10, 1'],
    [[131_072, 131_072, 1], '2, 1'],
    [[131_072, 131_073, 1], '1, 2'],
    [[1, 262_145, 300_000, 1], '1, 1, 1, 1'],
  ])('fills requests up to ten entries and 262,144 bytes: %j', async (sizes, expected) => {
    const topic = new Topic();
    await topic.publish(sizes.map((bytes, index) => message(index + 1, 1, bytes)));
    expect(topic.asked.map(({ length }) => length).join(', ')).toBe(expected);
  });

  it('sends one revision of a subject at a time, in order, over any failures', async () => {
    const code = fc.constantFrom(undefined, undefined, 'InternalError', 'Throttled', 'NotAnswered');
    const answer = fc.oneof(
      { weight: 4, arbitrary: fc.array(code, { minLength: 10, maxLength: 10 }) },
      { weight: 1, arbitrary: fc.constantFrom('ThrottledException', 'TimeoutError') },
    );
    const subjects = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 40 });
    const bytes = fc.integer({ min: 1, max: 262_144 });
    await fc.assert(
      fc.asyncProperty(subjects, bytes, fc.array(answer), async (ids, size, answers) => {
        const topic = new Topic();
        topic.answer = (batch, request) => {
          const given = answers[request - 1] ?? [];
          if (typeof given === 'string') return { code: given };
          return batch.map((_, index) => given[index]);
        };
        const sent = ids.map((id, nth) =>
          message(id, ids.slice(0, nth + 1).filter((one) => one === id).length, size),
        );
        const { accepted, refused } = await topic.publish(sent);

        const outcome = [...accepted.map((owed) => ({ owed })), ...refused].map(nameOf);
        expect(outcome.sort()).toEqual(sent.map(nameOf).sort());
        expect(topic.taken).toEqual(accepted.map((owed) => nameOf({ owed })));
        for (const id of new Set(ids)) {
          const revisions = topic.taken.filter((name) => name.startsWith(`${id}/`));
          expect(revisions).toEqual(revisions.map((_, nth) => `${id}/${nth + 1}`));
        }
        for (const batch of topic.asked) {
          expect(new Set(batch.map((name) => name.split('/')[0])).size).toBe(batch.length);
          expect(batch.length * size).toBeLessThanOrEqual(262_144);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('a topic that answers after eight seconds', () => {
  /** A client gives up after the time that it was given. */
  async function publishedSlowly(count: number, width: number, seconds: number) {
    const { clock, pace } = new Topic();
    pace.width = width;
    const timeouts: number[] = [];
    let taken = 0;
    const send = async (batch: readonly Message[], timeoutMs: number) => {
      timeouts.push(timeoutMs);
      await clock.sleep(8_000);
      taken += batch.length;
      return batchResult(timeoutMs < 8_000 ? { code: 'TimeoutError' } : all(batch));
    };
    const deadline = clock.now().add({ seconds });
    const outcome = await dispatch(messages(count), send, { clock, pace, deadline, asked });
    const [accepted, refused] = [outcome.accepted.length, outcome.refused.length];
    return { accepted, refused, taken, timeouts, width: pace.width };
  }

  it('is waited for, with fewer requests at a time, and receives each event once', async () => {
    const { timeouts, ...outcome } = await publishedSlowly(30, 4, 45);
    expect(outcome).toEqual({ accepted: 30, refused: 0, taken: 30, width: 1 });
    expect(timeouts[0]).toBe(30_000);
  });

  it('gets no request that its usual time cannot answer before the deadline', async () => {
    expect(await publishedSlowly(50, 1, 20)).toMatchObject({
      ...{ accepted: 30, refused: 20 },
      timeouts: [25_000, 17_000, 9_000],
    });
  });
});

describe('an accepted event', () => {
  it('is reported with its batch, before more is sent', async () => {
    const topic = new Topic();
    const told: string[] = [];
    let mostUntold = 0;
    topic.answer = (batch) => batch.map((_, index) => (index === 3 ? 'InternalError' : undefined));
    topic.onAccepted = async (accepted) => {
      mostUntold = Math.max(mostUntold, topic.taken.length - told.length);
      await null;
      told.push(...accepted.map((owed) => nameOf({ owed })));
    };
    const { accepted, refused } = await topic.publish(messages(200));
    expect(told.toSorted()).toEqual(accepted.map((owed) => nameOf({ owed })).sort());
    expect(told.length + refused.length).toBe(200);
    expect(mostUntold).toBeLessThanOrEqual(80);
  });

  it('stops the dispatch if it cannot be noted, and the error follows once no request is under way', async () => {
    const topic = new Topic();
    topic.onAccepted = () => Promise.reject(new Error('throttled'));
    await expect(topic.publish(messages(400))).rejects.toThrow('throttled');
    expect(topic.inFlight).toBe(0);
    expect(topic.asked.length).toBeLessThan(10);
  });
});

describe('a refusal by SNS', () => {
  it('is retried with growing pauses, and ends for this tick after five attempts', async () => {
    const topic = new Topic();
    topic.answer = (batch) => batch.map(() => 'InternalError');
    const { refused } = await topic.publish(messages(1));
    expect(refused).toMatchObject([{ code: 'InternalError' }]);
    expect(refused[0]).not.toHaveProperty('forGood');
    const waits = topic.askedAt.slice(1).map((at, index) => at - (topic.askedAt[index] ?? 0));
    expect(waits).toEqual([50, 100, 200, 400]);
  });

  const invalid = 'InvalidParameter';
  const busy = 'InternalError';
  const fiveTimes = '1/1 2/1 3/1, 2/1, 2/1, 2/1, 2/1';
  const notNow = [`2/1 ${busy}`, '2/2 Waiting'];
  const eachAlone = '1/1 2/1 3/1, 1/1, 2/1, 2/2, 3/1';
  const all3 = ['1/1', '2/1', '3/1'];
  const noneTaken = [...all3.map((name) => `${name} ${invalid}`), '2/2 Waiting'];
  /** Refuses the entries with these names. */
  const entries =
    (code: string, ...names: string[]): Topic['answer'] =>
    (batch) =>
      batch.map((one) => (names.includes(nameOf(one)) ? code : undefined));
  /** Refuses the requests that have entries with these names. */
  const requests =
    (...names: string[]): Topic['answer'] =>
    (batch) =>
      batch.some((one) => names.includes(nameOf(one))) ? { code: invalid } : all(batch);

  it.each([
    ['for good delays nothing', entries(invalid, '2/1'), '1/1 2/1 3/1, 2/2', ['2/1 for good']],
    ['for the moment delays its subject', entries(busy, '2/1'), fiveTimes, notNow],
    ['of a batch is located in an entry', requests('2/1'), eachAlone, ['2/1 for good']],
    ['of all batches is not believed', requests(...all3), '1/1 2/1 3/1, 1/1, 2/1, 3/1', noneTaken],
    ['of all entries is not believed', entries(invalid, ...all3), '1/1 2/1 3/1', noneTaken],
  ])('%s', async (_, answer, ...expected) => {
    const topic = new Topic();
    topic.answer = answer;
    const sent = [message(1), message(2), message(2, 2), message(3)];
    const { refused } = await topic.publish(sent);
    expect([
      topic.asked.map((batch) => batch.join(' ')).join(', '),
      refused.map((one) => `${nameOf(one)} ${one.forGood ? 'for good' : one.code}`),
    ]).toEqual(expected);
  });

  it('for a missing permission, key or topic is not for good, and stops the dispatch', async () => {
    const topic = new Topic();
    topic.answer = () => ({ code: 'AuthorizationErrorException' });
    const { refused } = await topic.publish(messages(100));
    expect(refused).toHaveLength(100);
    expect(refused.some(({ forGood }) => forGood)).toBe(false);
    expect(topic.asked).toHaveLength(1);
  });

  it.each([
    ['throttled', ['ThrottledException', 'TooManyRequestsException', 'RequestLimitExceeded']],
    ['invalid', ['InvalidParameter', 'ParameterValueInvalid', 'ValidationException']],
    ['invalid', ['InvalidMessageContents', 'BatchRequestTooLong']],
    ['configuration', ['AuthorizationErrorException', 'NotFoundException', 'QueueDoesNotExist']],
    ['configuration', ['KMSDisabledException', 'KmsAccessDenied', 'OptInRequired', 'Disabled']],
    ['configuration', ['ExpiredToken', 'InvalidSecurity', 'SignatureDoesNotMatch']],
    ['passing', ['InternalError', 'TimeoutError', 'NotAnswered', 'MyKMS']],
  ])('is %s if its code is one of %j', (kind, codes) => {
    expect(codes.map(refusalKind)).toEqual(codes.map(() => kind));
  });

  it('for a missing permission of single entries names the denied action', async () => {
    const Failed = [{ Id: '0', Code: 'KMS.AccessDeniedException', Message: '(AWSKMS)' }];
    const answer = { Failed, Successful: [{ Id: '1' }], $metadata: { requestId: '0b3a1c52' } };
    const { clock, pace } = new Topic();
    const context = { clock, pace, deadline: clock.now().add({ minutes: 1 }), asked };
    const { denial } = await dispatch(messages(2), async () => answer, context);
    expect(denial?.message).toBe(
      'AWS denies kms:GenerateDataKey and kms:Decrypt on the key of the topic (KMS.AccessDeniedException, request 0b3a1c52).',
    );
  });
});

describe('a slow or failing topic', () => {
  it('gets fewer requests at a time after each throttle, and more again when it accepts them', async () => {
    const topic = new Topic();
    topic.pace.width = 8;
    topic.answer = () => ({ code: 'ThrottledException' });
    await topic.publish(messages(40));
    expect(topic.pace.width).toBe(1);
    topic.answer = all;
    await topic.publish(messages(1_200));
    expect(topic.pace.width).toBe(8);
  });

  it.each([
    [7, false],
    [8, true],
  ])('that fails %i times in a row is taken to be down: %s', async (failures, down) => {
    const topic = new Topic();
    topic.pace.width = 1;
    topic.answer = (batch, request) =>
      request <= failures ? { code: 'TimeoutError' } : all(batch);
    const { accepted, stopped } = await topic.publish(messages(20));
    expect(stopped).toBe(down ? 'TimeoutError' : undefined);
    expect(topic.asked).toHaveLength(down ? 8 : 9);
    expect(accepted).toHaveLength(down ? 0 : 20);
  });

  it('is not waited for beyond the deadline', async () => {
    const topic = new Topic();
    topic.answer = () => ({ code: 'ThrottledException' });
    const began = topic.clock.now();
    await topic.publish(messages(30), 1);
    expect(topic.clock.now().since(began).total('seconds')).toBeLessThan(1);
  });
});
