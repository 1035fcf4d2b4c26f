import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { build, dismantle, lines, measure, strike } from './breakages.ts';

beforeAll(build);
afterAll(dismantle);
afterEach(strike);

describe('people on call hear of it as docs/measured/breakages.md says, when', () => {
  it.each(lines)('$broken ($part)', measure);
});
