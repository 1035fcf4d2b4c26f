import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Temporal } from 'temporal-polyfill';
import { BodyAlreadyReadError, BodyTooSlowError, SnsMessageRefusedError } from './errors.ts';

/**
 * Reads the body of a request, and no more of it than `maxBytes`. The request is left open, so that
 * it can be answered.
 *
 * @throws SnsMessageRefusedError if it is too long, BodyTooSlowError, BodyAlreadyReadError, or the
 * error that ended the connection
 */
export async function requestBody(
  request: IncomingMessage,
  maxBytes: number,
  within: Temporal.Duration,
): Promise<Buffer> {
  if (request.readableDidRead || request.readableEnded) throw new BodyAlreadyReadError();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      request.off('data', take).pause();
      settle();
    };
    const giveUp = (error: Error) => finish(() => reject(error));
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size > maxBytes) giveUp(new SnsMessageRefusedError('too-large'));
    };
    const timer = setTimeout(() => giveUp(new BodyTooSlowError()), within.total('milliseconds'));
    request.on('data', take);
    request.on('error', giveUp);
    request.on('end', () => finish(() => resolve(Buffer.concat(chunks))));
    if (Number(request.headers['content-length']) > maxBytes)
      giveUp(new SnsMessageRefusedError('too-large'));
  });
}

/** For how long a sender that has its answer may go on sending. */
const LINGER_MS = 1_000;

/**
 * Answers a request before its body has ended, and then ends the connection. It does so in stages,
 * as RFC 9112, section 9.6, says: a connection that is closed with bytes unread is reset, and the
 * answer may be lost with it. So the answer goes out whole. Further bytes are thrown away until the
 * sender has stopped, or for a second.
 */
export function answerEarly(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
): void {
  const timer = setTimeout(() => response.end(), LINGER_MS);
  response.on('close', () => clearTimeout(timer));
  request.on('end', () => response.end());
  request.resume();
  response.writeHead(status, { connection: 'close', 'content-length': 0 }).flushHeaders();
}
