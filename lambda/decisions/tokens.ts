import type { Observations } from './conditions.ts';
import { believed } from './host-numbers.ts';
import { allowedAt, type Pace, type RequestPace } from './pace.ts';

/** docs/partner.md, 2.1. */
const documentedSeconds = 7_200;
/** A token is replaced this long before it expires. */
const marginMs = 60_000;
/** Without a refusal, no token is asked for within a minute after the one before. */
const leastUseMs = 60_000;

/** A token that is refused so shortly before its stated end has not ended early. */
const endMarginMs = 10_000;

/** Some hosts accept a token only a while after they have issued it. */
const youngMs = 10_000;
const waitsMs = [250, 1_000, 3_000];
/** Below so many requests a minute, there is room for one repeat. */
const smallPace = 20;

/**
 * At a host where a new token ends the one before, users of the same credentials take turns: two
 * tokens that have ended early within this time show that another one is at work.
 */
const contendedMs = 10_000;
/** The pause then, with a random part, so that those who wait do not ask at the same time. */
const leastPauseMs = 1_000;
const pauseMs = 3_000;
/** The longest random pause before the second token of a call. */
const secondPauseMs = 6_000;

const hourMs = 3_600_000;
/** So many tokens that end early within an hour are no accident. */
const manyEnds = 3;

/**
 * How long a token may be used, from its request on. `earlyMs`: a refusal counts as an early end
 * until then, and never if the host has not said how long it lasts. `isOdd`: not as documented.
 */
export function useOf(expiresIn: unknown): {
  readonly useMs: number;
  readonly earlyMs: number;
  readonly isOdd: boolean;
} {
  // A text of digits says how long, too.
  const isText = typeof expiresIn === 'string' && /^\d+$/.test(expiresIn);
  const seconds = believed('expires_in', isText ? Number(expiresIn) : expiresIn);
  const useMs = Math.max(leastUseMs, (seconds ?? documentedSeconds) * 1_000 - marginMs);
  const earlyMs = seconds === undefined ? 0 : seconds * 1_000 - endMarginMs;
  return { useMs, earlyMs, isOdd: isText || seconds === undefined };
}

/** The waits before a refused token is tried again, as long as it has never been accepted. */
export function waitsForToken({ value, perMinute }: RequestPace, now: number): readonly number[] {
  return allowedAt(value, perMinute, now) < smallPace ? waitsMs.slice(-1) : waitsMs;
}

/** Whether a token that was never accepted may still become good. */
export const isYoung = (ageMs: number) => ageMs < youngMs;

/**
 * Notes that a token which had worked was refused before its end. At some hosts a new token ends
 * the one before, so somebody else has asked for one.
 */
export function endedEarly(pace: Pace, now: number): Pace {
  return { ...pace, tokensEnded: [...(pace.tokensEnded ?? []), now].slice(-manyEnds) };
}

/**
 * How long to wait before a token is asked for, in milliseconds.
 *
 * @param isSecond this call was refused with the one before, which never worked
 * @param random from 0 up to, not including, 1
 */
export function pauseBeforeToken(
  { tokensEnded = [] }: Pace,
  isSecond: boolean,
  now: number,
  random: () => number,
): number {
  if (isSecond) return random() * secondPauseMs;
  const ends = tokensEnded.filter((at) => now - at < contendedMs);
  return ends.length > 1 ? leastPauseMs + random() * pauseMs : 0;
}

/** Ops are told as long as three of them have ended within an hour. */
export function sharedSeen(
  { value: { tokensEnded = [] } }: RequestPace,
  now: number,
): Observations {
  const ends = tokensEnded.filter((at) => now - at < hourMs);
  return { 'credentials-shared': { number: ends.length >= manyEnds ? 1 : 0 } };
}
