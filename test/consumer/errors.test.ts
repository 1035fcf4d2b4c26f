import { expect, it } from 'vitest';
import * as consumer from '../../consumer/index.ts';

it('an error names the failure and its remedy', async () => {
  const reasons: consumer.RefusalReason[] = ['too-large', 'malformed', 'topic', 'too-old'];
  reasons.push('from-the-future', 'signature-version', 'certificate-url', 'signature');
  const errors = [
    new consumer.NotAnEventError(['subject: Invalid input', 'data: Invalid input']),
    ...[...reasons, 'subscribe-url' as const].map(
      (one) => new consumer.SnsMessageRefusedError(one),
    ),
    new consumer.SnsUnreachableError('certificate'),
    new consumer.BodyTooSlowError(),
    new consumer.BodyAlreadyReadError(),
    new consumer.InHandError(),
    new consumer.ClaimLostError(),
    new consumer.StoreUnavailableError(),
  ];
  const texts = errors.map(
    ({ name, message, code, fault, retryHelps, whatToDo }) =>
      `${name}: ${message}\n${code}, ${fault}, ${retryHelps ? 'retry' : 'no retry'}\n${whatToDo}\n`,
  );
  await expect(texts.join('\n')).toMatchFileSnapshot('approved/errors.txt');
});
