import { afterAll, beforeAll, expect, it } from 'vitest';
import { exitCode } from '../../../local/conformance/suite.ts';
import {
  deviationNames,
  deviations,
  type PartnerSandbox,
  startPartnerSandbox,
} from '../../../local/partner-sandbox/index.ts';
import { check, checksThat, sectionsThat } from './stage.ts';

let sandbox: PartnerSandbox;

beforeAll(async () => {
  sandbox = await startPartnerSandbox({ seed: 5 });
});
afterAll(() => sandbox.close());

const broken = deviationNames.map((name) => {
  const { breaks } = deviations[name];
  return { name, breaks, section: /^\d+(\.\d+)?/.exec(breaks)?.[0] };
});

it.each(broken)('catches $name ($breaks)', async ({ name, section }) => {
  sandbox.set({ deviations: [name] });
  sandbox.resetRequests();
  const report = await check(sandbox);
  expect(sectionsThat(report, 'fail'), checksThat(report, 'fail').join('\n')).toContain(section);
  expect(exitCode(report)).toBe(1);
  expect(sandbox.requests.length).toBeLessThan(200);
});
