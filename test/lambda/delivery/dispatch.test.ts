import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DispatchContext,
  dispatch,
  type Message,
  TopicPace,
} from '../../../lambda/delivery/dispatch.ts';
import { certificationEvent } from '../../../lambda/events/event.ts';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import { batchResult, type EntryAnswer } from '../../scaffold/batch-result.ts';
import { ManualClock } from '../../scaffold/clock.ts';
import { assessment } from '../../support/assessments.ts';

/** The `revision`-th event of a subject. */
function message(id: number, revision = 1, bytes = 1_000): Message {
  const event = certificationEvent({
    integration: 'district-a',
    type: revision === 1 ? 'certification.created' : 'certification.updated',
    assessment: assessment({ id }),
    fields: 'identifiers',
    revision,
    changed: [],
    late: false,
    time: '2026-11-21T08:00:04.120Z',
  });
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
    const deadline = this.clock.now().add({ seconds });
    const { clock, pace } = this;
    const { onAccepted } = this;
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

  it('fills a request with up to ten entries and 262,144 bytes, and sends a larger entry alone', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 300_000 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(sizes, async (all) => {
        const topic = new Topic();
        await topic.publish(all.map((bytes, index) => message(index + 1, 1, bytes)));
        const sizeOf = (name: string) => all[Number.parseInt(name, 10) - 1] ?? 0;
        const batches = topic.asked.map((batch) => batch.map(sizeOf));
        const sum = (batch: readonly number[]) => batch.reduce((bytes, one) => bytes + one, 0);
        const fits = (batch: readonly number[]) =>
          batch.length <= 10 && (batch.length === 1 || sum(batch) <= 262_144);
        expect(batches.flat()).toEqual(all);
        expect(batches.filter((batch) => !fits(batch))).toEqual([]);
        const more = batches.map((batch, index) => [
          ...batch,
          ...(batches[index + 1] ?? [0]).slice(0, 1),
        ]);
        expect(more.slice(0, -1).filter(fits)).toEqual([]);
      }),
    );
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
        const seen = new Map<number, number>();
        const sent = ids.map((id) => {
          seen.set(id, (seen.get(id) ?? 0) + 1);
          return message(id, seen.get(id), size);
        });
        const { accepted, refused } = await topic.publish(sent);

        const outcome = [...accepted.map((owed) => ({ owed })), ...refused].map(nameOf);
        expect(outcome.sort()).toEqual(sent.map(nameOf).sort());
        expect(topic.taken).toEqual(accepted.map((owed) => nameOf({ owed })));
        const last = new Map<string, number>();
        for (const name of topic.taken) {
          const [id = '', revision] = name.split('/');
          expect(Number(revision)).toBe((last.get(id) ?? 0) + 1);
          last.set(id, Number(revision));
        }
        for (const batch of topic.asked) {
          expect(new Set(batch.map((name) => name.split('/')[0])).size).toBe(batch.length);
          expect(batch.length * size).toBeLessThanOrEqual(262_144);
          expect(batch.length).toBeLessThanOrEqual(10);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('a topic with slow answers', () => {
  it('is waited for, with fewer requests at a time, and receives each event once', async () => {
    const topic = new Topic();
    const { clock, pace } = topic;
    pace.width = 4;
    const timeouts: number[] = [];
    const deadline = clock.now().add({ seconds: 45 });
    const send = async (batch: readonly Message[], timeoutMs: number) => {
      timeouts.push(timeoutMs);
      await clock.sleep(8_000);
      topic.taken.push(...batch.map(nameOf));
      return batchResult(timeoutMs < 8_000 ? { code: 'TimeoutError' } : all(batch));
    };
    const context = { clock, pace, deadline, random: () => 0.5, asked };
    const { accepted } = await dispatch(messages(30), send, context);
    expect(accepted).toHaveLength(30);
    expect(topic.taken).toHaveLength(30);
    expect(timeouts[0]).toBe(30_000);
    expect(pace.width).toBe(1);
  });

  it('gets no request that its usual time cannot answer before the deadline', async () => {
    const topic = new Topic();
    const { clock, pace } = topic;
    const timeouts: number[] = [];
    const deadline = clock.now().add({ seconds: 20 });
    const send = async (batch: readonly Message[], timeoutMs: number) => {
      timeouts.push(timeoutMs);
      await clock.sleep(8_000);
      return batchResult(all(batch));
    };
    const context = { clock, pace, deadline, random: () => 0.5, asked };
    const { accepted, refused } = await dispatch(messages(50), send, context);
    expect(timeouts).toEqual([25_000, 17_000, 9_000]);
    expect([accepted.length, refused.length]).toEqual([30, 20]);
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

  it('for good sets an event aside, and delays neither others nor later events of its subject', async () => {
    const topic = new Topic();
    topic.answer = (batch) =>
      batch.map((one) => (nameOf(one) === '2/1' ? 'InvalidParameter' : undefined));
    const sent = [message(1), message(2), message(2, 2), message(3)];
    const { accepted, refused } = await topic.publish(sent);
    expect(accepted.map((owed) => nameOf({ owed }))).toEqual(['1/1', '3/1', '2/2']);
    expect(refused).toEqual([{ owed: sent[1]?.owed, code: 'InvalidParameter', forGood: true }]);
    expect(topic.asked.flat().filter((name) => name === '2/1')).toHaveLength(1);
  });

  it('of a batch because of one entry is located by sending each entry alone', async () => {
    const topic = new Topic();
    topic.answer = (batch) =>
      batch.some((one) => nameOf(one) === '7/1')
        ? { code: 'InvalidParameterException' }
        : all(batch);
    const { accepted, refused } = await topic.publish(messages(10));
    expect(accepted).toHaveLength(9);
    expect(refused).toMatchObject([{ owed: { certificationId: 7 }, forGood: true }]);
  });

  it('for good is not believed of a topic that accepts nothing', async () => {
    const topic = new Topic();
    topic.answer = () => ({ code: 'InvalidParameterException' });
    const { accepted, refused } = await topic.publish(messages(12));
    expect(accepted).toEqual([]);
    expect(refused).toHaveLength(12);
    expect(refused.some(({ forGood }) => forGood)).toBe(false);
  });

  it('for good delays later events of its subject until the topic has accepted anything', async () => {
    const topic = new Topic();
    topic.answer = () => ({ code: 'InvalidParameterException' });
    const sent = [message(1), message(2), message(1, 2), message(2, 2)];
    const { refused } = await topic.publish(sent);
    expect(topic.asked.flat()).toEqual(['1/1', '2/1', '1/1', '2/1']);
    expect(refused.map(({ code }) => code).slice(2)).toEqual(['Waiting', 'Waiting']);
  });

  it('for good of each single entry is not believed either of a topic that accepts nothing', async () => {
    const topic = new Topic();
    topic.answer = (batch) => batch.map(() => 'InvalidParameter');
    const { accepted, refused } = await topic.publish(messages(12));
    expect(accepted).toEqual([]);
    expect(refused).toHaveLength(12);
    expect(refused.some(({ forGood }) => forGood)).toBe(false);
    topic.answer = (batch) =>
      batch.map((one) => (nameOf(one) === '12/1' ? undefined : 'InvalidParameter'));
    const later = await topic.publish(messages(12));
    expect(later.refused.filter(({ forGood }) => forGood)).toHaveLength(11);
  });

  it.each(['AuthorizationErrorException', 'KMSAccessDeniedException', 'NotFoundException'])(
    'for a missing permission, key or topic (%s) is not for good, and is not retried',
    async (code) => {
      const topic = new Topic();
      topic.answer = () => ({ code });
      const { refused } = await topic.publish(messages(100));
      expect(refused).toHaveLength(100);
      expect(refused.some(({ forGood }) => forGood)).toBe(false);
      expect(topic.asked.length).toBeLessThanOrEqual(4);
    },
  );

  it('for a missing permission of single entries names the denied action', async () => {
    const send = async () => ({
      Failed: [{ Id: '0', Code: 'KMS.AccessDeniedException', Message: 'null (Service: AWSKMS)' }],
      Successful: [{ Id: '1' }],
      $metadata: { requestId: '0b3a1c52' },
    });
    const { clock, pace } = new Topic();
    const deadline = clock.now().add({ minutes: 1 });
    const { denial } = await dispatch(messages(2), send, { clock, pace, deadline, asked });
    expect(denial?.message).toBe(
      'AWS denies kms:GenerateDataKey and kms:Decrypt on the key of the topic (KMS.AccessDeniedException, request 0b3a1c52).',
    );
  });

  it('delays later events of the same subject', async () => {
    const topic = new Topic();
    topic.answer = (batch) =>
      batch.map((one) => (nameOf(one) === '1/1' ? 'InternalError' : undefined));
    const { accepted, refused } = await topic.publish([message(1), message(1, 2), message(2)]);
    expect(accepted.map((owed) => nameOf({ owed }))).toEqual(['2/1']);
    expect(refused.map(({ owed, code }) => [nameOf({ owed }), code])).toEqual([
      ['1/1', 'InternalError'],
      ['1/2', 'Waiting'],
    ]);
  });
});

describe('a slow or failing topic', () => {
  it('gets fewer requests at a time after each throttle, and more again when it accepts them', async () => {
    const topic = new Topic();
    const widths: number[] = [];
    topic.answer = (batch) => {
      widths.push(topic.pace.width);
      return widths.length <= 2 ? { code: 'ThrottledException' } : all(batch);
    };
    topic.pace.width = 8;
    const { accepted } = await topic.publish(messages(1_200));
    expect(accepted).toHaveLength(1_200);
    expect(Math.min(...widths)).toBeLessThan(3);
    expect(topic.pace.width).toBe(8);
    const slow = new Topic();
    slow.answer = () => ({ code: 'ThrottledException' });
    await slow.publish(messages(40));
    expect(slow.pace.width).toBe(1);
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
    expect(accepted).toHaveLength(down ? 0 : 20);
  });

  it('gets no more requests after some failures in a row', async () => {
    const topic = new Topic();
    topic.answer = () => ({ code: 'TimeoutError' });
    const { refused, stopped } = await topic.publish(messages(1_000));
    expect(stopped).toBe('TimeoutError');
    expect(refused).toHaveLength(1_000);
    expect(topic.asked.length).toBeLessThanOrEqual(16);
  });

  it('gets no more requests after the deadline', async () => {
    const topic = new Topic();
    topic.answer = (batch) => {
      topic.clock.advance({ seconds: 1 });
      return all(batch);
    };
    const { accepted, refused } = await topic.publish(messages(500), 10);
    expect(accepted.length + refused.length).toBe(500);
    expect(accepted.length).toBeGreaterThan(0);
    expect(Math.max(...topic.askedAt)).toBeLessThan(topic.clock.now().epochMilliseconds);
    expect(topic.asked.length).toBeLessThanOrEqual(10 + 8);
  });

  it('is not waited for beyond the deadline', async () => {
    const topic = new Topic();
    topic.answer = () => ({ code: 'ThrottledException' });
    const began = topic.clock.now();
    await topic.publish(messages(30), 1);
    expect(topic.clock.now().since(began).total('seconds')).toBeLessThan(1);
  });
});
