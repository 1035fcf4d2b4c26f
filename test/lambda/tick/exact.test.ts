import { expect, it } from 'vitest';
import { messageOf } from '../../../lambda/events/sns-message.ts';
import { Integration } from '../../scaffold/integration.ts';
import { ledgersInDynamoDb } from '../../scaffold/ledgers.ts';
import { assessment } from '../../support/assessments.ts';

const database = ledgersInDynamoDb();

it('numbers have the digits that the partner sent, and fields any name, in the event, from the outbox and in a replay', async () => {
  const story = new Integration(database.of);
  await story.baseline();
  const digits = ['9007199254740993', '1.10', '-0', '1E400'];
  const named = JSON.parse('{"__proto__":[7]}');
  const odd = {
    ...named,
    external_ref: { of: digits.map((one) => JSON.rawJSON(one)) },
    seid: 4711,
  };
  const add = (id: number) =>
    story.host.put({ assessment: assessment({ id }), odd, legacy: false, archived: false });
  add(1);
  await story.minute();
  story.subscribers.refuse = () => true;
  add(2);
  await story.minute();
  story.subscribers.refuse = () => false;
  await story.minute();
  await story.operate({ command: 'replay', ids: [1] });
  expect(story.ids()).toEqual([1, 2, 1].map((id) => `${story.name}/${id}/1`));
  for (const event of story.heard) {
    expect(messageOf(event).body).toContain(`"external_ref":{"of":[${digits}]}`);
    expect(messageOf(event).body).toContain('"__proto__":[7]');
    expect(event.data.assessment).toMatchObject({ seid: '4711' });
  }
});
