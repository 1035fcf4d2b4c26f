// Tells of a test report (vitest's JSON) what the end of a long log must have: which tests failed, and why.
// Ends with a line `<passed> <failed>`.
import { readFileSync } from 'node:fs';

const LINES_EACH = 12;
const { numPassedTests, numFailedTests, testResults } = JSON.parse(
  readFileSync(process.argv[2], 'utf8'),
);
for (const { name, status, message, assertionResults } of testResults) {
  const file = name.slice(process.cwd().length + 1);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  for (const { fullName, failureMessages } of failed) tell(`${file}: ${fullName}`, failureMessages);
  // A file that did not get as far as its tests.
  if (status === 'failed' && failed.length === 0) tell(file, [message]);
}
console.log(numPassedTests, numFailedTests);

function tell(what, messages) {
  const why = messages.join('\n').split('\n').slice(0, LINES_EACH);
  console.error(`\nFAILED ${what}\n${why.map((line) => `  ${line.slice(0, 400)}`).join('\n')}`);
}
