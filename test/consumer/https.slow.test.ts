import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { event } from './events.ts';
import { Program } from './example.ts';
import { RefusingAws } from './refusing-aws.ts';
import { certificateUrl, Signer, subscribeUrl, topicArn } from './signed-messages.ts';

// The receiver example as a process, with a table, and with an SNS of its own.
const aws = new RefusingAws();
const sns = await Signer.create();
let receiver: Program;
let port: string | undefined;

beforeAll(async () => {
  const preload = `globalThis.fetch = async (url) => {
    console.log('asked', url);
    return new Response(url === '${certificateUrl}' ? ${JSON.stringify(sns.certificate)} : '<Ok/>');
  }`;
  receiver = await Program.start('https-webhook', {
    ...(await aws.open()),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}`,
    TOPIC_ARN: topicArn,
    PORT: '0',
  });
  port = (await receiver.line(/^Listening on port \d+$/)).split(' ').at(-1);
});
afterAll(async () => {
  await receiver?.end();
  aws.close();
});
beforeEach(() => {
  for (const heard of [aws.asked, receiver.lines]) heard.length = 0;
});

/** Posts as SNS does: JSON with the content type of text. */
async function post(body: object): Promise<number> {
  const headers = { 'content-type': 'text/plain; charset=UTF-8' };
  const sent = { method: 'POST', headers, body: JSON.stringify(body) };
  return (await fetch(`http://127.0.0.1:${port}/`, sent)).status;
}

it('the receiver example handles a notification of SNS, and notes that in its table', async () => {
  expect(await post(sns.notification(JSON.stringify(event())))).toBe(200);
  await receiver.line(/^certification\.created {2}Rope Bridge Safety, /);
  await receiver.line(/^handled {2}district-a\/48213\/1$/);
  expect(aws.asked).toEqual(['UpdateItem', 'UpdateItem']);
});

it('the receiver example says why it refuses a message, without its values', async () => {
  expect(await post({ ...sns.notification('Odalys'), Message: 'Wendeline' })).toBe(403);
  await receiver.line(/^refused {2}403 SnsMessageRefusedError, signature$/);
  expect(receiver.lines.join()).not.toMatch(/Odalys|Wendeline/);
});

it('the receiver example confirms the subscription to its topic at SNS', async () => {
  expect(await post(sns.confirmation())).toBe(200);
  await receiver.line(new RegExp(`^subscribed to ${topicArn}$`));
  expect(receiver.lines).toContain(`asked ${subscribeUrl}`);
});
