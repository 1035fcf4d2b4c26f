import { expect, it } from 'vitest';
import { conditionsOf } from '../../../lambda/decisions/observations.ts';
import { unhurried } from '../../../lambda/decisions/pace.ts';
import { endedEarly, pauseBeforeToken, useOf } from '../../../lambda/decisions/tokens.ts';
import { nothingNoted } from '../../scaffold/facts.ts';

const asDocumented = { useMs: 7_140_000, earlyMs: 7_190_000, isOdd: false };
const instead = { useMs: 7_140_000, earlyMs: 0, isOdd: true };

it.each<[expiresIn: unknown, ReturnType<typeof useOf>]>([
  [7_200, asDocumented],
  [JSON.parse('7200.0'), asDocumented],
  [60, { ...asDocumented, useMs: 60_000, earlyMs: 50_000 }],
  [90, { ...asDocumented, useMs: 60_000, earlyMs: 80_000 }],
  [2_592_000, { ...asDocumented, useMs: 2_591_940_000, earlyMs: 2_591_990_000 }],
  ['3600', { useMs: 3_540_000, earlyMs: 3_590_000, isOdd: true }],
  ...[undefined, null, 0, 59, -1, 2_592_001, 1e12, '1e3', '0', 'long', true].map(
    (value): [unknown, typeof instead] => [value, instead],
  ),
])('a token whose expires_in is %j is used for a minute at least', (value, expected) => {
  expect(useOf(value)).toEqual(expected);
});

const seconds = (...at: number[]) =>
  at.reduce((pace, second) => endedEarly(pace, second * 1_000), unhurried);

it.each([
  [seconds(), false, 0],
  [seconds(100), false, 0],
  [seconds(90, 100), false, 0],
  [seconds(91, 100), false, 2_500],
  [seconds(), true, 3_000],
])('after %j the next token is asked for after a pause', (pace, isSecond, pauseMs) => {
  expect(pauseBeforeToken(pace, isSecond, 100_000, () => 0.5)).toBe(pauseMs);
});

it.each([
  [seconds(0, 1), 0],
  [seconds(0, 1, 3_598), 1],
  [seconds(0, 1, 3_601), 0],
  [seconds(0, 3_598, 3_600, 3_601), 1],
])('after %j ops are told of another user as often as %i', (value, number) => {
  const facts = { ...nothingNoted(), pace: { value, perMinute: 600 } };
  const nowMs = Math.max(...(value.tokensEnded ?? [])) + 1_000;
  expect(conditionsOf(facts, new Map(), nowMs)).toMatchObject({ 'credentials-shared': { number } });
});
