import { systemClock } from '../../lambda/clock.ts';
import { parseBody, toRefusal } from '../../lambda/partner/api.ts';
import { PartnerError, type RequestKind } from '../../lambda/partner/errors.ts';
import type { HttpReply } from '../../lambda/partner/transport.ts';

/** An HTTP answer as it came, with any status. */
export interface HttpAnswer {
  readonly status: number;
  /** Undefined if the body is no JSON. The check decides whether it has to be. */
  readonly body: unknown;
  /** The partner client's error for a status that is no success. */
  readonly refusal: PartnerError | undefined;
}

/** @throws {PartnerError} `response-too-large` */
export function toAnswer(kind: RequestKind, reply: HttpReply, path?: string): HttpAnswer {
  const { status } = reply;
  const refusal = status < 300 ? undefined : toRefusal(kind, reply, systemClock.now(), path);
  try {
    return { status, body: parseBody(kind, reply), refusal };
  } catch (error) {
    if (error instanceof PartnerError && error.code === 'unexpected-response')
      return { status, body: undefined, refusal };
    throw error;
  }
}
