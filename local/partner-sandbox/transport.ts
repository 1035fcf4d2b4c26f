import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { SandboxFault } from './faults.ts';
import type { SandboxAnswer } from './rules.ts';

const largestBody = 64 * 1024;

/** @returns undefined if the body is larger than that of any valid request. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > largestBody) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface Written {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export function writeAnswer({ status, body, headers }: SandboxAnswer): Written {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
    text: body === undefined ? '' : JSON.stringify(body),
  };
}

function errorPage(status: number): string {
  return `<!DOCTYPE html><html><head><title>${status}</title></head><body><h1>${status}</h1><p>The server is having a moment.</p></body></html>\n`;
}

function refusal(
  status: number,
  message: string,
  { retryAfterAsDate }: SandboxFault,
  seconds: number | undefined,
  now: number,
): Written {
  const answer = { status, body: { errors: [{ message }] } };
  if (seconds === undefined) return writeAnswer(answer);
  const wait = retryAfterAsDate ? new Date(now + seconds * 1000).toUTCString() : String(seconds);
  return writeAnswer({ ...answer, headers: { 'Retry-After': wait } });
}

/** The effect of a fault on the bytes of a valid answer. */
export function afflict(answer: Written, fault: SandboxFault | undefined, now: number): Written {
  switch (fault?.kind) {
    case 'too-many-requests':
      return refusal(429, 'Too many requests', fault, fault.retryAfter ?? 1, now);
    case 'server-error':
      return refusal(fault.status ?? 503, 'Something went wrong', fault, fault.retryAfter, now);
    case 'html': {
      const status = fault.status ?? 502;
      return { status, headers: { 'Content-Type': 'text/html' }, text: errorPage(status) };
    }
    case 'truncated':
      return { ...answer, text: answer.text.slice(0, Math.ceil(answer.text.length / 2)) };
    case 'oversized':
      return { ...answer, text: answer.text + ' '.repeat(fault.bytes) };
    case 'redirect':
      return { status: fault.status ?? 302, headers: { Location: fault.location }, text: '' };
    default:
      return answer;
  }
}

/**
 * Sends an answer at the pace and in the manner of the fault. Delays are real time, also if the sandbox has another
 * clock: they are meant to exceed a client's real time-outs.
 */
export async function send(
  response: ServerResponse,
  { status, headers, text }: Written,
  fault: SandboxFault | undefined,
  signal: AbortSignal,
): Promise<void> {
  const bytes = Buffer.from(text);
  const length = String(bytes.length);
  switch (fault?.kind) {
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'reset-mid-body':
      response.writeHead(status, { ...headers, 'Content-Length': length });
      await new Promise((sent) => response.write(bytes.subarray(0, bytes.length >> 1), sent));
      response.socket?.resetAndDestroy();
      return;
    case 'slow-headers':
      await delay(fault.ms, undefined, { signal });
      break;
    case 'slow-body': {
      response.writeHead(status, { ...headers, 'Content-Length': length });
      const steps = 5;
      for (let step = 0; step < steps; step++) {
        response.write(
          bytes.subarray((bytes.length * step) / steps, (bytes.length * (step + 1)) / steps),
        );
        await delay(fault.ms / steps, undefined, { signal });
      }
      response.end();
      return;
    }
  }
  response.writeHead(status, { ...headers, 'Content-Length': length });
  response.end(bytes);
}
